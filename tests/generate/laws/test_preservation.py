"""Preservation on programs with closures written by hand, and on some generated ones; the module runs the long form."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from tests.generate.laws.preservation import program_of, violations

VALUE = 'R.Tensor((2,), "float32")'
UNARY = f"R.Callable(({VALUE},), {VALUE}, True)"
LOCAL = f"@R.function\n    def f(z: {VALUE}):\n        w = R.add(z, z)\n        return w"

BODIES = {
    "a cast": f"g = R.match_cast(f, {UNARY})\n    y = g(x)",
    "behind Object": f"o: R.Object = f\n    g = R.match_cast(o, {UNARY})\n    y = g(x)",
    "in a tuple": f"o: R.Object = (f, x)\n    g = R.match_cast(o, R.Tuple({UNARY}, R.Object))\n    h = g[0]\n    y = h(x)",
    "a parameter": f"@R.function\n    def call(h: {UNARY}) -> {VALUE}:\n        r = h(x)\n        return r\n    y = call(f)",
    "returned": f"@R.function\n    def make():\n        return f\n    h = make()\n    g = R.match_cast(h, {UNARY})\n    y = g(x)",
    "of a branch": f"if R.const(True):\n        h = f\n    else:\n        h = f\n    g = R.match_cast(h, {UNARY})\n    y = g(x)",
    "of another closure": f"@R.function\n    def g(z: {VALUE}):\n        w = f(z)\n        return w\n    o: R.Object = g\n    h = R.match_cast(o, {UNARY})\n    y = h(x)",
    "that returns a closure": f"@R.function\n    def make(z: {VALUE}):\n        @R.function\n        def inner():\n            return z\n        return inner\n    o: R.Object = make\n    h = R.match_cast(o, R.Callable(({VALUE},), R.Callable((), {VALUE}, True), True))\n    i = h(x)\n    y = i()",
    "opaque": f"g = R.match_cast(f, R.Callable(ret={VALUE}, purity=True))\n    y = g(x)",
    "too much": f"o: R.Object = f\n    g = R.match_cast(o, R.Callable(({VALUE},), R.Tensor((3,), \"float32\"), True))\n    y = g(x)",
}  # fmt: skip
"""What a program does with the closure `f`, whose result is not annotated."""


@pytest.mark.parametrize("body", BODIES)
def test_closures_have_the_type_that_derivation_gives_them(body: str) -> None:
    text = f"@R.function\ndef main(x: {VALUE}):\n    {LOCAL}\n    {BODIES[body]}\n    return y\n"
    report = check_text(text)
    assert report.ok, str(report)
    assert list(violations(report.modules[0], 0)) == []


SYMBOLIC = """
@I.ir_module
class M:
    @R.function
    def pairs(a: R.Tensor(("p",), "float32"), b: R.Tensor(("q",), "float32")):
        p = T.int64()
        q = T.int64()
        c = R.match_cast(b, R.Tensor((p,), "float32"))
        d = R.match_cast(b, R.Tensor((p,), "float32"))
        return d
    @R.function
    def twice(a: R.Tensor(("p",), "float32")):
        p = T.int64()
        return R.concat([a, a])
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = M
        @R.function
        def both(z: R.Tensor((n,), "float32")):
            return (x, cls.twice(z))
        z = cls.use((cls.pairs, cls.twice, both), x, y)
        return z
    @R.function
    def use(
        t: R.Tuple(
            R.Callable((R.Tensor(("k",), "float32"), R.Tensor(("m",), "float32")), R.Tensor(("k",), "float32"), True),
            R.Callable((R.Tensor(("k",), "float32"),), R.Tensor(("k * 2",), "float32"), True),
            R.Callable((R.Tensor(("n",), "float32"),), R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("n * 2",), "float32")), True)),
        x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")
    ):
        n = T.int64()
        f = t[0]
        g = t[2]
        return (f(x, y), g(x))
"""


def test_closures_with_symbolic_results() -> None:
    """The second cast in `pairs` cannot fail, and yet a run without it would refuse the cast of the function."""
    report = check_text(SYMBOLIC)
    assert report.ok, str(report)
    assert list(violations(report.modules[0], 0)) == []


@pytest.mark.parametrize("seed", [1, 5, 9, 13, 17, 21])
def test_generated_programs(seed: int) -> None:
    assert list(violations(program_of(seed), seed)) == []
