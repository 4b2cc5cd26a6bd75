# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")


@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((1, k), dtype="int8"), gv2: R.Tensor((), dtype="int8")):
        gv3 = R.log_add_exp(p1, gv2)
        return gv3
