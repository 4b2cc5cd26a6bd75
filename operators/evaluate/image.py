"""Images and volumes: resizing and sampling on grids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from rlx.grammar.nodes.dtype import DataType
from rlx.operators.evaluate.arrays import Array, Function, is_float, kind_of, quiet, sizes, wide
from rlx.operators.evaluate.elementwise import convert
from rlx.operators.evaluate.windows import arranged, canonical, spread
from rlx.operators.evaluation import OperatorFault
from rlx.operators.windows import SPATIAL
from rlx.spec.registry import rule

Taps = tuple[Array, Array]
"""The source positions of each result along an axis, and their weights; both have the shape
(results, taps).
"""


def _real(x: Array) -> Array:
    """The elements as floats to compute with: integers count as float32."""
    found = wide(x)
    return found if is_float(found.dtype) else found.astype(np.float32)


# ---------------------------------------------------------------- resizing


def _crop(at: Array, length: int, count: int, start: float, end: float) -> Array:
    last = length - 1
    if count < 2:
        return np.full_like(at, 0.5 * (start + end) * last)
    return start * last + at * ((end - start) * last / (count - 1))


_COORDINATES: dict[str, Callable[[Array, int, int, float, float], Array]] = {
    "half_pixel": lambda at, n, m, *_: (
        (at + at.dtype.type(0.5)) * at.dtype.type(n / m) - at.dtype.type(0.5)
    ),
    "align_corners": lambda at, n, m, *_: at * at.dtype.type((n - 1) / max(m - 1, 1)),
    "asymmetric": lambda at, n, m, *_: at * at.dtype.type(n) / at.dtype.type(m),
    "pytorch_half_pixel": lambda at, n, m, *_: (
        (at + at.dtype.type(0.5)) * at.dtype.type(n / m) - at.dtype.type(0.5) if m > 1 else at
    ),
    "tf_half_pixel_for_nn": lambda at, n, m, *_: (at + at.dtype.type(0.5)) * at.dtype.type(n / m),
    "tf_crop_and_resize": lambda at, n, m, start, end: _crop(at, n, m, start, end).astype(at.dtype),
}
"""The coordinates, in an axis of length n, of the positions of an axis of length m."""

_ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "round": np.round,
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": lambda x: np.floor(x + 1e-5),
    "ceil": lambda x: np.ceil(x - 1e-5),
}
"""The position nearest to a coordinate; a coordinate that differs from an integer only by rounding
errors counts as this integer.
"""


def _cubic(t: Array, alpha: float) -> list[Array]:
    """The weights of the four places around a coordinate, ``t`` behind the second of them."""
    a, t2, t3 = t.dtype.type(alpha), t * t, t * t * t
    return [
        a * (t3 - 2 * t2 + t),
        (a + 2) * t3 - (a + 3) * t2 + 1,
        -(a + 2) * t3 + (2 * a + 3) * t2 - a * t,
        a * (t2 - t3),
    ]


def _taps(at: Array, length: int, method: str, rounding: str, alpha: float, exclude: int) -> Taps:
    if method == "nearest_neighbor":
        places = _ROUNDINGS[rounding](at)[:, None]
        weights = np.ones_like(places)
    else:
        low = np.floor(at)
        t, first = at - low, low[:, None]
        if method == "linear":
            places, weights = first + np.arange(2), np.stack([1 - t, t], axis=1)
        else:
            places, weights = first + np.arange(-1, 3), np.stack(_cubic(t, alpha), axis=1)
            if exclude:
                weights = np.where((places >= 0) & (places < length), weights, 0)
                weights = quiet(np.divide, weights, weights.sum(axis=1, keepdims=True))
    return np.clip(places, 0, length - 1).astype(np.int64), weights.astype(at.dtype)


@rule("E-resize", "d1a025a4", "computation")
def _options(method: str, mode: str, rounding: str, roi: Sequence[float], number: int) -> str:
    """The rounding that is meant.

    Raises
    ------
    OperatorFault
        ``E-resize-method``: if there is no such method, coordinates or rounding.
    """
    meant = rounding or ("round" if mode == "align_corners" else "floor")
    known = mode in _COORDINATES and meant in _ROUNDINGS
    if not known or method not in ("nearest_neighbor", "linear", "cubic"):
        raise OperatorFault(
            "E-resize-method",
            f"unsupported combination: method {method!r}, coordinates {mode!r},"
            f" rounding {rounding!r}",
        )
    if len(roi) != 2 * number:
        raise OperatorFault("E-resize-method", f"roi has {len(roi)} numbers, expected {2 * number}")
    return meant


def resize(count: str) -> Function:
    """The evaluation of a resize over a number of axes."""
    number = int(count)
    axes = f"NC{SPATIAL[number]}"

    def evaluate(
        data: Array,
        size: Sequence[int],
        roi: Any,
        layout: str,
        method: str,
        mode: str,
        rounding: str,
        alpha: float,
        exclude: int,
        extrapolation: float,
        kind: DataType | None,
    ) -> Array:
        x = _real(canonical(data, layout, axes))
        region = [float(v) for v in roi] if roi is not None and len(roi) else [0.0] * (2 * number)
        method = method.lower()
        rounding = _options(method, mode, rounding, region, number)
        wanted = sizes(spread(size, number))
        outside = np.zeros(wanted, np.bool_)
        for k in reversed(range(number)):
            n, m = x.shape[2 + k], wanted[k]
            _some(n, m)
            at = _COORDINATES[mode](
                np.arange(m, dtype=x.dtype), n, m or 1, region[k], region[number + k]
            )
            places, weights = _taps(at, n, method, rounding, alpha, exclude)
            x = _mixed(x, 2 + k, places, weights)
            shape = [m if j == k else 1 for j in range(number)]
            outside = outside | ((at < 0) | (at > n - 1)).reshape(shape)
        if mode == "tf_crop_and_resize":
            x = np.where(outside, x.dtype.type(extrapolation), x)
        return convert(arranged(x, layout, axes), kind_of(kind, data.dtype))

    return evaluate


@rule("E-source", "306847e6", "computation")
def _some(length: int, wanted: int) -> None:
    if wanted and not length:
        raise OperatorFault(
            "E-source-empty", (f"{wanted} elements are needed from an axis of length 0")
        )


def _mixed(x: Array, axis: int, places: Array, weights: Array) -> Array:
    """Along an axis, at each place the weighted sum of its taps."""
    shape = [-1 if k == axis else 1 for k in range(x.ndim)]
    if weights.shape[1] == 1:
        return np.asarray(np.take(x, places[:, 0], axis=axis))
    parts = [
        quiet(np.multiply, np.take(x, places[:, tap], axis=axis), weights[:, tap].reshape(shape))
        for tap in range(weights.shape[1])
    ]
    return np.asarray(quiet(sum, parts[1:], parts[0]))


# ---------------------------------------------------------------- sampling

_METHODS = {2: ("nearest", "bilinear", "bicubic"), 3: ("nearest", "bilinear")}
_SAMPLED = -0.75
"""The coefficient of bicubic sampling."""


@rule("E-sample", "1f637082", "computation")
def _sampling(x: Array, grid: Array, method: str, padding: str) -> None:
    number = x.ndim - 2
    if method not in _METHODS[number] or padding not in _PADDINGS:
        raise OperatorFault(
            "E-sample-method",
            (
                f"unsupported combination: method {method!r}, padding {padding!r}, {number}"
                " spatial axes"
            ),
        )
    if grid.shape[:2] != (x.shape[0], number):
        raise OperatorFault(
            "E-sample-grid",
            (f"a grid of shape {grid.shape} does not fit images of shape {x.shape}"),
        )


def _reflected(at: Array, length: int, align: int) -> Array:
    """Coordinates thrown back at the centres of the outermost elements, or at their edges."""
    low, span = (0.0, length - 1.0) if align else (-0.5, float(length))
    if span == 0:
        return at * 0
    away = np.mod(np.abs(at - low), 2 * span)
    return np.clip(np.where(away > span, 2 * span - away, away) + low, 0, length - 1)


_PADDINGS: dict[str, Callable[[Array, int, int], Array]] = {
    "zeros": lambda at, length, align: np.clip(at, -4, length + 4),
    "border": lambda at, length, align: np.clip(at, 0, length - 1),
    "reflection": _reflected,
}


def _axis_taps(at: Array, length: int, method: str, padding: str, align: int) -> Taps:
    """Places and weights along one axis, taps last."""
    inside = _PADDINGS[padding]
    if method != "bicubic":
        at = inside(at, length, align)
        if method == "nearest":
            return np.round(at)[..., None], np.ones((*at.shape, 1), at.dtype)
        low = np.floor(at)
        t = at - low
        return np.stack([low, low + 1], -1), np.stack([1 - t, t], -1)
    at = inside(at, length, align) if padding == "zeros" else at
    low = np.floor(at)
    around = np.stack([low + k for k in range(-1, 3)], -1)
    return inside(around, length, align), np.stack(_cubic(at - low, _SAMPLED), -1)


def grid_sample(
    data: Array, grid: Array, method: str, layout: str, padding: str, align: int
) -> Array:
    """The images sampled at the points of a grid, whose axis 1 has the coordinates from the last
    axis to the first.
    """
    number = grid.ndim - 2
    axes = f"NC{SPATIAL.get(number, SPATIAL[2])}"
    x = _real(canonical(data, layout, axes))
    _sampling(x, grid, method, padding)
    g = _real(grid).astype(x.dtype)
    lengths = x.shape[2:]
    for n in lengths:
        _some(n, prod(grid.shape[2:]))
    taps = []
    for k, n in enumerate(lengths):
        at = g[:, number - 1 - k] + 1
        at = at * ((n - 1) / 2) if align else at * (n / 2) - 0.5
        taps.append(quiet(_axis_taps, np.asarray(at, x.dtype), n, method, padding, align))
    result = quiet(_sampled, x, taps)
    return convert(arranged(result, layout, axes), data.dtype)


def _sampled(x: Array, taps: list[Taps]) -> Array:
    """The sum over all combinations of taps of the axes; places outside count as 0, unknown ones
    give NaN.
    """
    lengths, out = x.shape[2:], taps[0][0].shape[1:-1]
    flat = x.reshape(*x.shape[:2], prod(lengths))
    result = np.zeros((*x.shape[:2], *out), x.dtype)
    for chosen in product(*(range(places.shape[-1]) for places, _ in taps)):
        weight = np.ones((x.shape[0], *out), x.dtype)
        at = np.zeros((x.shape[0], *out), np.int64)
        inside = np.ones((x.shape[0], *out), np.bool_)
        for (places, weights), tap, n in zip(taps, chosen, lengths, strict=True):
            place = places[..., tap]
            inside &= (place >= 0) & (place < n)
            at = at * n + np.nan_to_num(np.clip(place, 0, n - 1)).astype(np.int64)
            weight = weight * weights[..., tap] + np.where(np.isnan(place), np.nan, 0)
        found = np.take_along_axis(flat, at.reshape(x.shape[0], 1, prod(at.shape[1:])), 2).reshape(
            result.shape
        )
        result = result + np.where(inside[:, None], found, 0) * weight[:, None]
    return result.astype(x.dtype)


@rule("E-affine", "c1d96e5f", "computation")
def _matrices(data: Array, number: int) -> None:
    if data.shape[1:] != (number, number + 1):
        raise OperatorFault(
            "E-affine-matrix",
            (f"matrices of shape {data.shape[1:]} do not fit a grid of {number} axes"),
        )


def affine_grid(data: Array, size: Sequence[int], align: int) -> Array:
    """The image of a regular grid over [-1, 1] under a matrix; coordinates are ordered from the
    last axis to the first.
    """
    wanted = sizes(size if len(size) > 1 else tuple(size) * 2)
    number, w = len(wanted), _real(data)
    _matrices(data, number)
    lines = []
    for n in wanted:
        at = np.arange(n, dtype=w.dtype) * 2
        lines.append(at / max(n - 1, 1) - (1 if n > 1 else 0) if align else (at + 1) / (n or 1) - 1)
    points = np.stack([*reversed(np.meshgrid(*lines, indexing="ij")), np.ones(wanted, w.dtype)])
    made = np.tensordot(w, points.astype(w.dtype), axes=((2,), (0,)))
    return convert(made.astype(w.dtype), data.dtype)


OPERATORS: dict[str, Function] = {
    "image.resize2d": resize("2"),
    "image.resize3d": resize("3"),
}
"""The operators that functions of this file make or share, by name."""
