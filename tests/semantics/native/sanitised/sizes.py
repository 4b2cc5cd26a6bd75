"""Extents around the edges of vectors, and the values of arguments."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType
from rlx.semantics.arrays import numpy_type
from rlx.solver.evaluate import UndefinedError, evaluate

Array = np.ndarray[Any, Any]
LIMITS = (100, 100, 100, 100, 1100)
"""The largest extents: mostly small ones, of which a kernel may have several."""


def extent(rng: random.Random) -> int:
    """Mostly next to a multiple of some vector's lanes, from 1 to 1100; sometimes 0."""
    if rng.random() < 0.03:
        return 0
    if rng.random() < 0.4:
        return rng.randint(1, 5)
    return near_vectors(rng, rng.choice(LIMITS))


def near_vectors(rng: random.Random, limit: int) -> int:
    """At most one beside a multiple of some vector's lanes."""
    lanes = rng.choice((4, 8, 16, 32, 64))
    return min(lanes * rng.randint(1, max(1, limit // lanes)) + rng.randint(-1, 1), limit)


def extents(rng: random.Random, count: int, most: int) -> list[int]:
    """Several, whose product is at most ``most``."""
    found = [extent(rng) for _ in range(count)]
    while np.prod(found, dtype=object) > most:
        largest = max(range(count), key=lambda at: found[at])
        found[largest] = rng.randint(1, max(1, found[largest] // 2))
    return found


def array(rng: random.Random, kind: np.dtype[Any], shape: tuple[int, ...], wild: bool) -> Array:
    """Numbers of which sums are exact; or, among them, every kind of number that there is."""
    numbers = np.random.default_rng(rng.randrange(1 << 32))
    low = 0 if kind.kind in "ub" else -4
    made = numbers.integers(low, 5, shape).astype(np.float64)
    if kind.kind not in "iub":
        made = made / numbers.choice([1, 2, 4], shape)
    with np.errstate(all="ignore"):
        result = np.array(made.astype(kind))
        if wild and result.size:
            at = numbers.random(shape) < 0.3
            bits = numbers.integers(0, 256, (*shape, kind.itemsize), np.uint8)
            if kind.kind == "b":
                bits &= 1
            result[at] = np.asarray(bits.view(kind).reshape(shape))[at]
            special = numbers.random(shape) < 0.1
            result[special] = np.asarray(numbers.choice(_special(kind), shape))[special]
            if kind.kind not in "iub":  # the evaluator holds numbers, which have no kinds of NaN
                result[np.isnan(result)] = np.array(np.nan, kind)
    return result


def number(rng: random.Random, kind: DataType, wild: bool) -> int | float:
    """A scalar: what an array could hold."""
    value = array(rng, numpy_type(kind), (), wild)
    return float(value) if kind.is_float else int(value)


def calm(array: Array) -> Array:
    """Without infinities and large numbers: sums of the others in any order do not leave their type."""
    if array.dtype.kind not in "iub":
        with np.errstate(all="ignore"):
            array[np.asarray(np.abs(array.astype(np.float64)) > _CALM)] = -1.5
    return array


_CALM = 8


def _special(kind: np.dtype[Any]) -> Array:
    if kind.kind == "b":
        return np.array([False, True])
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return np.array([info.min, info.max, 0, 1], kind)
    return np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, 6e-8, 65504, 3e38, -1]).astype(kind)


def arguments(
    func: tir.PrimFunc, sizes: Mapping[tir.Var, int], rng: random.Random, wild: bool, loose: bool
) -> list[Array | int | float]:
    """Arrays of the shapes that the sizes make, and numbers for scalars.

    Parameters
    ----------
    wild
        Whether there are all kinds of numbers among them; floats, where ``loose``, only such that no sum overflows.

    Raises
    ------
    ValueError
        If there is no array of some shape.
    """
    made: list[Array | int | float] = []
    for var in func.params:
        buffer = func.buffer_map.get(var)
        if buffer is None:
            made.append(sizes[var] if var in sizes else number(rng, var.dtype, wild))
            continue
        shape = tuple(_extent(dim, sizes) for dim in buffer.shape)
        if any(n < 0 for n in shape) or np.prod(shape, dtype=object) > 200_000:
            raise ValueError("no array of that shape")
        tame = buffer.name == "at" or not wild
        values = array(rng, numpy_type(buffer.dtype), shape, not tame)
        made.append(calm(values) if loose else values)
    return made


def _extent(dim: tir.PrimExpr, sizes: Mapping[tir.Var, int]) -> int:
    try:
        return evaluate(dim, sizes)
    except UndefinedError as error:
        raise ValueError(str(error)) from None
