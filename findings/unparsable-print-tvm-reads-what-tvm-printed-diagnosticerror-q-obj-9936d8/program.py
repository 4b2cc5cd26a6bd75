# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(p2: R.Tensor((n, k, 2, 2), dtype="float64")):
        gv19 = R.str("")
        return (gv19, p2, p2)
