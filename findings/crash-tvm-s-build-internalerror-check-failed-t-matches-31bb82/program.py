# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(p1: R.Tensor((m,), dtype="bool")):
        gv2 = R.nn.relu(p1)
        return gv2
