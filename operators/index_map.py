"""Index maps: the new index of each element of a tensor, as a Python function of its indices."""

from __future__ import annotations

import ast as python
from collections.abc import Callable
from functools import cache
from typing import Any

from rlx.grammar.nodes.ast import PrimStructInfo, PrimValue, StructInfo, TensorStructInfo, Var
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import FloatImm, IntImm, OpaqueExpr, PrimExpr, type_of
from rlx.grammar.read.python_syntax import expression_of
from rlx.operators.dim_arithmetic import ONE, ZERO, add, const, floordiv, literal, mul, sub
from rlx.operators.parameters import Ints, Tensor
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import agree, known, ranked, resized
from rlx.operators.site import Dims, Site
from rlx.spec.registry import rule

Range = tuple[PrimExpr, PrimExpr]
"""The least and the greatest value of an index."""


class IndexMap(Record):
    """A parsed index map: the names of the indices, and one expression for each axis of the
    result.
    """

    names: tuple[str, ...]
    results: tuple[python.expr, ...]


class _Unreadable(Exception):
    """An index map says something that this module does not read."""


@cache
def read(text: str) -> IndexMap | None:
    """Parse the map in a text ``lambda i, j: (j, i)``, with or without ``T.index_map(…)`` around
    it.

    Returns
    -------
    IndexMap or None
        None for any other text, and for a map that takes its indices as one tuple.
    """
    try:
        found = expression_of(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if isinstance(found, python.Call) and found.args:
        found = found.args[0]
    if not isinstance(found, python.Lambda) or found.args.vararg or found.args.kwonlyargs:
        return None
    body = found.body
    results = body.elts if isinstance(body, (python.Tuple, python.List)) else [body]
    return IndexMap(tuple(a.arg for a in found.args.args), tuple(results))


def _extent(e: python.expr, names: dict[str, Range]) -> Range:
    """Between which values an expression lies."""
    match e:
        case python.Name(id=name) if name in names:
            return names[name]
        case python.Constant(value=int(value)):
            return const(value), const(value)
        case python.UnaryOp(op=python.USub(), operand=inner):
            low, high = _extent(inner, names)
            return sub(ZERO, high), sub(ZERO, low)
        case python.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return _OPERATIONS[type(op)](_extent(left, names), _extent(right, names))
    raise _Unreadable


def _sum(a: Range, b: Range) -> Range:
    return add(a[0], b[0]), add(a[1], b[1])


def _difference(a: Range, b: Range) -> Range:
    return sub(a[0], b[1]), sub(a[1], b[0])


def _positive(b: Range) -> PrimExpr:
    """The value of a range that is one positive literal."""
    if literal(b[0]) is None or literal(b[0]) != literal(b[1]) or (literal(b[0]) or 0) < 1:
        raise _Unreadable
    return b[0]


def _product(a: Range, b: Range) -> Range:
    if literal(a[0]) is not None and literal(a[0]) == literal(a[1]):
        a, b = b, a
    by = ZERO if literal(b[0]) == literal(b[1]) == 0 else _positive(b)
    return mul(a[0], by), mul(a[1], by)


def _quotient(a: Range, b: Range) -> Range:
    by = _positive(b)
    return floordiv(a[0], by), floordiv(a[1], by)


def _remainder(a: Range, b: Range) -> Range:
    return ZERO, sub(_positive(b), ONE)


_OPERATIONS: dict[type[python.operator], Callable[[Range, Range], Range]] = {
    python.Add: _sum,
    python.Sub: _difference,
    python.Mult: _product,
    python.FloorDiv: _quotient,
    python.Mod: _remainder,
}


def extents(found: IndexMap, dims: Dims) -> list[Range] | None:
    """Between which values each index of the result lies; None if the map is not arithmetic on its
    indices.
    """
    names: dict[str, Range] = {
        name: (ZERO, sub(dim, ONE)) for name, dim in zip(found.names, dims, strict=True)
    }
    try:
        return [_extent(result, names) for result in found.results]
    except _Unreadable:
        return None


@rule("OBL-map", "188d9f67", "obligation")
def mapped(site: Site, found: IndexMap, dims: Dims) -> list[PrimExpr] | None:
    """The dimensions of the mapped tensor, with indices from 0.

    Returns
    -------
    list of PrimExpr, or None
        None if the map does not consist of sums, products, quotients and remainders of its indices.
    """
    ranges = extents(found, dims)
    if ranges is None:
        return None
    sizes = []
    for low, high in ranges:
        if literal(low) is None:
            return None
        if low is not ZERO and literal(low) != 0:
            site.fail(
                "OBL-map-start", f"an index of the result starts at {literal(low)}, not at 0", 1
            )
        sizes.append(add(high, ONE))
    return sizes


def padded(site: Site, x: TensorStructInfo, pad: object) -> None:
    """Check that the padding value is a number of the element type."""
    if pad is None:
        return
    value = pad.value if isinstance(pad, PrimValue) else pad
    if isinstance(pad, Var) and isinstance(site.ctx.info(pad), PrimStructInfo):
        agree(site, (x, site.ctx.info(pad)), (0, 2))  # type: ignore[arg-type]
        return
    if not isinstance(value, (PrimExpr, int, float)):
        site.fail("D14-argument", "pad_value must be a number", 2)
    known(site, "dtype", (0, x))
    spelled = site.call.spelled
    boxed = "R.prim_value" in (spelled.get(2), spelled.get("pad_value"))  # it has its own type
    plain = value.value if isinstance(value, (IntImm, FloatImm)) and not boxed else value
    if isinstance(plain, PrimExpr):
        agree(site, (x, PrimStructInfo(type_of(plain))), (0, 2))
    elif not x.dtype.is_void and not (
        x.dtype.is_computable_float or (x.dtype.is_integer and isinstance(plain, int))
    ):
        site.fail(
            "OBL-agree-dtype",
            (f"pad_value is {plain}, which is not a value of {x.dtype} {site.of(0)}"),
            2,
        )


@operator(
    "relax.layout_transform",
    calls="x(a, b), index_map=index_map('lambda i, j: (j, i)'), pad_value=None",
)
def layout_transform(
    site: Site,
    x: Tensor,
    index_map: Any,
    pad_value: Any | None = None,
    axis_separators: Ints | None = None,
    input_axis_separators: Ints | None = None,
) -> StructInfo:
    """The elements moved to the indices given by an index map; the separators of axes say how
    the result lies in memory.
    """
    given = index_map.value if isinstance(index_map, PrimValue) else index_map
    if not isinstance(given, OpaqueExpr):
        site.fail(
            "D14-argument", "index_map must be a function of the indices: `lambda i, j: (j, i)`", 1
        )
    found = read(given.text)
    if found is None:
        return ranked(None, x.dtype, x.vdevice)
    ndim = site.rank(x)
    if ndim is not None and ndim != len(found.names):
        words = f"index_map takes {len(found.names)} indices, but {site.shown(0)} has rank {ndim}"
        site.fail("OBL-map-rank", words, 1)
    padded(site, x, pad_value)
    known(site, "shape", (0, x))
    dims = site.dims(x)
    sizes = None if dims is None else mapped(site, found, dims)
    return resized(x, None if sizes is None else tuple(sizes), len(found.results))
