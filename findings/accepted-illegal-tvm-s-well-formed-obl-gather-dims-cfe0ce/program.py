# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(p5: R.Tensor((2, 2), dtype="float32"), p6: R.Tensor((5, 2), dtype="int64")):
        bad7 = R.gather_elements(p5, p6, axis=1)
        return bad7
