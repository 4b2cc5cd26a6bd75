# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(gv3: R.Tensor((1, k), dtype="float16"), gv4: R.Tensor((k,), dtype="float16")):
        gv5 = R.nn.prelu(gv3, gv4)
        return gv5
