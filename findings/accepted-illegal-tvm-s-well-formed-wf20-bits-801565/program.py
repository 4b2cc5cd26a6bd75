# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(bad6: R.Callable((R.Tensor((2,), dtype="float32"), R.Tensor((2,), dtype="int7")), R.Tensor((2,), dtype="float32"), True)):
        return bad6
