# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(p6: R.Tensor((1, m), dtype="int32"), p7: R.Tensor((n, m), dtype="int32")):
        gv8 = R.log_add_exp(p6, p7)
        return gv8
