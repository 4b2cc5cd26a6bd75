"""Images and volumes: resizing and sampling on grids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import Any

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, ShapeExpr, ShapeStructInfo, StructInfo
from rlx.grammar.nodes.dtype import FLOAT32, DataType
from rlx.grammar.nodes.tir import FloatImm, PrimExpr
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array, Function
from rlx.operators.dim_arithmetic import const
from rlx.operators.elementwise import convert
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result, decline
from rlx.operators.late import later, np, te
from rlx.operators.layout import layout, layout_rank
from rlx.operators.operator_call import Dims, OperatorCall, show, show_shape
from rlx.operators.parameters import Size, Tensor, Type
from rlx.operators.registry import Rule, computes, defines, operator
from rlx.operators.rule_helpers import rank, ranked, tensor
from rlx.operators.windows import SPATIAL, per_axis
from rlx.spec.registry import rule


@rule("OBL-size", "obligation")
def size_of(site: OperatorCall, size: Expr, count: int) -> Dims | None:
    """The lengths of a size, one for each spatial axis or one for all; None if unknown."""
    dims = size.values if isinstance(size, ShapeExpr) else None
    info = site.ctx.info(size)
    ndim = info.ndim if isinstance(info, ShapeStructInfo) else -1
    if dims is not None and len(dims) == 1:
        return dims * count
    if dims is None and ndim not in (-1, count):
        site.fail("OBL-size-length", f"{site.shown(1)} must have {count} elements", 1)
    if dims is not None and len(dims) != count:
        site.fail("OBL-size-length", f"the size {show_shape(dims)} must have {count} elements", 1)
    return dims


def _resize(count: int) -> Rule:
    axes = f"NC{SPATIAL[count]}"

    def resize(
        site: OperatorCall,
        data: Tensor,
        size: Size,
        roi: Any | None = None,
        layout_: str = "NCHW",
        method: str = "linear",
        coordinate_transformation_mode: str = "half_pixel",
        rounding_method: str = "round",
        cubic_alpha: float = -0.75,
        cubic_exclude: int = 0,
        extrapolation_value: float = 0.0,
        out_dtype: Type | None = None,
    ) -> StructInfo:
        """The image at another size."""
        _region(site, roi)
        kind = data.dtype if out_dtype is None else out_dtype
        best = ranked(layout_rank(layout_), kind, data.vdevice)
        held = layout(site, layout_, axes, data, 0, best)
        lengths, dims = size_of(site, size, count), site.dims(data)
        if lengths is None or dims is None:
            return best
        x = held.canonical(dims, axes)
        return tensor(held.arrange((*x[:2], *lengths), axes), kind, data.vdevice)

    return resize


def _region(site: OperatorCall, roi: object) -> None:
    """The region of interest of a resize is a tuple of numbers."""
    if isinstance(roi, ast.PrimValue):
        roi = roi.value
    if roi is not None and not isinstance(roi, (float, tuple, list, ast.Tuple, FloatImm)):
        site.fail("D14-argument", "roi must be a tuple of numbers", 2)


operator(
    "relax.image.resize2d",
    calls="""
    f(a, 3, 8, 8), shape(4, 16) | shape(c, 16), method=None | 'nearest_neighbor', layout='NCHW'
    f(a, 8, 8, 3), shape(16, 16), layout='NHWC', out_dtype=None | 'float16'
    """,
    broken="""
    OBL-word-known: f(a, 3, 8, 8), shape(4, 4), layout='NCHW', method='liner'
    OBL-size-length: f(a, 3, 8, 8), shape(4, 4, 4), layout='NCHW'
    """,
)(_resize(2))
operator(
    "relax.image.resize3d",
    layout="NCDHW",
    rounding_method="",
    calls="f(a, 3, 8, 8, 8), shape(16, 4, 2) | shape(c, 16, 2), layout='NCDHW'",
)(_resize(3))


@operator(
    "relax.image.grid_sample",
    calls="""
    f(a, 3, 8, 8), f(a, 2, 5, c), method=None | 'nearest', padding_mode=None | 'border'
    f(a, 3, 8, 8, 8), f(a, 3, 5, 6, c), layout='NCDHW'
    """,
    broken="""
    OBL-grid-batch: f(2, 3, 8, 8), f(3, 2, 5, 5)
    OBL-grid-coordinates: f(a, 3, 8, 8), f(a, 3, 5, 5)
    """,
)
def grid_sample(
    site: OperatorCall,
    data: Tensor,
    grid: Tensor,
    method: str = "bilinear",
    layout_: str = "NCHW",
    padding_mode: str = "zeros",
    align_corners: int = False,
) -> StructInfo:
    """The image sampled at the points of a grid, whose axis 1 has their coordinates."""
    count = max(layout_rank(layout_) - 2, 2)
    axes = f"NC{SPATIAL[min(count, 3)]}"
    best = ranked(layout_rank(layout_), data.dtype, data.vdevice)
    held = layout(site, layout_, axes, data, 0, best)
    rank(site, grid, 1, count + 2)
    dims, points = site.dims(data), site.dims(grid)
    if dims is None or points is None:
        return best
    x = held.canonical(dims, axes)
    grids(site, x[0], points, count)
    return tensor(held.arrange((*x[:2], *points[2:]), axes), data.dtype, data.vdevice)


_METHODS = {2: ("nearest", "bilinear", "bicubic"), 3: ("nearest", "bilinear")}
_SAMPLED = -0.75
"""The coefficient of bicubic sampling."""


@rule("E-sample", "computation")
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
            f"a grid of shape {grid.shape} does not fit images of shape {x.shape}",
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


@computes("relax.image.grid_sample")
def grid_sample_value(
    data: Array, grid: Array, method: str, layout: str, padding: str, align: int
) -> Array:
    """The images sampled at the points of a grid, whose axis 1 has the coordinates from the last
    axis to the first.
    """
    number = grid.ndim - 2
    axes = f"NC{SPATIAL.get(number, SPATIAL[2])}"
    x = _real(arrays.canonical(data, layout, axes))
    _sampling(x, grid, method, padding)
    g = _real(grid).astype(x.dtype)
    lengths = x.shape[2:]
    for n in lengths:
        _some(n, prod(grid.shape[2:]))
    taps = []
    for k, n in enumerate(lengths):
        at = g[:, number - 1 - k] + 1
        at = at * ((n - 1) / 2) if align else at * (n / 2) - 0.5
        taps.append(arrays.quiet(_axis_taps, np.asarray(at, x.dtype), n, method, padding, align))
    result = arrays.quiet(_sampled, x, taps)
    return convert(arrays.arranged(result, layout, axes), data.dtype)


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


@rule("OBL-grid", "obligation")
def grids(site: OperatorCall, batch: PrimExpr, points: Dims, count: int) -> None:
    """Check that there is one grid for each image, with one coordinate per spatial axis along axis
    1.
    """
    for code, wanted, found, what in (
        ("OBL-grid-batch", batch, points[0], "images"),
        ("OBL-grid-coordinates", const(count), points[1], "coordinates"),
    ):
        site.equal(
            code,
            wanted,
            found,
            lambda wanted=wanted, found=found, what=what: (  # type: ignore[misc]
                f"the data has {show(wanted)} {what}, but the grid has {show(found)} {site.of(1)}"
            ),
            1,
        )


@operator(
    "relax.image.affine_grid",
    calls="""
    f(a, 2, 3), shape(5, c)
    f(a, 3, 4), shape(5, c, 6)
    """,
    broken="OBL-affine-matrix: f(a, 2, 4), shape(5, 5)",
)
def affine_grid(
    site: OperatorCall, data: Tensor, size: Size, align_corners: int = True
) -> StructInfo:
    """The image of a regular grid under an affine transformation (2 by 3, or 3 by 4)."""
    rank(site, data, 0, 3)
    dims = site.dims(data)
    info = site.ctx.info(size)
    ndim = info.ndim if isinstance(info, ShapeStructInfo) else -1
    count = len(size.values) if isinstance(size, ShapeExpr) else 2 if ndim < 0 else ndim
    if count not in SPATIAL:
        site.fail("OBL-size-length", f"the size has {count} elements, expected 2 or 3", 1)
    if isinstance(site.argument(1), (ShapeExpr, ast.Tuple)) and count == 1:
        site.fail("OBL-size-length", "the size has 1 element, expected 2 or 3", 1)
    count = max(count, 2)
    lengths = size_of(site, size, count)
    if dims is not None:
        transforms(site, dims, count)
    if dims is None or lengths is None:
        return ranked(count + 2, data.dtype, data.vdevice)
    return tensor((dims[0], const(count), *lengths), data.dtype, data.vdevice)


@rule("E-affine", "computation")
def _matrices(data: Array, number: int) -> None:
    if data.shape[1:] != (number, number + 1):
        raise OperatorFault(
            "E-affine-matrix",
            f"matrices of shape {data.shape[1:]} do not fit a grid of {number} axes",
        )


@computes("relax.image.affine_grid")
def affine_grid_value(data: Array, size: Sequence[int], align: int) -> Array:
    """The image of a regular grid over [-1, 1] under a matrix; coordinates are ordered from the
    last axis to the first.
    """
    wanted = arrays.sizes(size if len(size) > 1 else tuple(size) * 2)
    number, w = len(wanted), _real(data)
    _matrices(data, number)
    lines = []
    for n in wanted:
        at = np.arange(n, dtype=w.dtype) * 2
        lines.append(at / max(n - 1, 1) - (1 if n > 1 else 0) if align else (at + 1) / (n or 1) - 1)
    points = np.stack([*reversed(np.meshgrid(*lines, indexing="ij")), np.ones(wanted, w.dtype)])
    made = np.tensordot(w, points.astype(w.dtype), axes=((2,), (0,)))
    return convert(made.astype(w.dtype), data.dtype)


@defines("relax.image.affine_grid")
def affine_grid_definition(out: Result, data: te.Tensor, size: Any, align: int) -> te.Tensor:
    wanted = out.shape[2:]
    number = len(wanted)
    kind = _real_definition(data(exprs.int64(0), exprs.int64(0), exprs.int64(0))).dtype
    one = te.const(1, kind)

    def point(k: int, p: te.Scalar) -> te.Scalar:
        at, n = te.cast(kind, p * exprs.int64(2)), wanted[k]
        if not align:
            return (at + one) / te.cast(kind, te.maximum(n, exprs.int64(1))) - one
        last = te.cast(kind, te.maximum(n - 1, exprs.int64(1)))
        return at / last - te.select(n > exprs.int64(1), one, te.const(0, kind))

    def element(*i: te.Scalar) -> te.Scalar:
        row = [_real_definition(data(i[0], i[1], exprs.int64(j))) for j in range(number + 1)]
        total = row[0] * point(number - 1, i[2 + number - 1])
        for j in range(1, number):
            total = total + row[j] * point(number - 1 - j, i[2 + number - 1 - j])
        return total + row[number]

    return exprs.filled(out, element)


@rule("OBL-affine", "obligation")
def transforms(site: OperatorCall, dims: Dims, count: int) -> None:
    """Check that the transformation has one row for each axis, and one more column than rows."""
    matrix = site.together("OBL-affine-matrix", 0)
    for dim, wanted in zip(dims[1:], (count, count + 1), strict=True):
        matrix.equal(
            dim,
            const(wanted),
            lambda: f"a grid of {count} axes needs {count} by {count + 1} matrices {site.of(0)}",
        )
    matrix.settle()


# ---------------------------------------------------------------- values


Taps = tuple[Array, Array]
"""The source positions of each result along an axis, and their weights; both have the shape
(results, taps).
"""


def _real(x: Array) -> Array:
    """The elements as floats to compute with: integers count as float32."""
    found = arrays.wide(x)
    return found if arrays.is_float(found.dtype) else found.astype(np.float32)


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
    "round": later(np, "round"),
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
                weights = arrays.quiet(np.divide, weights, weights.sum(axis=1, keepdims=True))
    return np.clip(places, 0, length - 1).astype(np.int64), weights.astype(at.dtype)


@rule("E-resize", "computation")
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


def resize_value(number: int) -> Function:
    """The evaluation of a resize over a number of axes."""
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
        x = _real(arrays.canonical(data, layout, axes))
        region = [float(v) for v in roi] if roi is not None and len(roi) else [0.0] * (2 * number)
        method = method.lower()
        rounding = _options(method, mode, rounding, region, number)
        wanted = arrays.sizes(per_axis(size, number))
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
        return convert(arrays.arranged(x, layout, axes), arrays.kind_of(kind, data.dtype))

    return evaluate


@rule("E-source", "computation")
def _some(length: int, wanted: int) -> None:
    if wanted and not length:
        raise OperatorFault(
            "E-source-empty", f"{wanted} elements are needed from an axis of length 0"
        )


def _mixed(x: Array, axis: int, places: Array, weights: Array) -> Array:
    """Along an axis, at each place the weighted sum of its taps."""
    shape = [-1 if k == axis else 1 for k in range(x.ndim)]
    if weights.shape[1] == 1:
        return np.asarray(np.take(x, places[:, 0], axis=axis))
    parts = [
        arrays.quiet(
            np.multiply, np.take(x, places[:, tap], axis=axis), weights[:, tap].reshape(shape)
        )
        for tap in range(weights.shape[1])
    ]
    return np.asarray(arrays.quiet(sum, parts[1:], parts[0]))


for _count in (2, 3):
    computes(f"relax.image.resize{_count}d")(resize_value(_count))


# ---------------------------------------------------------------- definitions


def _real_definition(x: te.Scalar) -> te.Scalar:
    """An element as a float to compute with: integers count as float32."""
    found = exprs.wide(x)
    return found if found.dtype.is_float else te.cast(FLOAT32, found)


def _ratio(a: te.Scalar, b: te.Scalar, kind: DataType) -> te.Scalar:
    """A quotient of two lengths, rounded once."""
    if a.value is not None and b.value is not None:
        return te.const(float(np.dtype(str(kind)).type(a.value / max(b.value, 1))), kind)
    return te.cast(
        kind, te.cast(exprs.FLOAT64, a) / te.cast(exprs.FLOAT64, te.maximum(b, exprs.int64(1)))
    )


def _half_pixel(at: te.Scalar, n: te.Scalar, m: te.Scalar) -> te.Scalar:
    half = te.const(0.5, at.dtype)
    return (at + half) * _ratio(n, m, at.dtype) - half


def _asymmetric(at: te.Scalar, n: te.Scalar, m: te.Scalar) -> te.Scalar:
    return at * te.cast(at.dtype, n) / te.cast(at.dtype, te.maximum(m, exprs.int64(1)))


_SOURCES: dict[str, Callable[[te.Scalar, te.Scalar, te.Scalar], te.Scalar]] = {
    "half_pixel": _half_pixel,
    "align_corners": lambda at, n, m: at * _ratio(n - 1, m - 1, at.dtype),
    "asymmetric": _asymmetric,
    "pytorch_half_pixel": lambda at, n, m: te.select(m > exprs.int64(1), _half_pixel(at, n, m), at),
    "tf_half_pixel_for_nn": lambda at, n, m: (
        (at + te.const(0.5, at.dtype)) * _ratio(n, m, at.dtype)
    ),
}
"""The coordinates, in an axis of length n, of the positions of an axis of length m."""
_NEAREST: dict[str, Callable[[te.Scalar], te.Scalar]] = {
    "round": later(te, "round"),
    "round_prefer_floor": lambda x: te.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: te.floor(x + 0.5),
    "floor": lambda x: te.floor(x + te.const(1e-5, x.dtype)),
    "ceil": lambda x: te.ceil(x - te.const(1e-5, x.dtype)),
}


def _cubic_definition(t: te.Scalar, alpha: float) -> list[te.Scalar]:
    """The weights of the four places around a coordinate, ``t`` behind the second of them."""
    a, t2, t3 = te.const(alpha, t.dtype), t * t, t * t * t
    return [
        a * (t3 - t2 * 2.0 + t),
        (a + 2.0) * t3 - (a + 3.0) * t2 + 1.0,
        (a * 2.0 + 3.0) * t2 - (a + 2.0) * t3 - a * t,
        a * (t2 - t3),
    ]


def _taps_definition(
    at: te.Scalar, length: te.Scalar, method: str, rounding: str, alpha: float, exclude: int
) -> list[tuple[te.Scalar, te.Scalar]]:
    if method == "nearest_neighbor":
        place = te.cast("int64", _NEAREST[rounding](at))
        return [(_clipped(place, length), te.const(1, at.dtype))]
    low = te.floor(at)
    t, first = at - low, te.cast("int64", low)
    if method == "linear":
        places, weights = [first, first + 1], [te.const(1, at.dtype) - t, t]
    else:
        places = [first + (k - 1) for k in range(4)]
        weights = _cubic_definition(t, alpha)
        if exclude:
            weights = _inside_alone(places, weights, length)
    return [(_clipped(p, length), w) for p, w in zip(places, weights, strict=True)]


def _inside_alone(
    places: Sequence[te.Scalar], weights: Sequence[te.Scalar], length: te.Scalar
) -> list[te.Scalar]:
    """Weights of the places in the image, which sum to 1; the others have none."""
    kept = [
        te.select(exprs.both(p >= exprs.int64(0), p < length), w, te.const(0, w.dtype))
        for p, w in zip(places, weights, strict=True)
    ]
    whole = kept[0]
    for each in kept[1:]:
        whole = whole + each
    return [w / whole for w in kept]


def _clipped(place: te.Scalar, length: te.Scalar) -> te.Scalar:
    return te.minimum(te.maximum(place, exprs.int64(0)), length - 1)


def _resize_definition(
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
    if mode not in _SOURCES or meant not in _NEAREST:
        decline(f"coordinates {mode!r} with rounding {rounding!r} have no definition")
    x = exprs.WindowView(data, layout, axes)
    lengths = exprs.lengths_of(out, layout, axes)
    shape = list(x.shape)

    def source(*i: te.Scalar) -> te.Scalar:
        return _real_definition(x(*i))

    read: Callable[..., te.Scalar] = source
    for k in reversed(range(count)):
        shape[2 + k] = lengths[2 + k]
        read = _stage(
            read, x.shape[2 + k], tuple(shape), 2 + k, method.lower(), mode, meant, alpha, exclude
        )
    return exprs.arranged(out, read, layout, axes)


def _stage(
    read: Callable[..., te.Scalar],
    length: te.Scalar,
    shape: Sequence[te.Scalar],
    axis: int,
    method: str,
    mode: str,
    rounding: str,
    alpha: float,
    exclude: int,
) -> te.Tensor:
    """One axis at another size."""
    kind = read(*([exprs.int64(0)] * len(shape))).dtype

    def element(*i: te.Scalar) -> te.Scalar:
        at = _SOURCES[mode](te.cast(kind, i[axis]), length, shape[axis])
        total: te.Scalar | None = None
        for place, weight in _taps_definition(at, length, method, rounding, alpha, exclude):
            value = read(*i[:axis], place, *i[axis + 1 :])
            part = value if method == "nearest_neighbor" else value * weight
            total = part if total is None else total + part
        assert total is not None
        return total

    return te.compute(shape, element, name=f"T_axis_{axis}")  # type: ignore[no-any-return]


for _count in (2, 3):
    defines(f"relax.image.resize{_count}d")(partial(_resize_definition, _count))
