"""The functions of numbers stay what they are, for every type and at its limits: other tests say that they are right.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/semantics/tir/test_same_functions.py` writes the digests anew.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlx.grammar.dtype import DataType, dtype
from rlx.grammar.prim_operators import BY_NODE
from rlx.grammar.script_vocabulary import ARITY
from rlx.semantics.faults import Stop
from rlx.semantics.native import c_types
from rlx.semantics.tir import calls, intrinsics, llvm, sorts, terms, values
from rlx.semantics.tir.c_math import C_MATH
from rlx.semantics.tir.terms import Term
from tests.snapshots import assert_digest

SNAPSHOT = Path(__file__).parent / "snapshots" / "functions.txt"

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "bfloat16", "float32", "float64", "float8_e4m3fn"]
TYPES = [dtype(name) for name in ("bool", *INTEGERS, *FLOATS)]
REALS = (
    *(-np.inf, -1e30, -40000.5, -2.5, -1.5, -0.5, -0.0, 0.0, 0.3, 0.5, 1.0, 1.5, 2.5),
    *(3.0, 255.5, 65519.9, 65520.0, 2.0**52 + 1, 1e300, np.inf, np.nan, 6e-8, 1.0009765625),
)


def numbers(kind: DataType) -> list[Any]:
    """Numbers of a type, with its limits."""
    if kind.is_float:
        return [values.into(kind)(number) for number in REALS]
    low, high = values.limits(kind)
    few = (low, low + 1, -9, -2, -1, 0, 1, 2, 3, 7, 31, 100, high - 1, high)
    return [number for number in dict.fromkeys(few) if low <= number <= high]


def shown(found: object) -> str:
    """A value; of a float six digits, because the last bits differ between processors."""
    if isinstance(found, float | np.floating):
        return f"{float(found):.6g}"
    if isinstance(found, tuple | list):
        return f"({' '.join(map(shown, found))})"
    return str(found)


def said(ask: Callable[..., object], *given: Any) -> str:
    try:
        return shown(ask(*given))
    except Stop as stop:
        return f"{stop.code} {stop.message}"
    except (ValueError, TypeError, OverflowError, KeyError, AttributeError) as error:
        return type(error).__name__


def sweep(function: Callable[..., object], operands: Sequence[Sequence[Any]]) -> str:
    """The answers for all combinations, at most 150 of them."""
    if len(operands) > 2:
        operands = [values[::4] for values in operands]
    every = [*product(*operands)]
    chosen = every[:: max(1, len(every) // 150)]
    return " ".join(said(function, *given) for given in chosen)


def swept(
    make: Callable[..., Callable[..., object]], kind: DataType, count: int, *given: Any
) -> str:
    """The answers of a function that is made for types, or why it cannot be made."""
    try:
        function = make(*given)
    except (Stop, KeyError) as stop:
        return str(stop)
    return sweep(function, [numbers(kind)] * count)


def binary(kind: DataType) -> Iterator[str]:
    for node in BY_NODE:
        yield f"{node.__name__} {swept(values.binary, kind, 2, node, kind)}"


def casts(kind: DataType) -> Iterator[str]:
    for target in TYPES:
        yield f"{target} {swept(values.cast, kind, 1, kind, target)}"
        yield swept(intrinsics.reinterpret, kind, 1, kind, target)
        for lanes in (1, 2, 4, 8):
            yield said(_regrouped, kind, target, (numbers(kind) * 2)[:lanes])
    large = [
        sign * (2**power + by)
        for power in (23, 24, 53, 60, 64, 90)
        for by in (-1, 0, 1, 3)
        for sign in (1, -1)
    ]
    if kind.is_float:
        yield sweep(lambda number: values.from_integer(number, kind), [large])
    else:
        yield f"{values.limits(kind)} {sweep(values.into(kind), [large])}"
    yield from (said(calls.extreme, word, kind) for word in ("min_value", "max_value", "infinity"))


def _regrouped(kind: DataType, target: DataType, row: list[Any]) -> object:
    return intrinsics.regrouped(kind, target)(row, 8 // len(row))


NAMES = sorted(
    {*ARITY, *intrinsics.REAL, *intrinsics.BITWISE, "likely", "abs", "fabs", "fma", "nothing"}
)


def named(kind: DataType) -> Iterator[str]:
    for name, count in product(NAMES, range(5)):
        made = said(lambda name, count: intrinsics.intrinsic(name, [kind] * count)[0], name, count)
        yield f"{name} {count} {made} {swept(_intrinsic, kind, count, name, [kind] * count)}"


def _intrinsic(name: str, operands: list[DataType]) -> Callable[..., object]:
    _, function = intrinsics.intrinsic(name, operands)
    return function


SUFFIXES: list[tuple[str, Callable[[int], tuple[int, ...]]]] = [
    ("i32", lambda count: ()),
    ("v4i32", lambda count: (count - 1,)),
    ("f32.v2f16", lambda count: (0, count - 1)),
]
"""Ends of names, and which of so many operands are vectors."""


def of_llvm(kind: DataType) -> Iterator[str]:
    reducing = (f"vector.reduce.{word}" for word in llvm._REDUCING)
    for word, count in product([*llvm._BY_TYPE, *reducing, "sqrt", "nothing"], range(5)):
        for suffix, vectors in SUFFIXES:
            operands = [operand(kind, at, at in vectors(count)) for at in range(count)]
            yield f"{word} {suffix} {count} {said(_value, f'llvm.{word}.{suffix}', operands)}"
        if kind.is_integer and word in llvm._BY_TYPE and llvm._BY_TYPE[word][0] == count:
            yield sweep(llvm._BY_TYPE[word][1](kind), [numbers(kind)] * count)


def operand(kind: DataType, at: int, vector: bool) -> Term:
    one, *more = numbers(kind)
    value = (one, *more[:3]) if vector else more[at % len(more)]
    return Term(lambda frame: value, kind, vector)


def _value(name: str, operands: list[Term]) -> object:
    found = llvm.intrinsic(name, operands)
    return None if found is None else (found[0]([]), found[1])


def meeting(kind: DataType) -> Iterator[str]:
    """The common type of two operands, in both evaluators, and constants in C."""
    for other in TYPES:
        for literals in product((False, True), repeat=2):
            sides = [
                Term(lambda frame: 1, of, literal=literal)
                for of, literal in zip((kind, other), literals, strict=True)
            ]
            found = terms.common(*sides)
            assert c_types.joined(kind, other, *literals) == found
            yield str(found)
    if str(kind) in c_types._STORED:
        write = c_types.floating if kind.is_float else c_types.integer
        yield " ".join(said(write, number, kind) for number in numbers(kind))
        yield c_types.extreme("max_value", kind) + c_types.extreme("min_value", kind)
    if str(kind) in np.sctypeDict and kind.is_integer and kind.code != "bool":
        assert values.limits(kind) == (np.iinfo(str(kind)).min, np.iinfo(str(kind)).max)


@pytest.mark.parametrize("asked", [binary, casts, named, of_llvm, meeting])
def test_functions_are_as_they_were(asked: Callable[[DataType], Iterator[str]]) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for kind in TYPES:
            assert_digest(SNAPSHOT, f"{asked.__name__} {kind}", "\n".join(asked(kind)))


def test_functions_of_c_are_as_they_were() -> None:
    found = [
        f"{name} {count} {sweep(function, [REALS] * count)}"
        for name, function in C_MATH.items()
        for count in range(1, 4)
    ]
    assert_digest(SNAPSHOT, "functions of C", "\n".join(found))


WAYS = [(0, "both"), (2, "values"), (9, "indices"), (1, "neither")]


def test_sorts_are_as_they_were() -> None:
    rng, found = np.random.default_rng(0), []
    shapes = [(5,), (3, 4), (2, 3, 3), (0, 2)]
    for kind, shape in product(("int8", "uint8", "float32", "bool"), shapes):
        data = rng.integers(0, 4, shape).astype(kind)
        if kind == "float32":
            data[data == 2] = np.nan
        for axis, ascending in product(range(-4, 4), (True, False)):
            for name, way in product(sorts.SORTS, WAYS):
                found.append(said(_sorted, name, data, axis, ascending, *way))
    assert_digest(SNAPSHOT, "sorts", "\n".join(found))


def _sorted(name: str, data: Any, axis: int, ascending: bool, k: int, way: str) -> object:
    _, function = sorts.SORTS[name]
    if name.endswith("topk"):
        shape = [*data.shape]
        shape[axis % data.ndim] = min(k, shape[axis % data.ndim]) or shape[axis % data.ndim]
        outs = [np.zeros(shape, data.dtype), np.zeros(shape, "int32")]
        function(data, *(outs if way == "both" else outs[:1]), k, axis, way, ascending)
        return str([out.tolist() for out in outs])
    out = np.zeros(data.shape, data.dtype if name.endswith("sort.sort") else "int32")
    counts = [np.arange(-1, 20)] if name.endswith("nms") else []
    function(data, *counts, out, axis, ascending)
    return str(out.tolist())
