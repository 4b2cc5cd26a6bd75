# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(p2: R.Tensor((n, k), dtype="float32"), p3: R.Tensor((n, 1), dtype="float32")):
        @R.function
        def fn8(a1: R.Tensor((2,), dtype="float32")) -> R.Tensor((n, 1), dtype="int32"):
            gv4 = R.ones(R.shape([n, 1]), dtype="int64")
            gv5 = R.multinomial_from_uniform(p2, p3, gv4, dtype="int32")
            return gv5

        return fn8
