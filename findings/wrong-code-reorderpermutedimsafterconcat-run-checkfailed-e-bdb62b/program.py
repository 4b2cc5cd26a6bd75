# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global")]})
    @R.function
    def main(p8: R.Tensor((1, 1), dtype="float32"), gv1: R.Tensor((n,), dtype="bool")):
        @R.function
        def fn7(a5: R.Tensor(("n + 1", 1), dtype="float32")) -> R.Tensor(("n + 1", 1), dtype="float32"):
            gv6 = (gv1, gv1)
            return a5

        return (fn7, p8)
