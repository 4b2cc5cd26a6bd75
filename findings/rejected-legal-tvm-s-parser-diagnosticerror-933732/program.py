# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(p3: R.Tensor((1, 2, 2, 2), dtype="float32"), p4: R.Tensor((2, 2, 1, 1), dtype="float32"), gv5: R.Any):
        gv6 = R.invoke_pure_closure(gv5, (p3, p4), ty_args=(R.Any,))
        return gv6
