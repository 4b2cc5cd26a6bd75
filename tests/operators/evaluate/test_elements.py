"""Elementwise operators look at each element alone: one value gives the same in an array, by itself, and as a scalar operand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.grammar.nodes.dtype import dtype
from rlx.operators import lookup
from rlx.operators.evaluation import OperatorFault
from rlx.operators.registry import families
from rlx.semantics.arrays import numpy_type
from tests.semantics.native.test_scalars import samples

KINDS = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool")


def values(kind: str) -> Any:
    special = [0.5, 2.0, -1.5] if "float" in kind else []  # exponents that libraries treat apart
    return np.array([*samples(dtype(kind)), *special], numpy_type(dtype(kind)))


def result(function: Any, *given: Any) -> Any:
    """The array that an operator gives; None where it has no value."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(function(*given))
    except (OperatorFault, TypeError):
        return None


def same(one: Any, other: Any, close: bool) -> bool:
    """The same elements, NaN and the signs of zeros included; `close` where a library rounds vectors otherwise."""
    assert one.dtype == other.dtype
    if one.dtype.kind in "biu":
        return np.array_equal(one, other)
    a, b = one.astype(np.float64), other.astype(np.float64)
    equal = np.isclose(a, b, rtol=1e-2 if one.itemsize < 4 else 1e-6, atol=0) if close else a == b
    nothing = np.isnan(a) & np.isnan(b)
    return bool(((equal & (np.signbit(a) == np.signbit(b))) | nothing).all())


def computed(name: str) -> Any:
    """The function that computes an operator."""
    operator = lookup(f"relax.{name}")
    assert operator is not None
    return operator.compute


def named(count: int) -> list[str]:
    """The elementwise operators with so many parameters, all of them tensors."""
    found = []
    for name in families()["elementwise"]:
        operator = lookup(f"relax.{name}")
        assert operator is not None
        kinds = [parameter.kind for parameter in operator.parameters]
        if len(kinds) == count and {*kinds} <= {"tensor", "operand"}:
            found.append(name)
    return found


EXACT = frozenset(
    ["add", "subtract", "multiply", "divide", "maximum", "minimum", "abs", "negative", "sqrt"]
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", named(1))
def test_one_operand(name: str, kind: str) -> None:
    function, xs = computed(name), values(kind)
    alone = [result(function, x.reshape(1)) for x in xs]
    kept = [at for at, found in enumerate(alone) if found is not None]
    if not kept:
        assert result(function, xs) is None
        return
    whole = result(function, xs[kept])
    assert same(whole, np.concatenate([alone[at] for at in kept]), name not in EXACT)
    rank0 = [result(function, np.array(xs[at])).reshape(1) for at in kept]
    assert same(whole, np.concatenate(rank0), name not in EXACT)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", named(2))
def test_two_operands(name: str, kind: str) -> None:
    function, xs = computed(name), values(kind)
    for y in xs:
        scalar = np.array(y)
        alone = [result(function, x.reshape(1), scalar.reshape(1)) for x in xs]
        kept = [at for at, found in enumerate(alone) if found is not None]
        if not kept:
            continue
        wanted = np.concatenate([alone[at] for at in kept])
        full = np.full(len(kept), y, xs.dtype)
        for operand in (scalar, scalar.reshape(1), full):
            assert same(result(function, xs[kept], operand), wanted, name not in EXACT)
        alone = [result(function, scalar.reshape(1), x.reshape(1)) for x in xs]
        kept = [at for at, found in enumerate(alone) if found is not None]
        if kept:
            wanted = np.concatenate([alone[at] for at in kept])
            assert same(result(function, scalar, xs[kept]), wanted, name not in EXACT)
