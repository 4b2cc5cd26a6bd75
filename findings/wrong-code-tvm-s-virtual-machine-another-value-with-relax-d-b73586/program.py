# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(p2: R.Tensor((2, 4, 2, 2, 2), dtype="float32"), p6: R.Tensor((5, n), dtype="float32"), p7: R.Tensor((2,), dtype="int64")):
        gv8 = R.dynamic_strided_slice(p6, R.const([3, 2], "int64"), p7, p7)
        return gv8
