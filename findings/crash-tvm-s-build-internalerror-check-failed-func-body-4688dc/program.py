# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
n0 = TypeVar("n0")
n1 = TypeVar("n1")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def tir1(a0: T.Buffer((n0, n1), "float16"), b1: T.Buffer((n0, n1), "float16"), b2: T.Buffer((n0, n1), "float16")):
        for i0, i1 in T.grid(n0, n1):
            b1[i0, i1] = a0[i0, i1]

    @R.function
    def main(p1: R.Tensor((m, k), dtype="float16"), p5: R.Tensor((2,), dtype="int64")):
        cls = Module
        with R.dataflow():
            lv2 = R.call_tir(cls.tir1, (p1,), out_ty=[R.Tensor((m, k), dtype="float16"), R.Tensor((m, k), dtype="float16")])
            R.output()
        return (p5, p1)
