# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(p3: R.Tensor((1, 2, k), dtype="uint8"), p5: R.Tensor((1, m), dtype="float16"), p6: R.Tensor((2,), dtype="float16")):
        @R.function
        def fn8(a1: R.Tensor((), dtype="float16"), a2: R.Tensor((), dtype="float32")) -> R.Tensor((1, m), dtype="int32"):
            with R.dataflow():
                lv4 = p3
                gv7 = R.bucketize(p5, p6, out_int32=True)
                R.output(gv7)
            return gv7

        return p3
