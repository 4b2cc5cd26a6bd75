"""Rows of the operator table: arithmetic, comparisons, reductions, element types."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log, prod

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import BOOL, dtype
from rlx.relay.translated_call import SMALL, TranslatedCall, call, data_type, prim, scalar

Row = Callable[[TranslatedCall], ast.Expr]
"""Puts a call of Relay in terms of Relax."""


def same(name: str, count: int) -> Row:
    """The operator of Relax with that name, on the operands alone."""
    return lambda c: call(name, *c.operands(count))


def _identity(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return x


def _logarithm(base: float, c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return call("divide", call("log", x), scalar(log(base), c.kind_of(x)))


def _clip(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    if c.kind_of(x).is_integer:
        return call("clip", x, prim(int(c.finite("a_min"))), prim(int(c.finite("a_max"))))
    return call("clip", x, prim(c.number("a_min")), prim(c.number("a_max")))


def _cast(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return call("astype", x, data_type(c.element_type()))


def _cast_like(c: TranslatedCall) -> ast.Expr:
    x, like = c.operands(2)
    return call("astype", x, data_type(c.kind_of(like)))


def _axes(c: TranslatedCall, x: ast.Expr) -> tuple[int, ...] | None:
    """The axes of a reduction; ``exclude`` says which ones stay."""
    axes = c.axes()
    if not c.flag("exclude"):
        return axes
    rank = c.rank(x)
    kept = {axis % rank for axis in axes or ()} if rank else set()
    return tuple(axis for axis in range(rank) if axis not in kept)


def _reduction(name: str, c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return call(name, x, axis=_axes(c, x), keepdims=c.flag("keepdims"))


def _logsumexp(c: TranslatedCall) -> ast.Expr:
    """The logarithm of a sum of powers, computed as Relay does: without the largest of them."""
    (x,) = c.operands(1)
    axes = _axes(c, x)
    top = call("max", x, axis=axes, keepdims=True)
    total = call("sum", call("exp", call("subtract", x, top)), axis=axes, keepdims=True)
    found = call("add", call("log", total), top)
    return found if c.flag("keepdims") else call("squeeze", found, axis=axes)


def _variance(c: TranslatedCall) -> ast.Expr:
    """The mean square of the differences from the second operand, which need not be the mean."""
    x, mean = c.operands(2)
    squares, axes = call("square", call("subtract", x, mean)), _axes(c, x)
    options = {"axis": axes, "keepdims": c.flag("keepdims")}
    if not c.flag("unbiased"):
        return call("mean", squares, **options)
    dims, rank = c.dims(x), c.rank(x)
    sizes = [dims[axis % rank] for axis in (range(rank) if axes is None else axes)]
    if not all(isinstance(size, tir.IntImm) for size in sizes):
        c.fail("the unbiased variance needs axes of known size")
    count = prod(size.value for size in sizes if isinstance(size, tir.IntImm)) - 1
    return call("divide", call("sum", squares, **options), scalar(float(count), c.kind_of(x)))


def _quantifier(name: str, c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    numbers = call("astype", x, data_type(dtype("int8")))
    reduced = call(name, numbers, axis=_axes(c, x), keepdims=c.flag("keepdims"))
    return call("astype", reduced, data_type(BOOL))


def _index_of(name: str, c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    axis: int | None = None
    match _axes(c, x):
        case (axis,):
            pass
        case (*axes,):
            c.fail(f"expected one axis, found {len(axes)}")
    if c.flag("select_last_index"):
        c.fail("select_last_index is not supported")
    found = call(name, x, axis=axis, keepdims=c.flag("keepdims"))
    return call("astype", found, data_type(SMALL))


def _scan(name: str, c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    kind = c.element_type() if c.given("dtype") else None
    return call(name, x, axis=c.axis(), dtype=kind, exclusive=c.flag("exclusive"))


UNARY = """
    abs acos acosh asin asinh atan atanh bitwise_not ceil cos cosh erf exp floor isfinite isinf
    isnan log logical_not negative round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc
    nn.relu zeros_like ones_like
"""
BINARY = """
    add atan2 bitwise_and bitwise_or bitwise_xor divide equal floor_divide floor_mod greater
    greater_equal left_shift less less_equal logical_and logical_or logical_xor maximum minimum mod
    multiply not_equal power right_shift subtract collapse_sum_like full_like
"""
IDENTITIES = """
    copy annotation.stop_fusion annotation.checkpoint annotation.cast_hint on_device device_copy
"""
FAST = {"fast_exp": "exp", "fast_erf": "erf", "fast_tanh": "tanh"}
"""Names of approximations, which are translated to what they approximate."""
OLD_NAMES = {"mul": "multiply", "sub": "subtract", "div": "divide"}
"""Names that Relay's predecessor and its introduction use."""

ROWS: dict[str, Row] = {
    **{name: same(name, 1) for name in UNARY.split()},
    **{name: same(name, 2) for name in BINARY.split()},
    **{old: same(new, 2) for old, new in OLD_NAMES.items()},
    **{fast: same(exact, 1) for fast, exact in FAST.items()},
    **dict.fromkeys(IDENTITIES.split(), _identity),
    **{name: partial(_reduction, name) for name in ("sum", "mean", "max", "min", "prod")},
    **{name: partial(_index_of, name) for name in ("argmax", "argmin")},
    "logsumexp": _logsumexp,
    **{name: partial(_scan, name) for name in ("cumsum", "cumprod")},
    "all": partial(_quantifier, "min"),
    "any": partial(_quantifier, "max"),
    "log2": partial(_logarithm, 2.0),
    "log10": partial(_logarithm, 10.0),
    "clip": _clip,
    "cast": _cast,
    "cast_like": _cast_like,
    "variance": _variance,
    "where": same("where", 3),
}
