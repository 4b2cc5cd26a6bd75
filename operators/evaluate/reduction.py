"""Reductions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from rlx.grammar.nodes.dtype import DataType
from rlx.operators.evaluate.arrays import (
    Array,
    Function,
    axes_of,
    axis_of,
    back,
    is_float,
    kind_of,
    mean,
    need_numbers,
    quiet,
    wide,
)
from rlx.operators.evaluate.elementwise import convert
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule


@rule("E-empty", "3393cce0", "computation")
def need_elements(x: Array, axes: tuple[int, ...], what: str) -> None:
    """Check that there is an element, for reductions that are undefined for none; a mean of no
    floats is NaN.
    """
    if what in _MEANS and is_float(x.dtype):
        return
    count = int(np.prod([x.shape[a] for a in axes], dtype=np.int64)) if axes else 1
    others = int(np.prod([n for a, n in enumerate(x.shape) if a not in axes], dtype=np.int64))
    if count == 0 and others:
        raise OperatorFault("E-empty-reduction", f"the {what} of zero elements is not defined")


def _left(x: Array, axes: tuple[int, ...], keepdims: int) -> list[int]:
    """The shape of a result."""
    if keepdims:
        return [1 if a in axes else n for a, n in enumerate(x.shape)]
    return [n for a, n in enumerate(x.shape) if a not in axes]


def _exact(x: Array) -> Any:
    """The type that sums and products are taken in: integers in their own, so that they wrap."""
    return x.dtype if x.dtype.kind in "iu" else None


_REDUCED: dict[str, Function] = {
    "sum": lambda x, axis, keep: np.sum(x, axis=axis, keepdims=keep, dtype=_exact(x)),
    "prod": lambda x, axis, keep: np.prod(x, axis=axis, keepdims=keep, dtype=_exact(x)),
    "max": lambda x, axis, keep: np.max(x, axis=axis, keepdims=keep),
    "min": lambda x, axis, keep: np.min(x, axis=axis, keepdims=keep),
    "mean": lambda x, axis, keep: mean_of(x, axis, keep),
    "variance": lambda x, axis, keep: _variance(x, axis, keep),
    "std": lambda x, axis, keep: np.sqrt(_variance(x, axis, keep)),
}
_MEANS = frozenset(["mean", "variance", "std"])
_NEEDS_ONE = _MEANS | {"max", "min"}


def mean_of(x: Array, axis: tuple[int, ...], keep: bool) -> Any:
    """The mean over axes. Means of integers are rounded towards zero, and their sums wrap."""
    if is_float(x.dtype):
        return mean(x, axis=axis, keepdims=keep)
    total = np.sum(x, axis=axis, keepdims=keep, dtype=_exact(x))
    count = int(np.prod([x.shape[a] for a in axis], dtype=np.int64))
    # As the division of integers: towards zero.
    return (np.abs(total) // count * np.sign(total)).astype(x.dtype)


def _variance(x: Array, axis: tuple[int, ...], keep: bool) -> Any:
    off = x - mean_of(x, axis, True)
    return mean_of(off * off, axis, keep)


def reduction(name: str) -> Function:
    """The evaluation of a reduction over axes."""
    function = _REDUCED[name]

    def evaluate(x: Array, given: tuple[int, ...] | None, keepdims: int) -> Array:
        axes = axes_of(given, x.ndim)
        if name in _NEEDS_ONE:
            need_elements(x, axes, name)
            if not x.size:
                # Means of no floats are NaN; every other result has no elements either.
                return back(np.full(_left(x, axes, keepdims), np.nan), x.dtype)
        if name in ("variance", "std"):
            need_numbers(name, x)
        if x.dtype.kind == "b" and name in ("sum", "prod"):
            joined = np.any if name == "sum" else np.all
            return np.asarray(joined(x, axis=axes, keepdims=bool(keepdims)))
        return back(quiet(function, wide(x), axes, bool(keepdims)), x.dtype)

    return evaluate


def arg_reduction(name: str) -> Function:
    """The evaluation of argmax and argmin; among equal elements, the first is selected."""
    function: Function = {"argmax": np.argmax, "argmin": np.argmin}[name]

    def evaluate(x: Array, given: int | None, keepdims: int) -> Array:
        axis = None if given is None else axis_of(given, x.ndim)
        axes = axes_of(None if axis is None else (axis,), x.ndim)
        need_elements(x, axes, name)
        if not x.size:
            return np.zeros(_left(x, axes, keepdims), np.int64)
        found: Any = function(wide(x), axis=axis, keepdims=bool(keepdims))
        return np.asarray(found, dtype=np.int64)

    return evaluate


def median(x: Array, given: tuple[int, ...] | None, keepdims: int) -> Any:
    """The lower median; along one axis, also its index."""
    axes = axes_of(given, x.ndim)
    need_elements(x, axes, "median")
    w, alone = wide(x), given is not None and len(given) == 1
    count = prod(x.shape[a] for a in axes)
    if not count:  # so are the others, and the result
        nothing = np.zeros(_left(x, axes, keepdims), x.dtype)
        return (nothing, nothing.astype(np.int64)) if alone else nothing
    if alone:
        order = np.argsort(w, axis=axes[0], kind="stable")
        middle = (w.shape[axes[0]] - 1) // 2
        where = np.take(order, [middle], axis=axes[0])
        value = np.take_along_axis(w, where, axis=axes[0])
        if not keepdims:
            where, value = np.squeeze(where, axes[0]), np.squeeze(value, axes[0])
        return back(value, x.dtype), np.asarray(where, dtype=np.int64)
    rest = [a for a in range(x.ndim) if a not in axes]
    flat = np.transpose(w, (*rest, *axes)).reshape([w.shape[a] for a in rest] + [count])
    value = np.sort(flat, axis=-1)[..., (count - 1) // 2]
    if keepdims:
        value = value.reshape([1 if a in axes else n for a, n in enumerate(x.shape)])
    return back(value, x.dtype)


def scan(name: str) -> Function:
    """The evaluation of running sums and products."""
    run: Function = np.cumsum if name == "cumsum" else np.cumprod
    neutral = {"cumsum": 0, "cumprod": 1}[name]

    def evaluate(x: Array, given: int | None, dtype: DataType | None, exclusive: int) -> Array:
        kind = kind_of(dtype, x.dtype)
        axis = 0 if given is None else axis_of(given, x.ndim)
        w = wide(convert(x.reshape(-1) if given is None else x, kind))
        if w.dtype.kind == "b":
            w = w.astype(np.int8)
        found = quiet(lambda: run(w, axis=axis, dtype=w.dtype))
        if exclusive:
            first = np.full(
                [1 if a == axis else n for a, n in enumerate(w.shape)], neutral, w.dtype
            )
            found = np.take(np.concatenate([first, found], axis), np.arange(w.shape[axis]), axis)
        return back(found, kind)

    return evaluate


OPERATORS: dict[str, Function] = {
    **{name: reduction(name) for name in _REDUCED},
    **{name: arg_reduction(name) for name in ("argmax", "argmin")},
    **{name: scan(name) for name in ("cumsum", "cumprod")},
}
"""The operators that functions of this file make or share, by name."""
