"""What Python's operators make of values of Relax, scalars and numbers at their limits stays what it is, words included.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/transform/builder/test_same_overloaded.py` writes the digests anew.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlx
from rlx.grammar import ast, tir
from rlx.grammar.dtype import dtype
from rlx.grammar.node import Node
from rlx.grammar.overloaded import constant, expr, prim, scalar
from rlx.grammar.prim_operators import BY_SYMBOL
from tests.snapshots import assert_digest

SNAPSHOT = Path(__file__).parent / "snapshots" / "overloaded.txt"
LIMITS = [s * (1 << bits) + d for bits in (31, 32, 63, 64) for s in (1, -1) for d in (-1, 0, 1)]
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv")},
    **{name: getattr(operator, name) for name in ("mod", "pow", "lt", "le", "gt", "ge", "matmul")},
    "and": operator.and_,
    "or": operator.or_,
}
UNARY: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(operator, name) for name in ("neg", "pos", "abs", "invert")},
    "expr": expr,
    "prim": prim,
    "bool": bool,
    "getitem": lambda value: value[1],
    "beside a float": lambda value: prim(value, dtype("float32")),
    "beside an int": lambda value: prim(value, dtype("uint8")),
    "constant": lambda value: constant(np.asarray(value)),
}


def values() -> list[Any]:
    """Of each kind one or two."""
    x = rlx.Var("x", 'R.Tensor(("n", 4), "float32")')
    n, i, f = tir.Var("n"), tir.Var("i", dtype("int32")), tir.Var("f", dtype("float32"))
    literals = [tir.IntImm(0), tir.IntImm(7), tir.IntImm(3, dtype("uint8"))]
    floats = [tir.FloatImm(1.5, dtype("float32")), tir.FloatImm(2.0, dtype("float64"))]
    arrays = [np.arange(2), np.zeros((0, 3), "int8"), np.zeros((2, 0)), np.float32(1.5), np.int8(3)]
    scalars = [ast.PrimValue(n), n, n + 1, i, f, *literals, *floats, True, 1.5, float("nan")]
    others: list[Any] = [None, "x", (1, x), [], object, {}, dtype("int8"), ast.ShapeExpr((n,))]
    return [x, *scalars, *arrays, *others, 0, 1, -3]


def said(make: Callable[..., Any], *given: Any) -> str:
    """What is made, and of which type, or the words of the error."""
    try:
        made = make(*given)
    except (rlx.MisuseError, rlx.BuildError) as error:
        return f"{type(error).__name__} {getattr(error, 'message', error)}"
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        return type(error).__name__
    kind = tir.type_of(made) if isinstance(made, tir.PrimExpr) else ""
    return f"{type(made).__name__} {made} {kind}"


@pytest.mark.parametrize("name", BINARY)
def test_operators_on_two(name: str) -> None:
    given = values()
    lines = [
        said(BINARY[name], a, b)
        for a in given
        for b in given
        if isinstance(a, Node) or isinstance(b, Node)
    ]
    assert_digest(SNAPSHOT, name, "\n".join(lines))


@pytest.mark.parametrize("name", UNARY)
def test_operators_on_one(name: str) -> None:
    lines = [said(UNARY[name], value) for value in (*values(), *LIMITS)]
    assert_digest(SNAPSHOT, name, "\n".join(lines))


@pytest.mark.parametrize("symbol", sorted(s for s in BY_SYMBOL if BY_SYMBOL[s].node))
def test_scalars(symbol: str) -> None:
    given = [*values()[:11], 0, 1, -1, *LIMITS]
    lines = [said(scalar, symbol, a, b) for a in given for b in given]
    assert_digest(SNAPSHOT, f"scalars {symbol}", "\n".join(lines))
