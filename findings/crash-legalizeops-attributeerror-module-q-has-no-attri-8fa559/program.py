# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((2, 8, 2, m), dtype="float16")):
        gv2 = R.nn.pixel_shuffle(p1, upscale_factor=2)
        return gv2
