# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def f1(p3: R.Tensor((n,), dtype="float32")):
        @R.function
        def fn2(a1: R.Tensor(("n + 1",), dtype="float32")) -> R.Tensor(("n + 1",), dtype="float32"):
            return a1

        return fn2

    @R.function
    def main(p5: R.Tensor((2,), dtype="float32")):
        cls = Module
        gv6 = cls.f1(p5)
        return gv6
