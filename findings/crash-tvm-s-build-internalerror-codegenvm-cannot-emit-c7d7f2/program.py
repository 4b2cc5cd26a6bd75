# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n0 = TypeVar("n0")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def tir1(a0: T.Buffer((n0, 2, 2), "float16"), b1: T.Buffer((n0, 2, 2), "float16")):
        for i0, i1, i2 in T.grid(n0, 2, 2):
            b1[i0, i1, i2] = T.float16(0.0)

    @R.function
    def main(p1: R.Tensor((2, 2, 2), dtype="float16")):
        cls = Module
        gv2 = R.call_tir_with_grad(cls.tir1, (p1,), out_ty=R.Tensor((2, 2, 2), dtype="float16"), te_grad_name="gradient")
        return gv2
