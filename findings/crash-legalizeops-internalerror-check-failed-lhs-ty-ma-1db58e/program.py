# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((k,), dtype="float16"), p2: R.Tensor((2, k), dtype="float16")):
        gv3 = R.logical_and(p1, p2)
        return gv3
