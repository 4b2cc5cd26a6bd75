# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(p4: R.Tensor((m, 2), dtype="float32")):
        bad5 = R.topk(p4, k=5)
        return bad5
