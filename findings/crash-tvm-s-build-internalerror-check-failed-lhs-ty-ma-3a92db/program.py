# from tvm.script import ir as I
# from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(gv5: R.Tensor((1, 2), dtype="float32"), gv6: R.Tensor((), dtype="float32")):
        gv7 = R.logical_or(gv6, gv5)
        return gv7
