"""Sorting along an axis, and draws from a distribution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import BOOL, INT32, INT64, VOID, DataType
from rlx.grammar.nodes.tir import GE
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array
from rlx.operators.dim_arithmetic import const, literal
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result
from rlx.operators.indexing import from_zero
from rlx.operators.late import externals, np, te
from rlx.operators.parameters import Count, Tensor, Type
from rlx.operators.registry import computes, defines, operator
from rlx.operators.rule_helpers import axis, choice, elements, fields, like, rank, ranked, resized
from rlx.operators.site import Dims, Site, show
from rlx.spec.registry import rule


def places(x: te.Tensor, along: int, descending: bool) -> te.Tensor:
    """The indices of the sorted elements along an axis; the sort is stable, and NaN comes last.

    In the reverse order NaN comes first, because the ascending order has it last.
    """

    def fill(
        read: Sequence[tir.Buffer], outs: Sequence[tir.Buffer]
    ) -> tuple[tuple[tir.Buffer, ...], tir.Stmt]:
        (given,), (out,) = read, outs
        line = _Sorter(given, out, along, descending)
        return line.work, line.every()

    return externals.external(x.shape, (x,), fill, "T_places", INT64)


class _Sorter:
    """The statements that sort the lines of a buffer, one after the other.

    Attributes
    ----------
    order
        Two rows of places: runs in order are merged from one of them to the other.
    half, width
        Which row has the runs, and how long they are.
    left, right
        How far two runs that are merged are read.
    work
        All these buffers.
    """

    def __init__(self, x: tir.Buffer, out: tir.Buffer, along: int, descending: bool) -> None:
        self.x, self.out, self.along, self.descending = x, out, along, descending
        self.axes = [tir.Var(f"i{k}", INT64) for k in range(len(x.shape))]
        self.n = te.Scalar(x.shape[along], INT64)
        two, one = exprs.int64(2).node, exprs.int64(1).node
        self.order = tir.Buffer("order", (two, self.n.node), INT64)
        self.half, self.width, self.left, self.right = (
            tir.Buffer(name, (one,), INT64) for name in ("half", "width", "left", "right")
        )
        self.work = (self.order, self.half, self.width, self.left, self.right)

    def every(self) -> tir.Stmt:
        """Sort every line."""
        found = _sequence(self._sorted())
        for k, var in reversed([*enumerate(self.axes)]):
            if k != self.along:
                found = _loop(var, te.Scalar(self.x.shape[k], INT64), found)
        return found

    def _sorted(self) -> Iterator[tir.Stmt]:
        """Begin with runs of one element; merge them until one run is as long as the line."""
        k = tir.Var("k", INT64)
        yield _loop(k, self.n, _store(self.order, [exprs.int64(0), _var(k)], _var(k)))
        yield _set(self.half, exprs.int64(0))
        yield _set(self.width, exprs.int64(1))
        row, width = _value(self.half), _value(self.width)
        pair, both_runs = tir.Var("pair", INT64), width * 2
        pairs = te.ceildiv(self.n, both_runs)
        ends = [_set(self.half, 1 - row), _set(self.width, both_runs)]
        merge = _loop(pair, pairs, _sequence(self._merged(_var(pair))))
        yield tir.While((width < self.n).node, _sequence([merge, *ends]))
        at = self.axes[self.along]
        place = tuple(self.axes)
        found = _load(self.order, [row, _var(at)])
        yield _loop(at, self.n, tir.BufferStore(self.out, place, found.node))

    def _merged(self, pair: te.Scalar) -> Iterator[tir.Stmt]:
        """Merge two runs that stand beside each other."""
        width = _value(self.width)
        start, middle, end = (tir.Var(name, INT64) for name in ("start", "middle", "end"))
        yield tir.LetStmt(start, (pair * width * 2).node)
        yield tir.LetStmt(middle, te.minimum(_var(start) + width, self.n).node)
        yield tir.LetStmt(end, te.minimum(_var(middle) + width, self.n).node)
        yield _set(self.left, _var(start))
        yield _set(self.right, _var(middle))
        k = tir.Var("k", INT64)
        row, left, right = (_value(each) for each in (self.half, self.left, self.right))

        def take(side: tir.Buffer) -> tir.Stmt:
            place = _load(self.order, [row, _value(side)])
            at = _var(start) + _var(k)
            return _sequence(
                [_store(self.order, [1 - row, at], place), _set(side, _value(side) + 1)]
            )

        # A choice, since machine code of TVM evaluates both operands of `and` and `or`.
        lower = te.if_then_else(left < _var(middle), self._before(right, left), True)
        from_right = te.if_then_else(right < _var(end), lower, False)
        choice = tir.IfThenElse(from_right.node, take(self.right), take(self.left))
        yield _loop(k, _var(end) - _var(start), choice)

    def _before(self, a: te.Scalar, b: te.Scalar) -> te.Scalar:
        """Whether the element of one place in the row comes strictly before that of another."""
        one, other = self._element(a), self._element(b)
        return _less(other, one) if self.descending else _less(one, other)

    def _element(self, at: te.Scalar) -> te.Scalar:
        place = _load(self.order, [_value(self.half), at])
        found = exprs.wide(
            _load(self.x, [place if k == self.along else _var(v) for k, v in enumerate(self.axes)])
        )
        return te.cast("int8", found) if found.dtype == BOOL else found


def _less(a: te.Scalar, b: te.Scalar) -> te.Scalar:
    """Whether one element comes before another in ascending order."""
    if not a.dtype.is_float:
        return a < b
    return te.any(a < b, exprs.both(~te.isnan(a), te.isnan(b)))


# ---------------------------------------------------------------- statements


def _var(var: tir.Var) -> te.Scalar:
    return te.Scalar(var, var.dtype)


def _load(buffer: tir.Buffer, at: Sequence[te.Scalar]) -> te.Scalar:
    return te.Scalar(tir.BufferLoad(buffer, tuple(i.node for i in at)), buffer.dtype)


def _store(buffer: tir.Buffer, at: Sequence[te.Scalar], value: te.Scalar) -> tir.Stmt:
    return tir.BufferStore(buffer, tuple(i.node for i in at), value.node)


def _value(buffer: tir.Buffer) -> te.Scalar:
    """The number that a buffer of one element holds."""
    return _load(buffer, [exprs.int64(0)])


def _set(buffer: tir.Buffer, value: te.Scalar) -> tir.Stmt:
    return _store(buffer, [exprs.int64(0)], value)


def _loop(var: tir.Var, extent: te.Scalar, body: tir.Stmt) -> tir.Stmt:
    return tir.For(var, exprs.int64(0).node, extent.node, "serial", body)


def _sequence(stmts: Iterator[tir.Stmt] | Sequence[tir.Stmt]) -> tir.Stmt:
    return tir.SeqStmt(tuple(stmts))


@operator(
    "relax.sort",
    calls="t(a, b) | t(a), axis=None | 0 | -1, descending=None | True",
    broken="OBL-axis-range: f(a), axis=1",
)
def sort(site: Site, x: Tensor, axis_: int = -1, descending: int = False) -> StructInfo:
    """The elements in order along an axis."""
    ndim = site.rank(x)
    if ndim is not None:
        axis(site, axis_, ndim, x)
    return x


@computes("relax.sort")
def sort_value(x: Array, axis: int, descending: int) -> Array:
    along = arrays.axis_of(axis, x.ndim)
    return np.take_along_axis(x, order(x, along, bool(descending)), along)


@defines("relax.sort")
def sort_definition(out: Result, x: te.Tensor, axis: int, descending: int) -> te.Tensor:
    along = exprs.axis_of(axis, x.ndim)
    at = places(x, along, bool(descending))
    return exprs.filled(out, lambda *i: _taken(x, at, along, i))


@operator(
    "relax.argsort",
    calls="t(a, b) | t(a), axis=None | 0 | -1, descending=None | True, dtype=None | 'int64'",
)
def argsort(
    site: Site, data: Tensor, axis: int = -1, descending: int = False, dtype: Type | None = INT32
) -> StructInfo:
    """The indices of the sorted elements along an axis."""
    return like(sort(site, data, axis, descending), dtype or VOID)  # type: ignore[arg-type]


@computes("relax.argsort")
def argsort_value(x: Array, axis: int, descending: int, kind: DataType | None) -> Array:
    found = order(x, arrays.axis_of(axis, x.ndim), bool(descending))
    return arrays.back(found, arrays.kind_of(kind, np.dtype(np.int32)))


@defines("relax.argsort")
def argsort_definition(
    out: Result, x: te.Tensor, axis: int, descending: int, dtype: DataType | None
) -> te.Tensor:
    at = places(x, exprs.axis_of(axis, x.ndim), bool(descending))
    return exprs.filled(out, lambda *i: exprs.convert(at(*i), out.dtype))


@rule("OBL-topk", "obligation")
def chosen(site: Site, dims: Dims, along: int, count: int) -> None:
    """Check that the axis has at least k elements."""
    length = dims[along]
    if literal(length) is not None and (literal(length) or 0) >= count:
        site.ctx.discharged += 1
        return
    site.require(
        "OBL-topk-count",
        GE(length, const(count)),
        lambda: f"k is {count}, but axis {along} has length {show(length)} {site.of(0)}",
        0,
    )


@operator(
    "relax.topk",
    calls="""
    f(a, 8), k=2 | 1 | 8 | -1, axis=-1 | 1, ret_type=None | 'values' | 'indices', largest=None | False, dtype=None | 'int64'
    f(8), k=3 | 0, axis=None
    """,
    broken="""
    OBL-topk-count: f(a, 3), k=5, axis=-1
    OBL-choice-word: f(a, 4), k=2, ret_type='value'
    """,
)
def topk(
    site: Site,
    data: Tensor,
    k: Count = 1,
    axis_: int = -1,
    ret_type: str = "both",
    largest: int = True,
    dtype: Type | None = INT32,
) -> StructInfo:
    """The first ``k`` sorted elements along an axis (all, if ``k`` is not positive), and their
    indices.
    """
    ndim, dims = site.rank(data), site.dims(data)
    if ndim is None or dims is None:
        values = ranked(ndim, data.dtype, data.vdevice)
    else:
        along = axis(site, axis_, ndim)
        values = data
        if k > 0:
            chosen(site, dims, along, k)
            values = resized(data, (*dims[:along], const(k), *dims[along + 1 :]), ndim)
    places = like(values, dtype or VOID)
    choice(site, "ret_type", ret_type, ("both", "values", "indices"))
    return {"values": values, "indices": places}.get(ret_type) or fields((values, places))


@computes("relax.topk")
def topk_value(
    x: Array, count: int, axis: int, wanted: str, largest: int, kind: DataType | None
) -> Any:
    along = arrays.axis_of(axis, x.ndim)
    length = x.shape[along]
    if count > length:
        raise OperatorFault("E-index-range", f"k is {count}, but the axis has length {length}")
    found = order(x, along, bool(largest))
    first = np.take(found, np.arange(count if count > 0 else length), along)
    values, where = (
        np.take_along_axis(x, first, along),
        arrays.back(first, arrays.kind_of(kind, np.dtype(np.int32))),
    )
    return {"values": values, "indices": where}.get(wanted, (values, where))


@defines("relax.topk")
def topk_definition(
    out: Any, x: te.Tensor, count: int, axis: int, wanted: str, largest: int, dtype: DataType | None
) -> Any:
    """The first k sorted elements along an axis, and their indices."""
    along = exprs.axis_of(axis, x.ndim)
    at = places(x, along, bool(largest))

    def values(target: Result) -> te.Tensor:
        return exprs.filled(target, lambda *i: _taken(x, at, along, i), "T_topk_values")

    def indices(target: Result) -> te.Tensor:
        return exprs.filled(
            target, lambda *i: exprs.convert(at(*i), target.dtype), "T_topk_indices"
        )

    match wanted:
        case "values":
            return values(out)
        case "indices":
            return indices(out)
    first, second = out
    return values(first), indices(second)


@rule("OBL-draws", "obligation")
def draws(site: Site, sample: TensorStructInfo, indices: TensorStructInfo) -> None:
    """Check that samples and indices are columns of equal length."""
    a, b = site.dims(sample), site.dims(indices)
    for index, dims in ((1, a), (2, b)):
        if dims is not None:
            site.equal(
                "OBL-draws-column",
                dims[1],
                const(1),
                lambda index=index: f"{site.shown(index)} must have shape (n, 1)",  # type: ignore[misc]
                index,
            )
    if a is not None and b is not None:
        site.equal(
            "OBL-draws-count",
            a[0],
            b[0],
            lambda: (
                f"{show(a[0])} samples {site.of(1)} do not match {show(b[0])} indices {site.of(2)}"
            ),
            2,
        )


@operator(
    "relax.multinomial_from_uniform",
    kept="it has requirements that a tensor expression cannot check",
    calls="float32(a, b), float32(c, 1), int64(c, 1), dtype=None | 'int32'",
    broken="""
    OBL-draws-column: float32(a, b), float32(c, 2), int64(c, 1), dtype='int64'
    OBL-draws-count: float32(a, b), float32(5, 1), int64(6, 1), dtype='int64'
    """,
)
def multinomial(
    site: Site, prob: Tensor, uniform_sample: Tensor, sample_indices: Tensor, dtype: Type = INT64
) -> StructInfo:
    """One draw from a row's distribution for each uniform sample."""
    elements(site, prob, 0, "float")
    elements(site, uniform_sample, 1, "float")
    elements(site, sample_indices, 2, "signed")
    for index, info in enumerate((prob, uniform_sample, sample_indices)):
        rank(site, info, index, 2)
    draws(site, uniform_sample, sample_indices)
    return like(uniform_sample, dtype or VOID)


