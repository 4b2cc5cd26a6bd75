# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(gv6: R.Tensor((m, 1, 4), dtype="float16"), gv7: R.Tensor((m, n, 1), dtype="float16")):
        gv8 = R.vision.all_class_non_max_suppression(gv6, gv7, R.const(5, "int64"), R.const(0.5, "float32"), R.const(0.1, "float32"), output_format="tensorflow")
        return gv8
