# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

d3 = TypeVar("d3")
@I.ir_module
class Module:
    @R.function
    def f1():
        d3_1 = T.int64()
        m = T.int64()
        @R.function
        def fn5(a4: R.Tensor((d3_1, m), dtype="float32")) -> R.Tensor((d3_1, m), dtype="float32"):
            return a4

        return fn5

    @R.function
    def f2() -> R.Tuple(R.Tuple(R.Callable((R.Tensor((d3, 2), dtype="float32"),), R.Tensor((d3, 2), dtype="float32"), True), R.Callable((R.Tensor((d3, 2), dtype="float32"),), R.Tensor((d3, 2), dtype="float32"), True)), R.Tensor((2,), dtype="float32")):
        cls = Module
        gv2 = cls.f1()
        return gv2
