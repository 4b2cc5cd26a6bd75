# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(s7: R.Shape([n, m]), p3: R.Tensor((2, "n + 2"), dtype="float32")):
        bad4 = R.squeeze(p3, axis=[1])
        return bad4
