# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
n = TypeVar("n")


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(p1: R.Tensor((k, 4, n, k), dtype="float64")):
        gv2 = R.nn.pixel_shuffle(p1, upscale_factor=2)
        return gv2
