# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((m,), dtype="int64")):
        gv2 = R.logical_not(p1)
        return gv2
