# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

k = TypeVar("k")
m = TypeVar("m")
n = TypeVar("n")


@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global")]})

    @R.function
    def main(s7: R.Shape([n, m]), p5: R.Tensor((k, 3, 4), dtype="float64")):
        gv6 = R.image.affine_grid(p5, R.shape([2, m, 2]))
        return gv6
