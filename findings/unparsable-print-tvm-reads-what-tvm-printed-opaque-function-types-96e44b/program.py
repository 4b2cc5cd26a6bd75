# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(gv14: R.Callable(derive_func="default")):
        return gv14
