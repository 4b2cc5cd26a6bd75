# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(p4: R.Tensor((k, 2), dtype="bool"), p6: R.Tensor((m,), dtype="bool"), gv5: R.Tensor((m,), dtype="int32")):
        gv7 = R.index_put(p4, (gv5, gv5), p6)
        return gv7
