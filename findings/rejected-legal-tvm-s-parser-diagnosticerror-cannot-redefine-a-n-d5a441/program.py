# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

d1 = TypeVar("d1")
k = TypeVar("k")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def f2(p8: R.Tensor((n, k), dtype="float32"), fn7: R.Callable((R.Tensor((d1,), dtype="float32"),), R.Tensor((d1, k, n), dtype="float16"), True)):
        return (fn7, fn7)

    @R.function
    def main(p5: R.Tensor((k, 2), dtype="float32"), gv6: R.Any):
        d1 = T.int64()
        gv7 = R.invoke_pure_closure(gv6, R.tuple(), ty_args=(R.Tuple(R.Callable((R.Tensor((d1,), dtype="float32"),), R.Tensor((d1, 2, k), dtype="float16"), True), R.Callable((R.Tensor((d1,), dtype="float32"),), R.Tensor((d1, 2, k), dtype="float16"), True)),))
        return gv7
