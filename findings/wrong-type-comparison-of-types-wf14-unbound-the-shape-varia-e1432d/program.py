# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def f1(s7: R.Shape([n, m]), p5: R.Tensor((n, k), dtype="bool")):
        gv1 = R.ones(R.shape([n]), dtype="int64")
        @R.function
        def fn4(a3: R.Tensor((n, "m * k"), dtype="float32")) -> R.Tensor((n, "m * k"), dtype="float32"):
            return a3

        return (p5, fn4, gv1)

    @R.function
    def main(s14: R.Shape([n, m, k]), p12: R.Tensor((n, n), dtype="bool")) -> R.Tuple(R.Tensor((m, n), dtype="bool"), R.Callable((R.Tensor((n, m), dtype="float32"),), R.Tensor((n, m), dtype="float32"), True), R.Tensor((n,), dtype="int64")):
        cls = Module
        gv13 = cls.f1(R.shape([n, n]), p12)
        return gv13
