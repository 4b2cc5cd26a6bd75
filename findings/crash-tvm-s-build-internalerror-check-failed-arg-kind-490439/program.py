# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main():
        gv1 = R.str("a")
        gv2 = (gv1,)
        return gv2
