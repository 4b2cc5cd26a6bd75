"""Rows of the operator table: shapes, indices, creation, sorting."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import isfinite

from rlx.grammar.nodes import ast, tir
from rlx.relay.elementwise_rows import Row
from rlx.relay.layout_rows import layout_transform
from rlx.relay.translated_call import (
    LARGE,
    TranslatedCall,
    call,
    data_type,
    parts_of,
    prim,
    reshaped,
    sizes,
    times,
)


def _number(c: TranslatedCall, operand: ast.Expr, what: str, finite: bool = False) -> float:
    """The number of an operand that is a constant of rank 0."""
    value = operand.data.value if isinstance(operand, ast.Constant) else None
    if isinstance(value, int | float) and (isfinite(value) or not finite):
        return value
    return c.fail(f"{what} must be a constant number")


def _reshape(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    shape = c.integers("newshape")
    if min(shape, default=0) >= -1 and not c.flag("allowzero"):
        return reshaped(c, x, shape)
    return call("reshape", x, ast.ShapeExpr(tuple(_rewritten(c, shape, c.dims(x)))))


def _rewritten(
    c: TranslatedCall, shape: tuple[int, ...], dims: tuple[tir.PrimExpr, ...]
) -> Iterator[tir.PrimExpr]:
    """The dimensions that the special numbers of ``newshape`` stand for: 0 is the dimension at
    hand, -1 what is left, -2 all further ones, -3 the product of two, -4 one in two parts.
    """
    codes, rest = list(shape), list(dims)

    def take() -> tir.PrimExpr:
        return (
            rest.pop(0) if rest else c.fail("newshape needs more dimensions than the operand has")
        )

    while codes:
        code = codes.pop(0)
        match code:
            case 0 if not c.flag("allowzero"):
                yield take()
            case -2:
                yield from rest
                rest.clear()
            case -3:
                yield times(take(), take())
            case -4:
                yield from _halves(c, take(), codes[:2])
                del codes[:2]
            case _ if code < -4:
                c.fail(f"{code} has no meaning in newshape")
            case _:
                rest = rest[1:]
                yield tir.IntImm(code)


def _halves(c: TranslatedCall, dim: tir.PrimExpr, parts: list[int]) -> tuple[tir.PrimExpr, ...]:
    """A dimension in two parts, of which one may follow from the other (-1)."""
    match parts:
        case [-1, size] if size > 0:
            return parts_of(dim, size), tir.IntImm(size)
        case [size, -1] if size > 0:
            return tir.IntImm(size), parts_of(dim, size)
        case [one, other] if one > 0 and other > 0:
            return tir.IntImm(one), tir.IntImm(other)
    return c.fail("expected two sizes after -4 in newshape, at most one of them -1")


def _like(name: str, c: TranslatedCall) -> ast.Expr:
    x, like = c.operands(2)
    return call(name, x, ast.ShapeExpr(c.dims(like)))


def _coordinates(c: TranslatedCall, indices: ast.Expr) -> ast.Expr:
    """Relay counts coordinates along the first axis of indices, Relax along the last."""
    turned = call("permute_dims", indices, axes=(*range(1, c.rank(indices)), 0))
    return turned if c.kind_of(indices) == LARGE else call("astype", turned, data_type(LARGE))


def _scatter_nd(c: TranslatedCall) -> ast.Expr:
    x, indices, updates = c.operands(3)
    reduction = c.string("mode", "update")
    return call("scatter_nd", x, _coordinates(c, indices), updates, reduction=reduction)


def _transpose(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    axes = c.axes("axes")
    return call("permute_dims", x, axes=axes or None)


def _expand_dims(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    axis, count = c.integer("axis"), c.integer("num_newaxis", 1)
    if axis < 0 and count != 1:
        c.fail("expected axis >= 0 for more than one new axis")
    return call("expand_dims", x, axis=tuple(range(axis, axis + count)))


def _squeeze(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return call("squeeze", x, axis=c.axes())


def _fields(c: TranslatedCall) -> ast.Tuple:
    """The fields of the one operand, which is a tuple."""
    (parts,) = c.operands(1)
    return ast.Tuple(tuple(ast.TupleGetItem(parts, at) for at in range(c.fields(parts))))


def _joined(name: str, c: TranslatedCall) -> ast.Expr:
    return call(name, _fields(c), axis=c.integer("axis", 0))


def _split(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    given = c.given("indices_or_sections")
    ways = given if isinstance(given, int) else c.integers("indices_or_sections")
    return call("split", x, indices_or_sections=ways, axis=c.integer("axis", 0))


def _take(c: TranslatedCall) -> ast.Expr:
    x, indices = c.operands(2)
    if c.integer("batch_dims", 0):
        c.fail("batch_dims are not supported")
    return call("take", x, indices, axis=c.axis(), mode=c.string("mode", "clip"))


def _strided_slice(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    begin, end = c.integers("begin"), c.integers("end")
    axes = c.axes("axes") or tuple(range(len(begin)))
    if {len(begin)} != {len(end), len(axes)}:
        c.fail("begin, end and axes have different lengths")
    strides = c.axes("strides") or (1,)
    if len(strides) == 1:
        strides *= len(axes)
    if c.string("slice_mode", "end") == "size":
        whole = (1 << 31) - 1
        end = tuple(whole if n < 0 else b + n for b, n in zip(begin, end, strict=True))
        strides = (1,) * len(axes)
    return call("strided_slice", x, axes=axes, begin=begin, end=end, strides=strides)


def _slice_like(c: TranslatedCall) -> ast.Expr:
    """The front of some axes, as long as those of the second operand; without axes, of all."""
    x, like = c.operands(2)
    rank, given = c.rank(x), c.axes("axes") or tuple(range(c.rank(x)))
    axes, lengths = [axis % rank if -rank <= axis < rank else axis for axis in given], c.dims(like)
    if not all(axis in range(min(rank, len(lengths))) for axis in axes):
        c.fail(
            f"the axes {list(given)} are not those of operands of rank {rank} and {len(lengths)}"
        )
    _fit(c, [(c.dims(x)[axis], lengths[axis]) for axis in axes])
    bounds = (map(tir.IntImm, axes), (tir.IntImm(0) for _ in axes), (lengths[a] for a in axes))
    return call("strided_slice", x, *(ast.Tuple(tuple(map(ast.PrimValue, b))) for b in bounds))


def _fit(c: TranslatedCall, pairs: list[tuple[tir.PrimExpr, tir.PrimExpr]]) -> None:
    for pair in pairs:
        length, wanted = (dim.value if isinstance(dim, tir.IntImm) else None for dim in pair)
        if length is not None and wanted is not None and wanted > length:
            c.fail(f"an axis of length {length} has no {wanted} elements")


def _full(c: TranslatedCall) -> ast.Expr:
    (value,) = c.operands(1)
    kind = c.element_type() if c.given("dtype") else None
    return call("full", sizes(c.integers("shape")), value, dtype=kind)


def _filled(name: str, c: TranslatedCall) -> ast.Expr:
    c.operands(0)
    return call(name, sizes(c.integers("shape")), dtype=c.element_type())


def _arange(c: TranslatedCall) -> ast.Expr:
    numbers = [prim(_number(c, each, "a bound of arange")) for each in c.operands(3)]
    return call("arange", *numbers, dtype=c.element_type(default="float32"))


def _one_hot(c: TranslatedCall) -> ast.Expr:
    indices, *values = c.operands(3)
    on, off = (_typed(c, each) for each in values)
    made = call("one_hot", indices, on, off, depth=c.integer("depth"), axis=c.integer("axis", -1))
    kind = c.element_type(default="float32")
    return made if kind == c.kind_of(values[0]) else call("astype", made, data_type(kind))


def _typed(c: TranslatedCall, operand: ast.Expr) -> ast.PrimValue:
    """A constant of rank 0 as a scalar of its type."""
    value, kind = _number(c, operand, "a value of one_hot"), c.kind_of(operand)
    if kind.is_float:
        return ast.PrimValue(tir.FloatImm(float(value), kind))
    return ast.PrimValue(tir.IntImm(int(value), kind))


def _broadcast_to(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return call("broadcast_to", x, sizes(c.integers("shape")))


def _tile(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return call("tile", x, repeats=c.integers("reps"))


def _repeat(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return call("repeat", x, repeats=c.integer("repeats"), axis=c.axis())


def _reverse(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return call("flip", x, axis=c.integer("axis"))


def _gather(c: TranslatedCall) -> ast.Expr:
    x, indices = c.operands(2)
    return call("gather_elements", x, indices, axis=c.integer("axis"))


def _gather_nd(c: TranslatedCall) -> ast.Expr:
    x, indices = c.operands(2)
    c.given("index_rank")
    batch = c.integer("batch_dims", 0)
    return call("gather_nd", x, _coordinates(c, indices), batch_dims=batch)


def _scatter_elements(c: TranslatedCall) -> ast.Expr:
    reduction = c.string("reduction", "update")
    return call("scatter_elements", *c.operands(3), axis=c.integer("axis", 0), reduction=reduction)


def _sort(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    descending = not c.flag("is_ascend", True)
    return call("sort", x, axis=c.integer("axis", -1), descending=descending)


def _argsort(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    descending, axis = not c.flag("is_ascend", True), c.integer("axis", -1)
    return call(
        "argsort", x, axis=axis, descending=descending, dtype=c.element_type(default="int32")
    )


def _topk(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return call(
        "topk",
        x,
        k=c.integer("k", 1),
        axis=c.integer("axis", -1),
        ret_type=c.string("ret_type", "both"),
        largest=not c.flag("is_ascend"),
        dtype=c.element_type(default="int32"),
    )


def _shape_of(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    found = call("shape_to_tensor", call("shape_of", x))
    return call("astype", found, data_type(c.element_type(default="int32")))


def _argwhere(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return call(
        "astype",
        call("permute_dims", call("nonzero", x)),
        data_type(c.element_type(default="int32")),
    )


def _trilu(c: TranslatedCall) -> ast.Expr:
    x, diagonal = c.operands(2)
    k = int(_number(c, diagonal, "the diagonal of trilu", finite=True))
    return call("triu" if c.flag("upper", True) else "tril", x, prim(k))


def _einsum(c: TranslatedCall) -> ast.Expr:
    return call("einsum", _fields(c), subscripts=c.string("equation"))


def _meshgrid(c: TranslatedCall) -> ast.Expr:
    return call("meshgrid", _fields(c), indexing=c.string("indexing", "ij"))


def _reverse_sequence(c: TranslatedCall) -> ast.Expr:
    return call(
        "reverse_sequence",
        *c.operands(2),
        seq_axis=c.integer("seq_axis", 1),
        batch_axis=c.integer("batch_axis", 0),
    )


ROWS: dict[str, Row] = {
    "arange": _arange,
    "argsort": _argsort,
    "argwhere": _argwhere,
    "broadcast_to": _broadcast_to,
    "concatenate": partial(_joined, "concat"),
    "einsum": _einsum,
    "expand_dims": _expand_dims,
    "full": _full,
    "gather": _gather,
    "broadcast_to_like": partial(_like, "broadcast_to"),
    "gather_nd": _gather_nd,
    "layout_transform": layout_transform,
    "reshape_like": partial(_like, "reshape"),
    "scatter_nd": _scatter_nd,
    "meshgrid": _meshgrid,
    "one_hot": _one_hot,
    "ones": partial(_filled, "ones"),
    "repeat": _repeat,
    "reshape": _reshape,
    "reverse": _reverse,
    "reverse_sequence": _reverse_sequence,
    "scatter_elements": _scatter_elements,
    "shape_of": _shape_of,
    "slice_like": _slice_like,
    "sort": _sort,
    "split": _split,
    "squeeze": _squeeze,
    "stack": partial(_joined, "stack"),
    "strided_slice": _strided_slice,
    "take": _take,
    "tile": _tile,
    "topk": _topk,
    "transpose": _transpose,
    "trilu": _trilu,
    "zeros": partial(_filled, "zeros"),
}
