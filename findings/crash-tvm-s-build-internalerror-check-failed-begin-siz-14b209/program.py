# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(gv3: R.Tensor((n, 2), dtype="bool")):
        gv6 = R.hamming_window(n, True, T.float32(0.5), T.float32(0.4), dtype="float32")
        return gv6
