"""New tensors, and the shapes of given ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.operators.evaluate.arrays import Array, back, kind_of, number, sizes
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule

_FLOAT32 = np.dtype(np.float32)


def zeros(shape: tuple[int, ...], kind: DataType | None) -> Array:
    """All zeros."""
    return np.zeros(sizes(shape), kind_of(kind, _FLOAT32))


def ones(shape: tuple[int, ...], kind: DataType | None) -> Array:
    """All ones."""
    return np.ones(sizes(shape)).astype(kind_of(kind, _FLOAT32))


def zeros_like(x: Array, kind: DataType | None) -> Array:
    """All zeros, in the shape of another tensor."""
    return np.zeros(x.shape, kind_of(kind, x.dtype))


def ones_like(x: Array, kind: DataType | None) -> Array:
    """All ones, in the shape of another tensor."""
    return np.ones(x.shape).astype(kind_of(kind, x.dtype))


def full(shape: tuple[int, ...], value: Any, kind: DataType | None) -> Array:
    """One value everywhere."""
    made = np.asarray(number(value))
    if kind is None and not isinstance(value, np.ndarray):
        kind = dtype("float32" if isinstance(value, float) else "int64")
    return back(np.full(sizes(shape), made), kind_of(kind, made.dtype))


def full_like(x: Array, value: Any, kind: DataType | None) -> Array:
    """One value everywhere, in the shape of another tensor."""
    return back(np.full(x.shape, number(value)), kind_of(kind, x.dtype))


def eye(n: Any, m: Any, k: Any, kind: DataType | None) -> Array:
    """Ones on a diagonal."""
    rows, columns = sizes((n, n if m is None else m))
    return np.eye(rows, columns, int(k)).astype(kind_of(kind, _FLOAT32))


def eye_like(x: Array, k: Any, kind: DataType | None) -> Array:
    """Ones on a diagonal, in the shape of another tensor."""
    rows, columns = x.shape
    return np.eye(rows, columns, int(k)).astype(kind_of(kind, x.dtype))


@rule("E-arange", "d9e5a738", "computation")
def arange(start: Any, end: Any, step: Any, kind: DataType | None) -> Array:
    """The numbers from a start (0 by default) to an exclusive end."""
    if end is None:
        start, end = 0, start
    if step == 0:
        raise OperatorFault("E-arange-step", "the step of a range is 0")
    floats = any(isinstance(x, float) for x in (start, end, step))
    count = -((start - end) // step)
    sizes((int(count),))
    other = np.dtype(np.float32 if floats else np.int64)
    return back(start + np.arange(int(count)) * step, kind_of(kind, other))


def hamming_window(size: Any, periodic: Any, alpha: Any, beta: Any, kind: DataType | None) -> Array:
    """The weights of a Hamming window."""
    (count,) = sizes((size,))
    if count == 1:  # a window of one point does not taper
        return np.ones(1).astype(kind_of(kind, _FLOAT32))
    period = count if periodic else count - 1
    turn = 2 * np.pi * np.arange(count) / max(period, 1)
    return back(alpha - beta * np.cos(turn), kind_of(kind, _FLOAT32))


def shape_of(x: Array) -> tuple[int, ...]:
    """The shape of a tensor."""
    return tuple(int(n) for n in x.shape)


def size(x: Array) -> Array:
    """The number of elements, as a tensor."""
    return np.array(x.size, np.int64)


def tensor_to_shape(x: Array) -> tuple[int, ...]:
    """The shape whose dimensions are the elements of a vector of integers."""
    return sizes(tuple(int(n) for n in x.reshape(-1)))


def shape_to_tensor(shape: tuple[int, ...]) -> Array:
    """A vector of the dimensions of a shape."""
    return np.array(shape, np.int64)


def null_value() -> None:
    """The absence of a value."""
    return
