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
    def main(p2: R.Tensor((m, n, 2, 2), dtype="float64"), p6: R.Tensor((2, n), dtype="float32")):
        d4_1 = T.int64()
        @R.function
        def fn8(a5: R.Tensor((d4_1, "n + m", n), dtype="float32")) -> R.Tensor((2, m), dtype="float32"):
            return p6

        return fn8
