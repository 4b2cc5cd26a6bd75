# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(gv3: R.Tensor((n, 2), dtype="float32")):
        bad4 = R.take(gv3, R.const(5, "int64"), axis=1)
        return bad4
