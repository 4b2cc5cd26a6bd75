"""Differences between two values of one binding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rlx.comparison.rounding import SURE, RoundingBounds, distinct, spacing, unit
from rlx.grammar.nodes.node import Record
from rlx.grammar.wording import counted
from rlx.semantics.arrays import identical
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value

Array = np.ndarray[Any, Any]


LARGE = 1 << 26
"""Bytes of arrays that :class:`Settled` keeps alive at most."""


class Settled:
    """Pairs of tuples that have been compared, so that a tuple that contains them is compared in
    its other fields only. Nothing may be written to their tensors.
    """

    def __init__(self) -> None:
        self._pairs: dict[tuple[int, int], tuple[Value, Value]] = {}  # which keeps the ids
        self._counts: dict[int, int] = {}
        self._bytes = 0

    def has(self, one: Value, other: Value) -> bool:
        """Whether these two have been compared."""
        return (id(one), id(other)) in self._pairs

    def count(self, value: Value, counts: dict[int, int]) -> int:
        """The number of arrays in a value, written out; `counts` has those of other tuples."""
        if not isinstance(value, TupleValue):
            return int(isinstance(value, Tensor))
        known = self._counts.get(id(value), counts.get(id(value)))
        if known is None:
            known = sum([self.count(field, counts) for field in value.fields])
            counts[id(value)] = known
        return known

    def add(self, one: Value, other: Value) -> None:
        """Remember a pair, and the pairs in it."""
        if not isinstance(one, TupleValue) or not isinstance(other, TupleValue):
            return
        if self._bytes > LARGE:
            self._pairs.clear()
            self._counts.clear()
            self._bytes = 0
        stack: list[tuple[Value, Value]] = [(one, other)]
        while stack:
            a, b = stack.pop()
            if isinstance(a, Tensor) and isinstance(b, Tensor):
                self._bytes += a.data.nbytes + b.data.nbytes
            elif isinstance(a, TupleValue) and isinstance(b, TupleValue) and not self.has(a, b):
                self._pairs[id(a), id(b)] = a, b
                stack += zip(a.fields, b.fields, strict=True)
        self.count(one, self._counts)


class Apart(Record):
    """The distance of two values.

    Attributes
    ----------
    said
        In words.
    field
        The number of the tensor in a tuple.
    index
        The place of the element that is furthest off, beyond what it may be.
    expected, found
        Its values on both sides.
    exact
        Its value in float64; None where it is not known.
    ulp, relative
        How far they are apart: in units in the last place, and relative to the expected value.
    allowed
        By how much the element may be off.
    proved
        Whether no order of adding up takes it further; otherwise this is an estimate.
    count, size
        The number of wrong elements, and of all.
    """

    said: str
    field: int = 0
    index: tuple[int, ...] = ()
    expected: float | int | bool | None = None
    found: float | int | bool | None = None
    exact: float | None = None
    ulp: float | None = None
    relative: float | None = None
    allowed: float | None = None
    proved: bool = False
    count: int = 0
    size: int = 0


def apart(
    expected: Value,
    found: Value,
    rounding: Callable[[float], RoundingBounds],
    *,
    exact: bool = False,
    settled: Settled | None = None,
) -> Apart | None:
    """The difference between a value and the expected one; None if rounding may explain it.

    Parameters
    ----------
    rounding
        Computes what the binding may give; asked only where elements are not nearly equal.
    exact
        Whether elements that are whole numbers have to be equal.
    settled
        The tuples that are known not to differ.
    """
    settled = settled or Settled()
    unlike = _unlike(expected, found, set(), settled)
    if unlike:
        return Apart(unlike)
    known: RoundingBounds | None = None
    for field, one, other in pairs(expected, found, settled):
        if identical(one, other):
            continue
        wrong, allowed = _first_look(one, other, exact)
        if wrong.any() and known is None:
            known = rounding(max(unit(array) for array in distinct(expected)) or 2.0**-23)
        exact_ones = None if known is None else known.exact
        if wrong.any() and known is not None and exact_ones is not None and field < len(exact_ones):
            wide, bound = exact_ones[field], known.allowed[field]
            if wide.shape == other.shape:
                wrong, allowed = _second_look(one, other, wide, bound, wrong, exact)
        if wrong.any():
            reference = exact_ones[field] if exact_ones and field < len(exact_ones) else None
            proved = known is not None and known.proved
            return _worst(field, one, other, wrong, allowed, reference, proved)
    return None


def pairs(
    one: Value, other: Value, settled: Settled | None = None
) -> Iterator[tuple[int, Array, Array]]:
    """The arrays at the same places of two values, each pair of shared tuples once, with the number
    of the place. Tuples that are `settled` are left out.

    Raises
    ------
    ValueError
        If one value has a tensor or another number of fields where the other one does not.
    """
    settled = settled or Settled()
    counts: dict[int, int] = {}
    seen: set[tuple[int, int]] = set()
    stack = [(one, other, 0)]
    while stack:
        a, b, at = stack.pop()
        if isinstance(a, Tensor) and isinstance(b, Tensor):
            yield at, a.data, b.data
        elif isinstance(a, Tensor) or isinstance(b, Tensor):
            raise ValueError("only one is a tensor")  # noqa: TRY004 - as where lengths differ
        elif settled.has(a, b):
            continue
        elif isinstance(a, TupleValue) and isinstance(b, TupleValue) and (id(a), id(b)) not in seen:
            seen.add((id(a), id(b)))
            fields = []
            for x, y in zip(a.fields, b.fields, strict=True):
                fields.append((x, y, at))
                at += settled.count(x, counts)
            stack.extend(reversed(fields))


def alike(one: Value, other: Value, settled: Settled) -> bool:
    """Whether two values have tensors at the same places, of the same shapes and types."""
    found = pairs(one, other, settled)
    try:
        return all(a.shape == b.shape and a.dtype == b.dtype for _, a, b in found)
    except ValueError:
        return False


def _unlike(expected: Value, found: Value, seen: set[tuple[int, int]], settled: Settled) -> str:
    """The difference between two values in kind, shape or type; or in value, if they are numbers.

    Tuples may share their fields; ``seen`` has those that were compared.
    """
    match expected, found:
        case Tensor(data=one), Tensor(data=other):
            if one.shape != other.shape:
                return f"expected the shape {one.shape}, found {other.shape}"
            if one.dtype != other.dtype:
                return f"expected elements of {one.dtype}, found {other.dtype}"
            return ""
        case TupleValue(fields=some), TupleValue(fields=others):
            if len(some) != len(others):
                return f"expected a tuple of {len(some)}, found one of {len(others)}"
            if (id(expected), id(found)) in seen or settled.has(expected, found):
                return ""
            seen.add((id(expected), id(found)))
            found_ = (_unlike(a, b, seen, settled) for a, b in zip(some, others, strict=True))
            return next((f"field {at}: {words}" for at, words in enumerate(found_) if words), "")
        case Scalar(value=one), Scalar(value=other):
            same = one == other or (math.isnan(one) and math.isnan(other))
            return "" if same else f"expected {one}, found {other}"
        case ShapeValue(values=one), ShapeValue(values=other):
            return "" if one == other else f"expected the shape {one}, found {other}"
    if type(expected) is type(found):
        return ""
    return f"expected a {type(expected).__name__}, found a {type(found).__name__}"


def _first_look(one: Array, other: Array, exact: bool) -> tuple[Array, Array]:
    """The elements that are not nearly equal, and by how much they may differ."""
    if one.dtype.kind in "biu":
        return one != other, np.zeros(one.shape)
    a, b = one.astype(np.float64), other.astype(np.float64)
    allowed = np.zeros(one.shape) if exact else SURE * spacing(one)
    return _beyond(a, b, allowed), allowed


def _beyond(a: Array, b: Array, allowed: Array) -> Array:
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        far: Array = ~(same | (np.abs(a - b) <= allowed))
    return far


def _second_look(
    one: Array, other: Array, reference: Array, bound: Array, wrong: Array, exact: bool
) -> tuple[Array, Array]:
    """The wrong elements and the allowed distances, by computed bounds around the value in float64."""
    if one.dtype.kind in "biu":
        # where rounding may change a whole number, it lies at a jump
        apart = np.abs(reference.astype(np.float64) - other.astype(np.float64))
        return wrong & ~(apart <= bound), bound
    allowed = np.where(np.isnan(bound), 0.0, bound) + SURE * spacing(reference.astype(one.dtype))
    if exact:
        whole = (reference == np.rint(reference)) & (np.abs(reference) * unit(one) < 1.0)
        allowed = np.where(whole, 0.0, allowed)
    return wrong & _beyond(reference, other.astype(np.float64), allowed), allowed


def _worst(
    field: int,
    one: Array,
    other: Array,
    wrong: Array,
    allowed: Array,
    reference: Array | None,
    proved: bool,
) -> Apart:
    a, b = one.astype(np.float64), other.astype(np.float64)
    with np.errstate(all="ignore"):
        off = np.where(wrong, np.abs(a - b), -1.0)
        off = np.where(wrong & np.isnan(off), np.inf, off)
        at = tuple(int(i) for i in np.unravel_index(int(np.argmax(off)), one.shape))
        far = float(off[at])
        relative = far / abs(float(a[at])) if a[at] else np.inf
        ulp = None if one.dtype.kind in "biu" else far / float(spacing(one)[at])
    count = int(wrong.sum())
    where = f"at {list(at)}: " if at else ""
    words = f"{count} of {counted(one.size, 'element')} of {one.dtype} differ"
    return Apart(
        f"{words}; most {where}expected {one[at]}, found {other[at]}",
        field,
        at,
        one[at].item() if one.dtype.kind in "biuf" else float(one[at]),
        other[at].item() if other.dtype.kind in "biuf" else float(other[at]),
        None if reference is None or reference.shape != one.shape else float(reference[at]),
        ulp,
        relative,
        float(allowed[at]),
        proved,
        count,
        one.size,
    )
