# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def loop3(p2: R.Tensor((), dtype="int64"), gv4: R.Tensor((), dtype="int64")):
        return gv4

    @R.function
    def main():
        m = T.int64()
        cls = Module
        @R.function
        def fn9(a1: R.Tensor((2, m), dtype="float16")) -> R.Tensor((), dtype="int64"):
            gv7 = R.make_closure(cls.loop3, R.tuple())
            return gv7

        return fn9
