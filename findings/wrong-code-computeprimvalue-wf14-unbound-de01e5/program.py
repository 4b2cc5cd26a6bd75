# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(pure=False)
    def f1(s2: R.Shape([n])):
        gv1 = R.eye(2, n + 1, 1)
        return gv1
