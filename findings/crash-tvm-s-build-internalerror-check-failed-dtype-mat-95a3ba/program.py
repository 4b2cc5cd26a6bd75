# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(gv7: R.Tensor((2, k), dtype="bool")):
        gv8 = R.divide(gv7, gv7)
        return gv8
