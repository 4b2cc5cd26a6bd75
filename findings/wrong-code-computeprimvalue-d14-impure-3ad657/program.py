# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global")]})
    @R.function
    def loop3(p1: R.Shape([n]), p2: R.Tensor((m, 2), dtype="float32")):
        if n > 0:
            gv4 = p2
        else:
            gv4 = p2
        return gv4
