# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(p3: R.Tensor((2, 8), dtype="float32")):
        bad4 = R.strided_slice(p3, axes=[1], begin=[5], end=[2])
        return bad4
