# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(p5: R.Tensor((n,), dtype="bool")):
        gv6 = R.isnan(p5)
        return gv6
