# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
@I.ir_module
class Module:
    @R.function
    def main(p9: R.Tensor((k, 5), dtype="float16"), gv8: R.Tensor((2, 2, 2, 2), dtype="float16")):
        gv10 = R.vision.roi_align(gv8, p9, pooled_size=3, spatial_scale=1.0)
        return gv10
