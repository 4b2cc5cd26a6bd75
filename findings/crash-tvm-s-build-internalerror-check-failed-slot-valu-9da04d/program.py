# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(s8: R.Shape([n, m])):
        d1 = T.int64()
        @R.function
        def fn7(a2: R.Tensor((d1,), dtype="float16")) -> R.Tensor((2, 1, m), dtype="int64"):
            @R.function
            def fn4(a3: R.Tensor((1, n), dtype="float32")) -> R.Tensor((1, n), dtype="float32"):
                return a3

            gv5 = R.ones(R.shape([2, 1, n]), dtype="int64")
            return gv5

        return (fn7, fn7, fn7)
