# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global")]})
    @R.function
    def main(p1: R.Tensor((n, m), dtype="int64")):
        d5 = T.int64()
        @R.function
        def fn8(a6: R.Tensor((d5, 2), dtype="float32")) -> R.Tensor((m, 2), dtype="int64"):
            gv7 = R.eye(m, 2, 1, dtype="int64")
            return gv7

        return fn8
