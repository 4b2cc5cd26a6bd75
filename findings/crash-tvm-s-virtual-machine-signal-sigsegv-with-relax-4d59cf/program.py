# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(s9: R.Shape([n, m, k]), p5: R.Tensor((), dtype="int64"), gv8: R.Tensor((2, 1), dtype="int32")):
        if n < 2:
            gv2 = R.ones(R.shape([2]), dtype="int32")
            gv6 = p5
        else:
            gv6 = p5
        gv7 = R.ones(R.shape([]), dtype="int32")
        return gv8
