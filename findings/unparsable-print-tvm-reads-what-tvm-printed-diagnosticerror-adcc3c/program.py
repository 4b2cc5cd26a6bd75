# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(gv10: R.Any):
        gv11 = R.invoke_pure_closure(gv10, R.tuple(), ty_args=(R.Callable(derive_func="default"),))
        return gv11
