# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(pure=False)
    def f1(s3: R.Shape([n]), p1: R.Tensor((k, 3, 4), dtype="float64")):
        gv2 = R.image.affine_grid(p1, R.shape([2, n, 2]))
        return gv2
