# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def twice4(f: R.Callable((R.Tensor((n, m), dtype="float32"),), R.Tensor((n, m), dtype="float32"), True), x: R.Tensor((n, m), dtype="float32")):
        return x

    @R.function
    def main(p6: R.Tensor((1, m), dtype="float32")):
        cls = Module
        @R.function
        def fn7(a3: R.Tensor((1, m), dtype="float32")) -> R.Tensor((1, m), dtype="float32"):
            return p6

        gv8 = cls.twice4(fn7, p6)
        return gv8
