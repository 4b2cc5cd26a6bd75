# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((m, 2), dtype="bool"), p4: R.Tensor((2, 2, 2, 2), dtype="float64"), gv2: R.Tensor((m, 2), dtype="bool"), gv10: R.Tensor((2, 2, 2, 2), dtype="float64"), gv8: R.Tensor((2,), dtype="int64")):
        gv9 = R.dynamic_strided_slice(gv2, R.const([3, 1], "int64"), gv8, gv8)
        return gv9
