# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main():
        k = T.int64()
        n = T.int64()
        @R.function
        def fn8(a4: R.Tensor((k, n), dtype="float16"), a5: R.Tensor((k, n), dtype="float32")) -> R.Tensor((n,), dtype="float32"):
            gv7 = R.hamming_window(n, True, T.float32(0.5), T.float32(0.4), dtype="float32")
            return gv7

        return fn8
