# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((1, 1, 2, 2), dtype="float64"), p2: R.Tensor((1, n, 2, 2), dtype="float64"), p3: R.Tensor((1, n, 2, 2), dtype="float64"), p4: R.Tensor((m,), dtype="int32"), p5: R.Tensor((), dtype="int32")):
        gv6 = R.nn.attention_var_len(p1, p2, p3, p4, p5, p4, p5)
        return gv6
