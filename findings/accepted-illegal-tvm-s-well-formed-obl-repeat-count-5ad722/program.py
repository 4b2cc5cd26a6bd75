# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((2,), dtype="float32")):
        bad2 = R.tile(p1, repeats=[-1])
        return bad2
