# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(p2: R.Tensor((2,), dtype="float64"), gv1: R.Tensor((n, 2, m), dtype="float64")):
        gv3 = R.nn.group_norm(gv1, p2, p2, num_groups=2, channel_axis=1, axes=[2])
        return gv3
