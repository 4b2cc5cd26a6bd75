"""Bottom-up merge sort along an axis, with n log n steps for n elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT64
from rlx.operators import exprs
from rlx.operators.late import externals, te


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
