# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def f1(p1: R.Tensor((1, n), dtype="float16")):
        gv2 = R.eye_like(p1, 0, dtype="float32")
        return gv2

    @R.function
    def main(p1: R.Tensor((1, n), dtype="float16")):
        cls = Module
        gv2 = cls.f1(p1)
        return gv2
