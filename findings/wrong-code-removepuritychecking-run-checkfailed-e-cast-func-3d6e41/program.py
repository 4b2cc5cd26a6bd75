# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(s6: R.Shape([m, k])):
        @R.function
        def fn5(a1: R.Tensor((), dtype="float16")) -> R.Tensor((2, k), dtype="float32"):
            gv3 = R.ones(R.shape([2, k]), dtype="float32")
            return gv3

        return fn5
