"""Operations with a constant operand, which C compilers rewrite: the values are those of the evaluator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from rlx.grammar.nodes.dtype import dtype
from rlx.semantics import native
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import UnsupportedStop
from rlx.semantics.tir import evaluate
from tests.semantics.tir.programs import of_body

from .test_scalars import samples

FLOATS = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 6e-7, "float64": 1e-14}
"""How far results may be apart: libmvec is within four units in the last place."""
INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
COMMON = (
    *(
        "{a} + {b}",
        "{a} - {b}",
        "{a} * {b}",
        "T.min({a}, {b})",
        "T.max({a}, {b})",
        "{a} * {b} + {a}",
    ),
    *("T.Select({a} < {b}, {a}, {b})", "T.Cast('K', {a} == {b})", "T.Cast('K', {a} <= {b})"),
    "({a} - {b}) * {b}",
)
OF_FLOATS = (
    *(
        "{a} / {b}",
        "T.pow({a}, {b})",
        "T.fmod({a}, {b})",
        "T.copysign({a}, {b})",
        "T.atan2({a}, {b})",
    ),
    *("T.hypot({a}, {b})", "T.nextafter({a}, {b})", "T.fma({a}, {b}, {a})"),
)
OF_INTEGERS = (
    *(
        "{a} // {b}",
        "{a} % {b}",
        "T.truncdiv({a}, {b})",
        "T.truncmod({a}, {b})",
        "{a} & {b}",
        "{a} | {b}",
    ),
    "{a} ^ {b}",
)
NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 1 / 3)
SPECIAL = (math.inf, -math.inf, math.nan)


def literal(kind: str, value: float) -> str:
    return f"T.{kind}({value!r})" if math.isfinite(value) else f"T.{kind}('{value}')"


def both(kind: str, form: str, constants: list[Any]) -> tuple[Any, Any]:
    """Rows of results, one for each constant on each side, by the evaluator and by native code."""
    x = np.resize(np.array(samples(dtype(kind)), numpy_type(dtype(kind))), 40)
    size, lines = len(x), list[str]()
    for constant in constants:
        shown = literal(kind, constant)
        for a, b in (("x[i]", shown), (shown, "x[i]")):
            if b == "x[i]" and ("//" in form or "%" in form or "trunc" in form):
                b = f"T.Select(x[i] == T.{kind}(0), T.{kind}(7), x[i])"
            value = form.format(a=a, b=b).replace("K", kind)
            lines.append(f"for i in range({size}): z[{len(lines)}, i] = {value}")
    parameters = f'x: T.Buffer(({size},), "{kind}"), z: T.Buffer(({len(lines)}, {size}), "{kind}")'
    func = of_body(parameters, "\n".join(lines))
    wanted, found = (np.zeros((len(lines), size), x.dtype) for _ in range(2))
    with np.errstate(all="ignore"):
        evaluate(func, [x.copy(), wanted])
    native.compile(func)([x.copy(), found])
    return wanted, found


@pytest.mark.parametrize("form", [*COMMON, *OF_FLOATS])
@pytest.mark.parametrize("kind", FLOATS)
def test_floats(kind: str, form: str) -> None:
    try:
        wanted, found = (rows.astype(np.float64) for rows in both(kind, form, [*NUMBERS, *SPECIAL]))
    except UnsupportedStop as stop:
        assert "nextafter" in form and "T.nextafter" in stop.message
        return
    np.testing.assert_allclose(found, wanted, rtol=FLOATS[kind], atol=1e-300)
    assert (np.isnan(wanted) | (np.signbit(found) == np.signbit(wanted))).all()


@pytest.mark.parametrize("form", [*COMMON, *OF_INTEGERS])
@pytest.mark.parametrize("kind", INTEGERS)
def test_integers(kind: str, form: str) -> None:
    divides = "//" in form or "%" in form or "trunc" in form
    constants = [c for c in samples(dtype(kind))[::4] if c or not divides]
    wanted, found = both(kind, form, constants)
    assert np.array_equal(wanted, found)
