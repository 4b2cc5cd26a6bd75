# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
n = TypeVar("n")


@I.ir_module
class Module:
    @R.function
    def f2(p2: R.Tensor((k,), dtype="int64"), gv1: R.Tensor((n, k), dtype="int64")):
        with R.dataflow():
            gv3 = R.logical_and(gv1, p2)
            R.output(gv3)
        return gv3
