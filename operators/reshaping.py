"""Reshapes: the same elements in another shape."""

from __future__ import annotations

from rlx.grammar.nodes.ast import Expr, ShapeExpr, StructInfo, TensorStructInfo, Var
from rlx.grammar.nodes.tir import EQ, FloorMod, PrimExpr
from rlx.operators.dim_arithmetic import (
    ZERO,
    const,
    floordiv,
    literal,
    product,
)
from rlx.operators.parameters import NewShape, Tensor
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import (
    ranked,
    shaped,
    tensor,
)
from rlx.operators.site import Dims, Site, show, show_shape
from rlx.spec.registry import rule

Factors = tuple[int, list[PrimExpr]]


def _remaining(a: Dims, b: Dims) -> tuple[Factors, Factors]:
    """The factors of two products without those that both have."""
    left, right = _factors(a), _factors(b)
    common = [dim for dim in left[1] if dim in right[1]]
    for dim in common:
        if dim in right[1]:
            left[1].remove(dim)
            right[1].remove(dim)
    return left, right


def _factors(dims: Dims) -> Factors:
    whole, symbolic = 1, []
    for dim in dims:
        value = literal(dim)
        if value is None:
            symbolic.append(dim)
        else:
            whole *= value
    return whole, symbolic


@rule("OBL-reshape", "2a3a6e09", "obligation")
def target(site: Site, x: TensorStructInfo, wanted: Dims, best: Tensor) -> Dims:
    """The target shape of a reshape: -1 is inferred, 0 is copied, and the number of elements is
    kept.

    If a variable holds the shape, 0 and -1 have no special meaning.
    """
    old = site.dims(x)
    written = not isinstance(site.argument(1), Var)
    holes = [k for k, dim in enumerate(wanted) if literal(dim) == -1 and written]
    if len(holes) > 1:
        shown = show_shape(wanted)
        site.fail("OBL-reshape-infer", f"more than one dimension of {shown} is -1", 1, best)
    _no_less(site, wanted, -1 if written else 0, best)
    copies = written and any(literal(dim) == 0 for dim in wanted)
    if old is None:
        if holes or copies:
            what = "-1 cannot be inferred" if holes else "a length for 0 cannot be copied"
            words = f"{what}, because the shape of {site.shown(0)} is unknown"
            site.fail("OBL-reshape-infer", words, 1, best)
        return wanted
    if copies:
        wanted = tuple(_copied(old, k, dim) for k, dim in enumerate(wanted))
    if holes:
        return _infer(site, old, wanted, holes[0], best)
    (count, left), (wanted_count, right) = _remaining(old, wanted)
    if not left and not right and count == wanted_count:
        site.ctx.discharged += 1
        return wanted
    site.require(
        "OBL-reshape-count",
        EQ(product((*left, const(count))), product((*right, const(wanted_count)))),
        lambda: (
            f"the number of elements changes: {show(product(old))} {site.of(0)}, "
            f"{show(product(wanted))} in the new shape {show_shape(wanted)}"
        ),
        1,
    )
    return wanted


def _no_less(site: Site, wanted: Dims, least: int, best: Tensor) -> None:
    """No dimension is less than the -1 that is inferred, even where the product is right or
    unknown.
    """
    if any((literal(dim) or 0) < least for dim in wanted):
        shown = show_shape(wanted)
        site.fail("OBL-reshape-count", f"the new shape {shown} has a negative dimension", 1, best)


def _copied(old: Dims, k: int, dim: PrimExpr) -> PrimExpr:
    return old[k] if literal(dim) == 0 and k < len(old) else dim


def _infer(site: Site, old: Dims, wanted: Dims, hole: int, best: Tensor) -> Dims:
    others = wanted[:hole] + wanted[hole + 1 :]
    (count, left), (other_count, right) = _remaining(old, others)
    if other_count == 0:
        return _beside_nothing(site, old, wanted, hole, best)
    if not right and count % other_count == 0:
        site.ctx.discharged += 1
        size = product((*left, const(count // other_count)))
    else:
        whole, part = product((*left, const(count))), product((*right, const(other_count)))
        site.require(
            "OBL-reshape-divides",
            EQ(FloorMod(whole, part), ZERO),
            lambda: (
                f"the {show(product(old))} elements {site.of(0)} are not a multiple of "
                f"{show(product(others))}, the other dimensions of the new shape"
            ),
            1,
        )
        size = floordiv(whole, part)
    return (*wanted[:hole], size, *wanted[hole + 1 :])


def _beside_nothing(site: Site, old: Dims, wanted: Dims, hole: int, best: Tensor) -> Dims:
    """What is inferred beside a length of 0 is any number: TVM takes 0, and no element is lost."""
    if all(literal(dim) != 0 for dim in old):
        site.fail("OBL-reshape-infer", "-1 cannot be inferred next to a dimension of 0", 1, best)
    return (*wanted[:hole], ZERO, *wanted[hole + 1 :])


@operator(
    "relax.reshape",
    calls="""
    x(a, 4), shape(a * 4) | shape(a, 2, 2) | shape(4, a) | shape(2, a, 2)
    x(a, b), shape(a * b) | shape(b, a) | shape(a, 1, b)
    x(a, 4), shape(a, -1) | shape(-1, 4) | shape(-1)
    x(6), shape(2, 3) | shape(3, -1)
    x(a, 3, b), shape(a * 3, b) | shape(a, b * 3) | shape(0, 3, -1)
    """,
)
def reshape(site: Site, x: Tensor, shape: NewShape) -> StructInfo:
    """The elements in row-major order in another shape."""
    if not isinstance(shape, ShapeExpr):
        return in_shape(site, x, shape)
    wanted = shape.values
    dims = target(site, x, wanted, ranked(len(wanted), x.dtype, x.vdevice))
    if dims is wanted:
        return TensorStructInfo(shape, x.dtype, len(dims), x.vdevice)
    return tensor(dims, x.dtype, x.vdevice)


def in_shape(site: Site, x: TensorStructInfo, shape: Expr) -> Tensor:
    """A tensor like ``x`` in a shape that an expression gives."""
    return shaped(site, shape, x.dtype, x.vdevice)
