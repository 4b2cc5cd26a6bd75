# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(p3: R.Tensor((), dtype="float16")):
        gv4 = R.acos(p3)
        return gv4
