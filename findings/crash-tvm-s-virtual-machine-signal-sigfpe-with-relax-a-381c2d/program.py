# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
n = TypeVar("n")


@I.ir_module
class Module:
    @R.function
    def main(
        s8: R.Shape([m]),
        p5: R.Tensor((k, k, 4), dtype="float16"),
        p6: R.Tensor((k, n, k), dtype="float16"),
    ):
        gv1 = R.arange(1, 9, 2, dtype="int64")
        gv2 = R.ones(R.shape([m, 3, 8, 8]), dtype="float64")
        gv3 = R.ones(R.shape([3, 4, 3, 3]), dtype="float64")
        with R.dataflow():
            gv7: R.Tuple(
                R.Tensor((k, n * k, 2), dtype="int64"),
                R.Tensor((k, n * k), dtype="float32"),
                R.Tensor((k,), dtype="int64"),
            ) = R.vision.all_class_non_max_suppression(
                p5,
                p6,
                R.const(5, "int64"),
                R.const(0.5, "float32"),
                R.const(0.1, "float32"),
                output_format="tensorflow",
            )
            R.output(gv7)
        return (gv7, p5, gv1)
