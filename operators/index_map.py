"""Index maps: the new index of each element of a tensor, as a Python function of its indices."""

from __future__ import annotations

import ast as python
import operator as plain
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from rlx.grammar.nodes.ast import PrimStructInfo, PrimValue, StructInfo, TensorStructInfo, Var
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import FloatImm, IntImm, OpaqueExpr, PrimExpr, type_of
from rlx.grammar.read.python_syntax import expression_of
from rlx.operators import arrays
from rlx.operators.arrays import Array, Kind
from rlx.operators.dim_arithmetic import ONE, ZERO, add, const, floordiv, literal, mul, sub
from rlx.operators.evaluation import OperatorFault
from rlx.operators.late import np
from rlx.operators.operator_call import Dims, OperatorCall
from rlx.operators.parameters import Ints, Tensor
from rlx.operators.registry import computes, operator
from rlx.operators.rule_helpers import agree, need_known, ranked, resized
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


@rule("OBL-map", "obligation")
def mapped(site: OperatorCall, found: IndexMap, dims: Dims) -> list[PrimExpr] | None:
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


def padded(site: OperatorCall, x: TensorStructInfo, pad: object) -> None:
    """Check that the padding value is a number of the element type."""
    if pad is None:
        return
    value = pad.value if isinstance(pad, PrimValue) else pad
    if isinstance(pad, Var) and isinstance(site.ctx.info(pad), PrimStructInfo):
        agree(site, (x, site.ctx.info(pad)), (0, 2))  # type: ignore[arg-type]
        return
    if not isinstance(value, (PrimExpr, int, float)):
        site.fail("D14-argument", "pad_value must be a number", 2)
    need_known(site, "dtype", (0, x))
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
            f"pad_value is {plain}, which is not a value of {x.dtype} {site.of(0)}",
            2,
        )


@operator(
    "relax.layout_transform",
    kept="its index map is a text, which legalization does not parse",
    calls="x(a, b), index_map=index_map('lambda i, j: (j, i)'), pad_value=None",
    broken="""
    OBL-map-rank: f(a, b), index_map=index_map('lambda i: (i,)'), pad_value=None
    OBL-map-rank: f(a), index_map=index_map('lambda i, j: (j, i)'), pad_value=None
    OBL-map-start: f(a, b), index_map=index_map('lambda i, j: (i, j + 1)'), pad_value=None
    """,
)
def layout_transform(
    site: OperatorCall,
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
    need_known(site, "shape", (0, x))
    dims = site.dims(x)
    sizes = None if dims is None else mapped(site, found, dims)
    return resized(x, None if sizes is None else tuple(sizes), len(found.results))


_ARITHMETIC: dict[type[python.operator], Callable[[Any, Any], Any]] = {
    python.Add: plain.add,
    python.Sub: plain.sub,
    python.Mult: plain.mul,
    python.FloorDiv: plain.floordiv,
    python.Mod: plain.mod,
}


@computes("relax.layout_transform")
@rule("E-layout", "computation")
def layout_transform_value(
    x: Array, index_map: str, pad_value: float | None, *separators: object
) -> Array:
    """Each element at its new index; places without an element have the padding value, or 0.

    The separators of axes change no value.
    """
    found = read(index_map)
    if found is None or len(found.names) != x.ndim:
        raise OperatorFault(
            "E-layout-map", f"{index_map} is not a map of {x.ndim} indices that is evaluated"
        )
    shape = _shape(index_map, found, x.shape)
    names: dict[str, Any] = dict(zip(found.names, np.indices(x.shape, sparse=True), strict=True))
    places = tuple(np.broadcast_to(_number(e, names), x.shape) for e in found.results)
    taken = np.zeros(shape, np.bool_)
    taken[places] = True
    if int(taken.sum()) != x.size:
        raise OperatorFault("E-layout-place", f"{index_map} moves several elements to one index")
    made = np.full(shape, _padding(pad_value, x.dtype), x.dtype)
    made[places] = x
    return made


def _padding(value: float | None, kind: Kind) -> Any:
    """The element for places that have none."""
    if value is None or arrays.is_float(kind):
        with np.errstate(all="ignore"):
            return np.asarray(0.0 if value is None else float(value)).astype(kind)
    low, high = (0, 1) if kind.kind == "b" else arrays.integer_range(kind)
    if isinstance(value, float) or not low <= value <= high:
        words = f"the padding {value} is not an element of type {kind} ({low} to {high})"
        raise OperatorFault("E-layout-pad", words)
    return np.asarray(value).astype(kind)


def _shape(text: str, found: IndexMap, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The lengths of the result, as the operator's type has them."""
    ranges = extents(found, tuple(const(size) for size in shape))
    sizes = [] if ranges is None else [literal(high) for _, high in ranges]
    if ranges is None or any(size is None for size in sizes):
        raise OperatorFault("E-layout-map", f"{text} has no sums, products and quotients alone")
    return tuple(max(size or 0, -1) + 1 for size in sizes)


def _number(e: python.expr, names: Mapping[str, Any]) -> Any:
    """The value of an expression that :func:`extents` has accepted, for all indices at once."""
    match e:
        case python.Name(id=name):
            return names[name]
        case python.Constant(value=value):
            return value
        case python.UnaryOp(operand=inner):
            return -_number(inner, names)
        case python.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_number(left, names), _number(right, names))
    raise AssertionError(python.dump(e))
