# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def loop1():
        with R.dataflow():
            gv3 = R.zeros(R.shape([2, 2]), dtype="int64")
            gv4 = R.zeros(R.shape([2]), dtype="int64")
            gv5 = R.floor_divide(gv3, gv4)
            R.output(gv3, gv4, gv5)
        return gv5
