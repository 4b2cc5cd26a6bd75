# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((k, m, 4), dtype="float16"), p2: R.Tensor((k, 2, m), dtype="float16")):
        gv3 = R.vision.all_class_non_max_suppression(p1, p2, R.const(5, "int64"), R.const(0.5, "float32"), R.const(0.1, "float32"))
        return gv3
