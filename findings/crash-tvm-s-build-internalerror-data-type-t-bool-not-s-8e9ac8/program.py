# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(p3: R.Tensor((2,), dtype="bool")):
        gv4 = R.abs(p3)
        return gv4
