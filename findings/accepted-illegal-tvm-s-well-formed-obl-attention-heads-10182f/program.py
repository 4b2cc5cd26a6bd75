# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(p1: R.Tensor((k, 2, 8, 2), dtype="float32"), p2: R.Tensor((k, n, 4, 2), dtype="float32"), p3: R.Tensor((k, n, 2, 2), dtype="float32")):
        bad4 = R.nn.attention(p1, p2, p3)
        return bad4