_SUM = 1e-2
"""The tolerance of a distribution's sum; float16 has three digits."""


@computes("relax.multinomial_from_uniform")
@rule("E-draw", "computation")
def multinomial_from_uniform_value(
    prob: Array, sample: Array, indices: Array, kind: DataType | None
) -> Array:
    rows = from_zero(indices.reshape(-1), prob.shape[0], negative=False)
    chances = arrays.wide(prob)
    wrong = ~(chances >= 0).all(axis=-1) | ~np.isclose(chances.sum(axis=-1), 1, atol=_SUM)
    for row in rows:
        if wrong[row]:
            raise OperatorFault(
                "E-draw-distribution", (f"row {row} is not a probability distribution")
            )
    below = np.cumsum(chances, axis=-1)[rows]
    drawn = np.sum(below <= arrays.wide(sample).reshape(-1, 1), axis=-1)
    last = prob.shape[-1] - 1
    return arrays.back(
        np.minimum(drawn, last).reshape(sample.shape), arrays.kind_of(kind, np.dtype(np.int64))
    )


# ---------------------------------------------------------------- values


def order(x: Array, along: int, descending: bool) -> Array:
    """The indices of the sorted elements; the sort is stable, and NaN comes last."""
    w = arrays.wide(x)
    if not descending:
        return np.argsort(w, axis=along, kind="stable")
    # Sorting the reverse and turning it round keeps equal elements in order.
    turned = np.argsort(np.flip(w, along), axis=along, kind="stable")
    return np.flip(w.shape[along] - 1 - turned, along)


# ---------------------------------------------------------------- definitions


def _taken(x: te.Tensor, at: te.Tensor, along: int, indices: tuple[te.Scalar, ...]) -> te.Scalar:
    return x(*(at(*indices) if a == along else v for a, v in enumerate(indices)))
