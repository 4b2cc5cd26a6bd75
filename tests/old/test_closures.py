"""A closure holds the values around it, whatever becomes of their scope: NumPy says which."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.grammar.read.parser import parse
from rlx.old.evaluation import run
from rlx.semantics.machine import load
from rlx.semantics.machine.numpy_conversion import to_value
from rlx.semantics.outcome import Returned

X, Y = np.array([1, 2], "float32"), np.array([10, 20], "float32")
PROGRAMS = {
    "a parameter and a local variable": (
        """
        a = R.multiply(x, y)
        @R.function
        def f(z: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            b = R.add(z, x)
            return R.subtract(b, a)
        return f(y)
""",
        Y + X - X * Y,
    ),
    "a closure in a closure": (
        """
        @R.function
        def f(z: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            @R.function
            def g(w: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
                b = R.add(z, x)
                return R.subtract(b, w)
            return g(y)
        return f(R.add(x, x))
""",
        3 * X - Y,
    ),
    "a scope that has ended": (
        """
        f = M.made(x)
        g = M.made(y)
        a = f(x)
        return R.subtract(a, g(x))
""",
        (X - X) - (Y - X),
    ),
    "a closure that is held": (
        """
        f = M.made(x)
        @R.function
        def g(z: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            b = f(z)
            return R.add(b, y)
        return g(y)
""",
        X - Y + Y,
    ),
}
HEAD = """@I.ir_module
class M:
    @R.function
    def made(p: R.Tensor((2,), "float32")) -> R.Callable((R.Tensor((2,), "float32"),), R.Tensor((2,), "float32"), True):
        @R.function
        def inner(q: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return R.subtract(p, q)
        return inner

    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_closure_holds(name: str) -> None:
    body, wanted = PROGRAMS[name]
    parsed = parse(HEAD + body.lstrip("\n"))
    assert not parsed.diagnostics
    (module,) = parsed.modules
    args = [to_value(X), to_value(Y)]
    for found in (run(module, "main", args), load(module).run("main", args)):
        assert isinstance(found, Returned), found
        np.testing.assert_array_equal(found.numpy(), wanted)
