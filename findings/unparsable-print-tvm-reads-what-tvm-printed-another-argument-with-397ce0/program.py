# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def f2(p1: R.Tensor((1, 2, 2, 2), dtype="float64"), p2: R.Tensor((1, 2, 2, 2), dtype="float64"), p4: R.Tensor((), dtype="int32"), p5: R.Tensor((2,), dtype="int32"), gv3: R.Tensor((2,), dtype="int32")):
        gv6 = R.nn.attention_var_len(p1, p1, p2, gv3, p4, p5, p4)
        return gv6
