# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(p8: R.Tensor((n, 2), dtype="int32")):
        d3 = T.int64()
        @R.function
        def fn10(a4: R.Tensor((d3, 2, 1), dtype="float32"), a5: R.Tensor((d3, 2, 1), dtype="float32")) -> R.Tensor((n, 2), dtype="int32"):
            gv6 = R.ones(R.shape([n, 2, 6]), dtype="float32")
            gv7 = R.ones(R.shape([n]), dtype="int32")
            gv9 = R.vision.non_max_suppression(gv6, gv7, p8)
            return p8

        return fn10
