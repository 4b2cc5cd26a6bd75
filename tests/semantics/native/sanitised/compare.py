"""Whether a kernel did what the evaluator does: exactly, or within what the rules allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlx.grammar.nodes import tir
from rlx.semantics.faults import Stop, UnsupportedStop
from rlx.semantics.native.intrinsics import LIBM
from rlx.semantics.native.write_analysis import expressions, statements
from rlx.semantics.tir import evaluate

from .batch import FUEL, MEMORY, Answer, Case

Array = np.ndarray[Any, Any]
_EXACT = frozenset(
    ["ceil", "floor", "trunc", "round", "nearbyint", "fabs", "abs", "sqrt", "copysign", "fmod"]
)
_TOLERANCE = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-4, "float64": 1e-11}


def wanted(case: Case) -> Answer:
    """The evaluator's result.

    Raises
    ------
    UnsupportedStop
        If it has no meaning for something.
    """
    args = case.again()
    ending = "returned"
    with np.errstate(all="ignore"):
        try:
            evaluate(case.func, args, fuel=FUEL, memory=MEMORY)
        except Stop as stop:
            if isinstance(stop, UnsupportedStop):
                raise
            ending = stop.code
    return Answer(ending, [arg for arg in args if isinstance(arg, np.ndarray)])


def difference(case: Case, found: Answer, expected: Answer) -> str | None:
    """The problem with an answer; None if there is none."""
    if found.ending.startswith(("killed", "lost", "overlap")):
        return found.ending
    if expected.ending == "E-tir-unwritten":  # native code does not notice
        return None
    if (found.ending == "returned") != (expected.ending == "returned"):
        return f"ends with {found.ending}, not {expected.ending}"
    if found.ending != "returned":  # one of several faults
        return None
    loose = is_loose(case.func)
    size = max([1.0, *(_largest(arg) for arg in case.args if isinstance(arg, np.ndarray))])
    for at, (mine, theirs) in enumerate(zip(found.arrays, expected.arrays, strict=True)):
        wrong = _apart(mine, theirs, size) if loose else ~same(mine, theirs)
        if wrong.any():
            first = np.argwhere(wrong)[0].tolist()
            values = f"{mine[tuple(first)]} at {first}, not {theirs[tuple(first)]}"
            return f"array {at}: {wrong.sum()} of {mine.size} elements are wrong: {values}"
    return None


def same(a: Array, b: Array) -> Array:
    """The places where the bits are the same; all NaNs count as one."""
    word = np.dtype(f"u{a.dtype.itemsize}")
    equal = np.asarray(np.ascontiguousarray(a).view(word) == np.ascontiguousarray(b).view(word))
    equal = equal.reshape(a.shape)
    if a.dtype.kind in "iub":
        return equal
    with np.errstate(all="ignore"):
        return np.asarray(equal | (np.isnan(a) & np.isnan(b)))


def is_loose(func: tir.PrimFunc) -> bool:
    """Whether functions of the C library or sums of floats occur, which may round otherwise."""
    for stmt in statements(func.body):
        for expr in expressions(stmt):
            for node in tir.postorder(expr):
                if isinstance(node, tir.Call) and node.op in LIBM and node.op not in _EXACT:
                    return True
                if isinstance(node, tir.Call) and node.op in ("pow", "power"):
                    return True
        if isinstance(stmt, tir.BufferStore) and stmt.buffer.dtype.is_float:
            nodes = tir.postorder(stmt.value)
            if any(isinstance(n, tir.BufferLoad) and n.buffer is stmt.buffer for n in nodes):
                return True
    return False


def _apart(mine: Array, theirs: Array, size: float) -> Array:
    close = _TOLERANCE.get(mine.dtype.name)
    if close is None:
        return np.asarray(mine != theirs)
    with np.errstate(all="ignore"):
        a, b = mine.astype(np.float64), theirs.astype(np.float64)
        near = np.abs(a - b) <= close * (np.abs(b) + min(size, 1e6))
    return np.asarray(~(near | (a == b) | (np.isnan(a) & np.isnan(b))))


def _largest(array: Array) -> float:
    if array.dtype.kind in "iub" or not array.size:
        return 1.0
    with np.errstate(all="ignore"):
        wide = np.abs(array.astype(np.float64))
    return float(np.max(wide, where=np.isfinite(wide), initial=1.0))


def endings(answers: Sequence[Answer]) -> dict[str, int]:
    """The number of runs by ending."""
    found: dict[str, int] = {}
    for answer in answers:
        word = answer.ending.partition(":")[0]
        found[word] = found.get(word, 0) + 1
    return found
