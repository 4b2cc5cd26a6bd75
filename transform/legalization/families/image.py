"""Resizing of images and volumes, and regular grids of points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rlx import te
from rlx.grammar.nodes.dtype import FLOAT32, DataType
from rlx.operators.windows import SPATIAL
from rlx.te.scalar import Scalar
from rlx.transform.legalization.elements import FLOAT64, both, convert, filled, int64, wide
from rlx.transform.legalization.layouts import WindowView, arranged, lengths_of
from rlx.transform.legalization.result import Result, decline

Definition = Callable[..., Any]
Taps = list[tuple[Scalar, Scalar]]
"""The source positions of a result along an axis, with their weights."""


def _real(x: Scalar) -> Scalar:
    """An element as a float to compute with: integers count as float32."""
    found = wide(x)
    return found if found.dtype.is_float else te.cast(FLOAT32, found)


def _ratio(a: Scalar, b: Scalar, kind: DataType) -> Scalar:
    """A quotient of two lengths, rounded once."""
    return te.cast(kind, te.cast(FLOAT64, a) / te.cast(FLOAT64, te.maximum(b, int64(1))))


def _half_pixel(at: Scalar, n: Scalar, m: Scalar) -> Scalar:
    half = te.const(0.5, at.dtype)
    return (at + half) * _ratio(n, m, at.dtype) - half


def _asymmetric(at: Scalar, n: Scalar, m: Scalar) -> Scalar:
    return at * te.cast(at.dtype, n) / te.cast(at.dtype, te.maximum(m, int64(1)))


_COORDINATES: dict[str, Callable[[Scalar, Scalar, Scalar], Scalar]] = {
    "half_pixel": _half_pixel,
    "align_corners": lambda at, n, m: at * _ratio(n - 1, m - 1, at.dtype),
    "asymmetric": _asymmetric,
    "pytorch_half_pixel": lambda at, n, m: te.select(m > int64(1), _half_pixel(at, n, m), at),
    "tf_half_pixel_for_nn": lambda at, n, m: (
        (at + te.const(0.5, at.dtype)) * _ratio(n, m, at.dtype)
    ),
}
"""The coordinates, in an axis of length n, of the positions of an axis of length m."""

_ROUNDINGS: dict[str, Callable[[Scalar], Scalar]] = {
    "round": te.round,
    "round_prefer_floor": lambda x: te.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: te.floor(x + 0.5),
    "floor": lambda x: te.floor(x + te.const(1e-5, x.dtype)),
    "ceil": lambda x: te.ceil(x - te.const(1e-5, x.dtype)),
}


def _cubic(t: Scalar, alpha: float) -> list[Scalar]:
    """The weights of the four places around a coordinate, ``t`` behind the second of them."""
    a, t2, t3 = te.const(alpha, t.dtype), t * t, t * t * t
    return [
        a * (t3 - t2 * 2.0 + t),
        (a + 2.0) * t3 - (a + 3.0) * t2 + 1.0,
        (a * 2.0 + 3.0) * t2 - (a + 2.0) * t3 - a * t,
        a * (t2 - t3),
    ]


def _taps(
    at: Scalar, length: Scalar, method: str, rounding: str, alpha: float, exclude: int
) -> Taps:
    if method == "nearest_neighbor":
        place = te.cast("int64", _ROUNDINGS[rounding](at))
        return [(_clipped(place, length), te.const(1, at.dtype))]
    low = te.floor(at)
    t, first = at - low, te.cast("int64", low)
    if method == "linear":
        places, weights = [first, first + 1], [te.const(1, at.dtype) - t, t]
    else:
        places = [first + (k - 1) for k in range(4)]
        weights = _cubic(t, alpha)
        if exclude:
            weights = _inside_alone(places, weights, length)
    return [(_clipped(p, length), w) for p, w in zip(places, weights, strict=True)]


def _inside_alone(
    places: Sequence[Scalar], weights: Sequence[Scalar], length: Scalar
) -> list[Scalar]:
    """Weights of the places in the image, which sum to 1; the others have none."""
    kept = [
        te.select(both(p >= int64(0), p < length), w, te.const(0, w.dtype))
        for p, w in zip(places, weights, strict=True)
    ]
    whole = kept[0]
    for each in kept[1:]:
        whole = whole + each
    return [w / whole for w in kept]


def _clipped(place: Scalar, length: Scalar) -> Scalar:
    return te.minimum(te.maximum(place, int64(0)), length - 1)


def _resize(
    count: int,
    out: Result,
    data: te.Tensor,
    size: Any,
    roi: Any,
    layout: str,
    method: str,
    mode: str,
    rounding: str,
    alpha: float,
    exclude: int,
    extrapolation: float,
    kind: DataType | None,
) -> te.Tensor:
    axes = f"NC{SPATIAL[count]}"
    meant = rounding or ("round" if mode == "align_corners" else "floor")
    if mode not in _COORDINATES or meant not in _ROUNDINGS:
        decline(f"coordinates {mode!r} with rounding {rounding!r} have no definition")
    x = WindowView(data, layout, axes)
    lengths = lengths_of(out, layout, axes)
    shape = list(x.shape)

    def source(*i: Scalar) -> Scalar:
        return _real(x(*i))

    read: Callable[..., Scalar] = source
    for k in reversed(range(count)):
        shape[2 + k] = lengths[2 + k]
        read = _stage(
            read,
            x.shape[2 + k],
            tuple(shape),
            2 + k,
            method.lower(),
            mode,
            meant,
            alpha,
            exclude,
        )
    return arranged(out, lambda *i: convert(read(*i), out.dtype), layout, axes)


def _stage(
    read: Callable[..., Scalar],
    length: Scalar,
    shape: Sequence[Scalar],
    axis: int,
    method: str,
    mode: str,
    rounding: str,
    alpha: float,
    exclude: int,
) -> te.Tensor:
    """One axis at another size."""
    kind = read(*([int64(0)] * len(shape))).dtype

    def element(*i: Scalar) -> Scalar:
        at = _COORDINATES[mode](te.cast(kind, i[axis]), length, shape[axis])
        total: Scalar | None = None
        for place, weight in _taps(at, length, method, rounding, alpha, exclude):
            value = read(*i[:axis], place, *i[axis + 1 :])
            part = value if method == "nearest_neighbor" else value * weight
            total = part if total is None else total + part
        assert total is not None
        return total

    return te.compute(shape, element, name=f"T_axis_{axis}")  # type: ignore[no-any-return]


def affine_grid(out: Result, data: te.Tensor, size: Any, align: int) -> te.Tensor:
    """The image of a regular grid over [-1, 1] under a matrix; coordinates are ordered from the
    last axis to the first.
    """
    wanted = out.shape[2:]
    number = len(wanted)
    kind = _real(data(int64(0), int64(0), int64(0))).dtype
    one = te.const(1, kind)

    def point(k: int, p: Scalar) -> Scalar:
        at, n = te.cast(kind, p * int64(2)), wanted[k]
        if not align:
            return (at + one) / te.cast(kind, te.maximum(n, int64(1))) - one
        last = te.cast(kind, te.maximum(n - 1, int64(1)))
        return at / last - te.select(n > int64(1), one, te.const(0, kind))

    def element(*i: Scalar) -> Scalar:
        row = [_real(data(i[0], i[1], int64(j))) for j in range(number + 1)]
        total = row[0] * point(number - 1, i[2 + number - 1])
        for j in range(1, number):
            total = total + row[j] * point(number - 1 - j, i[2 + number - 1 - j])
        return convert(total + row[number], out.dtype)

    return filled(out, element)


OPERATORS: dict[str, Definition] = {
    "image.resize2d": partial(_resize, 2),
    "image.resize3d": partial(_resize, 3),
}
"""The operators that functions of this file make or share, by name."""
