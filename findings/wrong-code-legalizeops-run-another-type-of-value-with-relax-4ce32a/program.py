# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((1, 3, 2, 2, 2), dtype="float16"), gv2: R.Tensor((1, 3, 2, 2, 3), dtype="float16")):
        gv3 = R.image.grid_sample(p1, gv2, layout="NCDHW")
        return gv3
