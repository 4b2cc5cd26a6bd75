# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(p8: R.Tensor((n, m, k), dtype="float32"), p1: R.Tensor((2, "m * k", 6), dtype="float16"), p2: R.Tensor((2,), dtype="int32"), p3: R.Tensor((2, "m * k"), dtype="int32")):
        gv4 = R.vision.non_max_suppression(p1, p2, p3)
        return gv4
