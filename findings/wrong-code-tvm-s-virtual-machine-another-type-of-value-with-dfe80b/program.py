# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(p6: R.Tensor((k, 2, n), dtype="float16")):
        gv7 = R.median(p6, axis=[0, 2])
        return gv7
