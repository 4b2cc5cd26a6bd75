# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")


@I.ir_module
class Module:
    @R.function
    def main(
        p1: R.Tensor((n, 2, n), dtype="float16"),
        p2: R.Tensor((n, n), dtype="int32"),
        p3: R.Tensor((2,), dtype="float16"),
    ):
        gv4 = R.nn.nll_loss(p1, p2, p3)
        return gv4
