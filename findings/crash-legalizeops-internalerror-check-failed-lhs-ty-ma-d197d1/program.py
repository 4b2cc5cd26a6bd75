# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function(pure=False)
    def f1(p1: R.Tensor((m, m), dtype="float16")):
        gv2 = R.logical_xor(p1, p1)
        return gv2
