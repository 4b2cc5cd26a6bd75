# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

k = TypeVar("k")
n0 = TypeVar("n0")
n1 = TypeVar("n1")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def tir1(a0: T.Buffer((n0, n1), "int32"), b1: T.Buffer((n0, n1), "int32")):
        for i0, i1 in T.grid(n0, n1):
            b1[i0, i1] = 0

    @R.function(pure=False)
    def main(gv1: R.Tensor((k, 1), dtype="int32")):
        cls = Module
        v = R.vm.call_tir_dyn(cls.tir1, (gv1, gv1))
        return v
