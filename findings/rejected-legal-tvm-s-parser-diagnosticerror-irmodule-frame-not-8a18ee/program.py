# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
n = TypeVar("n")
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global")]})
    @R.function
    def main(p7: R.Tensor((n, k), dtype="float16")):
        @R.function
        def fn9(a1: R.Tensor((), dtype="int64"), a2: R.Tensor((), dtype="float32")) -> R.Tensor((n, k), dtype="float16", vdevice="llvm:0:global"):
            return p7

        return fn9
