"""Executables that tests look at."""

from __future__ import annotations

import numpy as np

from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.read.parser import parse
from rlx.vm import ExecBuilder, Executable, build

MODULE = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            Y[i] = X[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n",), "float32"), c: R.Prim("bool")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        a = R.call_tir(cls.double, (x,), R.Tensor((n,), "float32"))
        if c:
            b = R.call_tir(cls.double, (a,), R.Tensor((n,), "float32"))
            y = b
        else:
            y = R.add(a, R.const(1.0, "float32"))
        return y
"""


def compiled() -> Executable:
    """A module with a kernel, an operator, a constant and a branch."""
    return build(parse(MODULE).modules[0])


def by_hand() -> Executable:
    """Recursion, a loop, constants of every kind, names that are no identifiers."""
    ib = ExecBuilder()
    with ib.function("fib", num_inputs=1, parameters=["n"]):
        ib.emit_call("less", [ib.r(0), ib.imm(2)], ib.r(1))
        ib.emit_if(ib.r(1), 2)
        ib.emit_ret(ib.r(0))
        ib.emit_call("sub", [ib.r(0), ib.imm(1)], ib.r(2))
        ib.emit_call("fib", [ib.r(2)], ib.r(2))
        ib.emit_call("sub", [ib.r(0), ib.imm(2)], ib.r(3))
        ib.emit_call("fib", [ib.r(3)], ib.r(3))
        ib.emit_call("a name: with, %1 in: it", [ib.r(2), ib.r(3)], ib.r(4))
        ib.emit_ret(ib.r(4))
    with ib.function("a function", num_inputs=0):
        values = [
            np.array([np.nan, -0.0], np.float32),
            'a\n# b"',
            dtype("bfloat16"),
            (1, 2),
            float("inf"),
        ]
        ib.emit_call("vm.builtin.make_tuple", values, ib.r(0))
        ib.emit_call("vm.builtin.make_closure", [ib.f("fib")], ib.r(1))
        ib.emit_ret(ib.r(0))
    return ib.get()


PACKED = {
    "less": lambda a, b: bool(a < b),
    "sub": lambda a, b: a - b,
    "a name: with, %1 in: it": lambda a, b: a + b,
}
