# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(p3: R.Tensor((m, k), dtype="bool"), gv6: R.Shape([2])):
        gv4 = R.equal(p3, p3)
        return gv6
