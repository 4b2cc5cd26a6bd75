# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")


@I.ir_module
class Module:
    @R.function
    def main(
        p1: R.Tensor((n,), dtype="int32"),
        p2: R.Tensor((n,), dtype="int32"),
        p6: R.Tensor((m,), dtype="int64"),
    ):
        gv3 = R.log_add_exp(p1, p2)
        gv7 = p6
        return gv7
