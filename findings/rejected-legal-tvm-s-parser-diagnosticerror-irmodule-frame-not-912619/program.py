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
    def main(p16: R.Tensor((2, n), dtype="float16"), p19: R.Tensor((2, 2), dtype="float16")):
        k = T.int64()
        @R.function
        def fn21(a15: R.Tensor((k,), dtype="float32")) -> R.Tensor((2, 2), dtype="float16"):
            gv17 = R.to_vdevice(p16, dst_vdevice="llvm:0")
            return p19

        return fn21
