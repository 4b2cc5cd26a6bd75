# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global")]})
    @R.function(pure=False)
    def main(gv4: R.Tuple(R.Tensor((1, 1), dtype="float16"), R.Tensor((1, 1), dtype="float16", vdevice="llvm:0:global"), R.Tensor((1, 1), dtype="float16"))):
        bad3 = R.nn.relu
        return gv4
