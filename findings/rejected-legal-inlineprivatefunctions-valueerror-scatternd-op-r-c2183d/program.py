# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(private=True)
    def f1(p1: R.Tensor((2, 2), dtype="int32"), p3: R.Tensor((n, 2), dtype="int32")):
        gv2 = R.ones(R.shape([n, 1]), dtype="int64")
        gv4 = R.scatter_nd(p1, gv2, p3)
        return gv4

    @R.function
    def main(p8: R.Tensor((2, 2), dtype="int32"), p9: R.Tensor((1, 2), dtype="int32")):
        cls = Module
        gv10 = cls.f1(p8, p9)
        return gv10
