# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(p7: R.Tensor((1, 2), dtype="int64"), gv8: R.Tensor((1, 1), dtype="int64")):
        gv9 = R.logical_xor(p7, gv8)
        return gv9
