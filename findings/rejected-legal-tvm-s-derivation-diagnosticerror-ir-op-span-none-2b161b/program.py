# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(p18: R.Tensor((m, 1), dtype="float32"), gv6: R.Tensor((0, 1), dtype="float32")):
        @R.function
        def fn20(a17: R.Tensor((1,), dtype="int64")) -> R.Tensor((m, 1), dtype="float32"):
            gv19 = R.collapse_sum_like(gv6, p18)
            return gv19

        return fn20
