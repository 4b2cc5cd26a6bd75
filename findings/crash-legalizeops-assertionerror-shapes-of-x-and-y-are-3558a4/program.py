# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def f1(p1: R.Tensor((n, "n * 2", 2, 2), dtype="float64")):
        gv2 = R.nn.attention(p1, p1, p1)
        return gv2
