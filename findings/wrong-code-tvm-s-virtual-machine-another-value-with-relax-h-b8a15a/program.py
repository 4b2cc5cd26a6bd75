# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(p5: R.Tensor((n, m, k), dtype="float32")):
        gv4 = R.hamming_window(k, False, T.float32(0.5), T.float32(0.4), dtype="float32")
        return gv4
