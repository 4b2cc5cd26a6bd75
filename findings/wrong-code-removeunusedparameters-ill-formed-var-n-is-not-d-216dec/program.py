# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
n = TypeVar("n")
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global")]})
    @R.function(private=True)
    def f1(s4: R.Shape([n, m, k]), p1: R.Tensor(("n * 2", k, 2), dtype="int64"), p2: R.Tensor((2,), dtype="int64")):
        gv3 = R.index_tensor(p1, (p2,))
        return gv3

    @R.function
    def loop2(p2: R.Tensor((m, 2), dtype="float32")):
        return p2
