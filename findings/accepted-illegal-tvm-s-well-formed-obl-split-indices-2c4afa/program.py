# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(p4: R.Tensor((2,), dtype="float32")):
        bad5 = R.split(p4, indices_or_sections=[5, 3])
        return bad5
