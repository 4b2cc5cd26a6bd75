# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

same = TypeVar("same")
@I.ir_module
class Module:
    @R.function
    def main(p5: R.Tensor((2,), dtype="float32"), p6: R.Tensor((4,), dtype="float32"), bad4: R.Callable((R.Tensor((same,), dtype="float32"), R.Tensor((same,), dtype="float32")), R.Tensor((same,), dtype="float32"), True)):
        bad7 = bad4(p5, p6)
        return bad7
