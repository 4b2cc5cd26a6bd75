# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(gv1: R.Tensor((2, 2), dtype="bool")):
        gv2 = R.isinf(gv1)
        return gv2
