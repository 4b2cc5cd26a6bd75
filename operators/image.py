"""Images and volumes: resizing and sampling on grids."""

from __future__ import annotations

from typing import Any

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, ShapeExpr, ShapeStructInfo, StructInfo
from rlx.grammar.nodes.tir import FloatImm, PrimExpr
from rlx.operators.dim_arithmetic import const
from rlx.operators.layout import layout, layout_rank
from rlx.operators.parameters import Size, Tensor, Type
from rlx.operators.registry import Rule, operator
from rlx.operators.rule_helpers import rank, ranked, tensor
from rlx.operators.site import Dims, Site, show, show_shape
from rlx.operators.windows import SPATIAL
from rlx.spec.registry import rule


@rule("OBL-size", "69294171", "obligation")
def size_of(site: Site, size: Expr, count: int) -> Dims | None:
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
        site: Site,
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


def _region(site: Site, roi: object) -> None:
    """The region of interest of a resize is a tuple of numbers."""
    match roi:
        case None | float() | tuple() | list() | ast.Tuple() | ast.PrimValue(value=FloatImm()):
            return
    site.fail("D14-argument", "roi must be a tuple of numbers", 2)


operator(
    "relax.image.resize2d",
    calls="""
    f(a, 3, 8, 8), shape(4, 16) | shape(c, 16), method=None | 'nearest_neighbor', layout='NCHW'
    f(a, 8, 8, 3), shape(16, 16), layout='NHWC', out_dtype=None | 'float16'
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
)
def grid_sample(
    site: Site,
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


@rule("OBL-grid", "d94e654c", "obligation")
def grids(site: Site, batch: PrimExpr, points: Dims, count: int) -> None:
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
)
def affine_grid(site: Site, data: Tensor, size: Size, align_corners: int = True) -> StructInfo:
    """The image of a regular grid under an affine transformation (2 by 3, or 3 by 4)."""
    rank(site, data, 0, 3)
    dims = site.dims(data)
    count = _axes_of(site, size)
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


def _axes_of(site: Site, size: Expr) -> int:
    """How many spatial axes a size has; 2 where it is unknown."""
    info = site.ctx.info(size)
    ndim = info.ndim if isinstance(info, ShapeStructInfo) else -1
    return len(size.values) if isinstance(size, ShapeExpr) else 2 if ndim < 0 else ndim


@rule("OBL-affine", "fae2f2b7", "obligation")
def transforms(site: Site, dims: Dims, count: int) -> None:
    """Check that the transformation has one row for each axis, and one more column than rows."""
    matrix = site.together("OBL-affine-matrix", 0)
    for dim, wanted in zip(dims[1:], (count, count + 1), strict=True):
        matrix.equal(
            dim,
            const(wanted),
            lambda: f"a grid of {count} axes needs {count} by {count + 1} matrices {site.of(0)}",
        )
    matrix.settle()
