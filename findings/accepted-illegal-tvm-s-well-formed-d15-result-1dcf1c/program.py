# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(p5: R.Tensor((n,), dtype="int32")) -> R.Tuple(R.Tensor((n,), dtype="int32"), R.Tensor((1, 2), dtype="int64")):
        return p5
