# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(p1: R.Tensor((3, 2, 3), dtype="float32")):
        gv2 = R.image.affine_grid(p1, R.shape([2, 1]))
        return gv2
