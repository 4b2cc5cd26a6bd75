# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

k = TypeVar("k")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(s21: R.Shape([k]), p1: R.Tensor((n, 2, 2), dtype="int32")):
        c5 = T.int64()
        d7 = T.int64()
        gv6 = R.match_cast(p1, R.Tensor((c5, 2, 2), dtype="int32"))
        @R.function
        def fn20(a8: R.Tensor((d7,), dtype="float16")) -> R.Tensor((k, c5), dtype="float32"):
            gv18 = R.zeros(R.shape([k, c5]), dtype="float32")
            return gv18

        return (fn20, p1)
