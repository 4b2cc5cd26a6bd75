# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def loop1(p2: R.Tensor((), dtype="float16")):
        @R.function
        def fn5(a3: R.Tensor((2, 2), dtype="float32")) -> R.Tensor((2, 2), dtype="float32"):
            gv4 = R.zeros(R.shape([2, 2]), dtype="float32")
            return gv4

        gv6 = R.zeros(R.shape([2, 2]), dtype="float32")
        return p2
