# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(p1: R.Tensor((2, 4), dtype="bool"), p2: R.Tensor((2, 2), dtype="bool")):
        gv3 = R.slice_scatter(p1, p2, 1, 3, 1, axis=1)
        return gv3
