# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((m, 2, 2, 2), dtype="float16"), gv2: R.Tensor((m, 2, 2, 2), dtype="float16")):
        gv3 = R.nn.attention(p1, p1, gv2, scale=0.5)
        return gv3
