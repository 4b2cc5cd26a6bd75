# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main():
        bad6 = R.arange(9, 2, 1)
        return bad6
