# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(p2: R.Tensor((2,), dtype="float32")):
        if p2:
            bad3 = p2
        else:
            bad3 = p2
        return p2
