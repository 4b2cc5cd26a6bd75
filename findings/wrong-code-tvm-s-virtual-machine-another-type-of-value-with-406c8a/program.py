# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(gv4: R.Tensor((m, 2, 2, 2), dtype="float64")):
        gv5 = R.image.resize2d(gv4, R.shape([2, 2]), out_dtype="float16")
        return gv5
