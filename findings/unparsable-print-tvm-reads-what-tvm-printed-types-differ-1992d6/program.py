# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
@I.ir_module
class Module:
    @R.function(pure=False)
    def f1(p2: R.Tensor((1, k, 2, 2), dtype="float16")):
        @R.function
        def fn4(a1: R.Tensor((), dtype="float32")) -> R.Tensor((1, k, 2, 2), dtype="float16"):
            return p2

        return fn4

    @R.function(pure=False)
    def main(gv15: R.Tensor((1, 2, 2, 2), dtype="float16")):
        cls = Module
        gv16 = cls.f1(gv15)
        return gv16
