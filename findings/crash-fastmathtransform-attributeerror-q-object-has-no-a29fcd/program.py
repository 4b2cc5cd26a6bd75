# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global")]})
    @R.function
    def loop2(p2: R.Tensor((m, 2), dtype="float32")):
        return p2

    @R.function
    def loop3(p2: R.Tensor((m, 2), dtype="float32")):
        cls = Module
        gv3 = cls.loop2(p2)
        return gv3
