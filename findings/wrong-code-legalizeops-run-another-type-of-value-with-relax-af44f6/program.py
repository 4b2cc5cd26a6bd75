# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((k, 2), dtype="float16"), gv2: R.Tensor((2,), dtype="float16")):
        gv3 = R.nn.batch_norm(p1, gv2, gv2, gv2, gv2, axis=1)
        return gv3
