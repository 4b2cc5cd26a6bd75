# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

m = TypeVar("m")
@I.ir_module
class Module:
    @R.function
    def main(p1: R.Tensor((m, 2), dtype="bool")):
        gv2 = R.layout_transform(p1, index_map=T.index_map(lambda i, j: (j, i)))
        return gv2
