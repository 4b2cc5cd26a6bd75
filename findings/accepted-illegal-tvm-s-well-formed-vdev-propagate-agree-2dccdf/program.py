# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global"), I.vdevice("llvm", 1, "global")]})
    @R.function
    def moved(x: R.Tensor((2,), dtype="float32", vdevice="llvm:0:global"), y: R.Tensor((2,), dtype="float32", vdevice="llvm:1:global"), z: R.Tensor((2,), dtype="float32")):
        r0 = R.add(x, z)
        r1 = R.add(y, z)
        return r0
