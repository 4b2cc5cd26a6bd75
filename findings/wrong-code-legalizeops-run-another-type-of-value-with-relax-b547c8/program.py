# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((n, n), dtype="int8")):
        gv2 = R.mean(p1)
        return gv2
