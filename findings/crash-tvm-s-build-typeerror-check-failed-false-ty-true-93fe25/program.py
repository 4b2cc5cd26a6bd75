# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
n = TypeVar("n")


@I.ir_module
class Module:
    @R.function(pure=False)
    def main(
        p8: R.Tensor((n, m, k), dtype="float32"),
        p5: R.Tensor((k, 2, 4), dtype="float64"),
        gv1: R.Tensor((n, m), dtype="float32"),
        gv6: R.Tensor(("m * k", 5, "n * 2"), dtype="float64"),
    ):
        gv7 = R.vision.all_class_non_max_suppression(
            p5, gv6, R.const(5, "int64"), R.const(0.5, "float32"), R.const(0.1, "float32")
        )
        return gv7
