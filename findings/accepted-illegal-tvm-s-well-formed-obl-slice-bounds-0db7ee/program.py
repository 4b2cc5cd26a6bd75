# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((2, 2), dtype="float32")):
        bad2 = R.strided_slice(p1, axes=[1], begin=[2], end=[12], assume_inbound=True)
        return bad2
