# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

k = TypeVar("k")
n = TypeVar("n")
n0 = TypeVar("n0")
n1 = TypeVar("n1")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def tir1(a0: T.Buffer((n0, n1, 2), "float32")):
        # with T.sblock("root"):
        for i0 in T.parallel(n0):
            for i1 in range(n1):
                for i2 in T.unroll(2):
                    for k0 in T.unroll(1):
                        with T.sblock("block0"):
                            vi0 = T.axis.spatial(n0, i0)
                            vi1 = T.axis.spatial(n1, i1)
                            vi2 = T.axis.spatial(2, i2)
                            vk0 = T.axis.reduce(1, k0)
                            with T.init():
                                a0[vi0, vi1, vi2] = T.float32(1.0)
                            a0[vi0, vi1, vi2] = T.cos(T.float32(2.0))

    @R.function(private=True)
    def f2(p1: R.Tensor((2, n, 2), dtype="float32")):
        cls = Module
        gv3 = R.call_tir_inplace(cls.tir1, (p1,), out_ty=R.Tensor((2, n, 2), dtype="float32"), inplace_indices=[0])
        return gv3

    @R.function
    def main(p2: R.Tensor((2, k, 2), dtype="float32")):
        cls = Module
        gv3 = cls.f2(p2)
        return gv3
