# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def f1(p1: R.Tensor((1, 2), dtype="bool")):
        return p1

    @R.function
    def main(gv6: R.Tensor((2, 2), dtype="bool")):
        cls = Module
        gv7 = R.make_closure(cls.f1, (R.shape([2]), gv6))
        return gv7
