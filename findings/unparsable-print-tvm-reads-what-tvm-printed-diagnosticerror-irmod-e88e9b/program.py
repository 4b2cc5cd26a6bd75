# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global")]})
    @R.function
    def f1(p1: R.Tensor((2, n), dtype="bool")) -> R.Tuple(R.Tensor((2, n), dtype="bool", vdevice="llvm:0:global"), R.Tensor((2, n), dtype="bool", vdevice="llvm:0:global"), R.Tensor((2, n), dtype="bool", vdevice="llvm:0:global")):
        return p1

    @R.function
    def main():
        d2 = T.int64()
        cls = Module
        @R.function
        def fn9(a3: R.Tensor((d2,), dtype="float16"), a4: R.Tensor((d2,), dtype="float32")) -> R.Tensor((d2,), dtype="float16"):
            gv6 = R.ones(R.shape([2, 1]), dtype="bool")
            gv7 = cls.f1(gv6)
            return gv7

        return fn9
