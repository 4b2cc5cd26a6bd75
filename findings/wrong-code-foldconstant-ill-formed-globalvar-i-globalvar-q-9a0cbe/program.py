# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(p6: R.Tensor((2,), dtype="int64"), p7: R.Tensor((1,), dtype="int64"), gv10: R.Tensor((k, m, 1), dtype="float32")):
        with R.dataflow():
            lv8 = R.dynamic_strided_slice(p6, p7, p7, p7)
            R.output()
        return (gv10, p7, p6)
