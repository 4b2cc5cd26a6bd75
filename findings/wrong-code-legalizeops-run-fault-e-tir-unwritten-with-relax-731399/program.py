# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(gv4: R.Tensor((2, 2, m), dtype="float32")):
        gv5 = R.mean(gv4)
        return gv5
