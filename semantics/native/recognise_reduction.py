"""Recognition of loops around one reduction, and the memory layout of its operands along each
loop.
"""

from __future__ import annotations

import math

from rlx.grammar.nodes import tir
from rlx.semantics.native import c_types
from rlx.semantics.native.hoisting import bind_axis, loop_range, unguarded
from rlx.semantics.native.ranges import literal
from rlx.semantics.native.state import Generation
from rlx.semantics.native.write_analysis import accesses, loads
from rlx.solver.poly import Polynomial

_FEW = 16
_ROWS = 8
"""The maximum number of rows of a tile."""
_STEPS = range(5)
"""The maximum stride that a vector may gather."""


class Axis:
    """A loop: its variable in C, its first value and its end as C, its extent if that is a
    number.
    """

    __slots__ = ("begin", "count", "end", "name")

    def __init__(self, name: str, begin: str, end: str, count: int | None) -> None:
        self.name = name
        self.begin = begin
        self.end = end
        self.count = count


class LoopReduction:
    """Loops around a block that initialises and updates its own elements.

    Attributes
    ----------
    spatial, reduce
        The loops, outermost first.
    inits
        The stores of ``T.init``, one for each result.
    store
        The update of the first result.
    term
        The added (or compared) term, if the update is a sum or an extremum of the accumulator and a
        term.
    kind
        What combines the two: ``tir.Add``, ``tir.Max`` or ``tir.Min``.
    strict
        Whether an extremum stays NaN once it is.
    certain
        Whether all operands are in bounds, so that they may be loaded in any order.
    product
        The factors of a term that is a product.
    """

    def __init__(
        self,
        state: Generation,
        spatial: list[Axis],
        reduce: list[Axis],
        inits: list[tir.BufferStore],
        updates: list[tir.BufferStore],
        body: tir.Stmt,
    ) -> None:
        self.spatial = spatial
        self.reduce = reduce
        self.inits = inits
        self.init = inits[0]
        self.store = updates[0]
        self.body = body
        simple = isinstance(body, tir.BufferStore)
        self.simple = simple
        self.dtype = c_types.held(self.store.buffer.dtype)
        self.kind: type = type(self.store.value)
        self.term: tir.PrimExpr | None = None
        self.strict = False
        if simple:
            self._find_term(state)
        self.extremum = self.kind in (tir.Max, tir.Min)
        factors = self.term if self.kind is tir.Add else None
        self.product = (factors.a, factors.b) if isinstance(factors, tir.Mul) else None
        self.target: Polynomial | None = None
        self.certain = False
        self.operands: list[Polynomial | None] = []

    def _find_term(self, state: Generation) -> None:
        store, value = self.store, self.store.value
        found = _strict_extremum(store) if isinstance(value, tir.Select) else None
        if found is not None:
            kind, term = found
            if _is_term(state, store, term):
                self.kind, self.term, self.strict = kind, term, True
        elif isinstance(value, (tir.Add, tir.Max, tir.Min)) and store.buffer.dtype.code != "bool":
            sides = [(value.a, value.b)]
            sides += [(value.b, value.a)] if isinstance(value, tir.Add) else []
            for running, term in sides:
                if _is_running(store, running):
                    self.term = term if _is_term(state, store, term) else None
                    return

    def column(self) -> Axis | None:
        """The axis of the result along which the operands are contiguous."""
        if not self.simple or self.short or self.target is None or not self.certain:
            return None
        for axis in reversed(self.spatial):
            steps = [_step(operand, axis) for operand in self.operands]
            near = all(step in _STEPS for step in steps) and any(steps)
            if near and _step(self.target, axis) == 1 and (axis.count is None or axis.count >= 4):
                return axis
        return None

    def join(self) -> None:
        """Make one loop of the innermost loops of the reduction that run over all operands without
        a gap: of the sum of a picture, over its lines and what is in each.
        """
        while len(self.reduce) > 1:
            *others, outer, inner = self.reduce
            if (
                outer.count in (None, 1)
                or inner.count is None
                or {outer.begin, inner.begin} != {"0"}
            ):
                return
            for operand in self.operands:
                line, each = _step(operand, outer), _step(operand, inner)
                if line is None or each is None or line != each * inner.count:
                    return
            count = outer.count * inner.count
            # The outer variable stays 0, and the inner one goes on counting behind its line.
            only = Axis(outer.name, outer.begin, literal(1), 1)
            self.reduce = [only, *others, Axis(inner.name, inner.begin, literal(count), count)]

    @property
    def short(self) -> bool:
        """Whether the whole reduction has few steps, so that it can be unrolled."""
        counts = [axis.count for axis in self.reduce]
        return None not in counts and math.prod(c for c in counts if c is not None) <= _FEW

    def sharing(self, column: Axis) -> Axis | None:
        """Another axis of the result along which a vector of operands stays the same: the last one
        that fills a tile, or the longest.
        """
        found = [
            axis
            for axis in reversed(self.spatial)
            if axis is not column
            and axis.count != 1
            and any(
                _step(operand, column) == 1 and _step(operand, axis) == 0
                for operand in self.operands
            )
        ]
        return max(found, key=lambda axis: min(axis.count or _ROWS, _ROWS), default=None)

    def shared_operands(self, state: Generation, column: Axis, shared: Axis) -> list[tir.PrimExpr]:
        """Elements that are converted from another memory type and shared by the rows of a tile."""
        found = []
        for expr in tir.reached([self.store.value], _factors):
            load = expr.value if isinstance(expr, tir.Cast) else expr
            if isinstance(load, tir.BufferLoad) and load.buffer is not self.store.buffer:
                narrow = str(load.buffer.dtype) in c_types.NARROW
                if (expr is not load or narrow) and self._by_column(state, load, column, shared):
                    found.append(expr)
        return found

    def _by_column(
        self, state: Generation, load: tir.BufferLoad, column: Axis, shared: Axis
    ) -> bool:
        sums = [state.sums.get(var) for var in tir.free_vars(load)]
        if any(value is None or shared.name in value.variables() for value in sums):
            return False
        address = _flat_address(state, load.buffer, load.indices)
        return _step(address, column) == 1 and _step(address, shared) == 0

    def row(self) -> bool:
        """Whether the operands are contiguous along the innermost loop of the reduction."""
        if self.term is None or not self.reduce:
            return False
        *_, inner = self.reduce
        if inner.count is not None and inner.count < 16:
            return False
        steps = [_step(operand, inner) for operand in self.operands]
        return 1 in steps and all(step in (0, 1) for step in steps)

    def apart(self, axis: Axis) -> bool:
        """Whether operands of neighbours along an axis of the result are not neighbours, too."""
        return not all(_step(operand, axis) in (0, 1) for operand in self.operands)

    def plain(self) -> bool:
        """Whether the terms of a row are elements of memory that are certainly in bounds, and
        vectors of them can be combined in C as fast as the compiler does it.
        """
        term, (*_, inner) = self.term, self.reduce
        return (
            isinstance(term, tir.BufferLoad)
            and self.certain
            and term.buffer.dtype == self.store.buffer.dtype
            and str(term.buffer.dtype) not in (*c_types.NARROW, "bool")
            and [_step(operand, inner) for operand in self.operands] == [1]
        )


def _step(address: Polynomial | None, axis: Axis) -> int | None:
    factor = None if address is None else address.coefficient(axis.name)
    return None if factor is None else factor.value


def _is_running(store: tir.BufferStore, expr: tir.PrimExpr) -> bool:
    """Whether an operand is the value so far; a block only loads its own element of the result."""
    return isinstance(expr, tir.BufferLoad) and expr.buffer is store.buffer


def _is_term(state: Generation, store: tir.BufferStore, term: tir.PrimExpr) -> bool:
    """Whether an operand has the type of the result, and does not depend on the value so far."""
    within = [n for n in tir.postorder(term) if isinstance(n, tir.BufferLoad)]
    alike = state.type_of(term) == store.buffer.dtype
    return alike and all(n.buffer is not store.buffer for n in within)


def _strict_extremum(store: tir.BufferStore) -> tuple[type[tir.Binary], tir.PrimExpr] | None:
    """The kind of an extremum that stays NaN, and its term: the value so far is kept where it
    compares so with the term, or is NaN.
    """
    match store.value:
        case tir.Select(
            condition=tir.Or(
                a=tir.LT(a=low, b=high) | tir.GT(a=high, b=low),
                b=tir.Call(op="isnan", args=(tested,)),
            ),
            true_value=running,
            false_value=term,
        ) if _is_running(store, running) and tested == running:
            if (low, high) == (term, running):
                return tir.Max, term
            if (low, high) == (running, term):
                return tir.Min, term
    return None


def recognise(state: Generation, loop: tir.For) -> LoopReduction | None:
    """The reduction formed by a loop and the loops directly inside it, or None; nothing is
    emitted.
    """
    chain, block = _chain(loop)
    if block is None or not _plain(block, chain):
        return None
    assert block.init is not None
    inits = [s for s in tir.flat(block.init) if isinstance(s, tir.BufferStore)]
    updates = [s for s in tir.flat(block.body) if isinstance(s, tir.BufferStore)]
    if not inits or not _own_elements(block, inits, updates):
        return None
    if not all(_rectangular(state, level, chain) for level in chain):
        return None
    kinds = {a.binding: a.kind for a in block.iter_vars}
    spatial: list[Axis] = []
    reduce: list[Axis] = []
    for level in chain:
        name = state.out.fresh("i")
        begin, end = loop_range(state, level, name)
        if level.loop_var not in state.sums:  # it may wrap
            return None
        extent = state.poly(level.extent)
        count = None if extent is None else extent.value
        axes = {"R": reduce, "S": spatial}[kinds[level.loop_var]]
        axes.append(Axis(name, begin, end, count))
    for axis in block.iter_vars:
        bind_axis(state, axis)
    if not all(_inside(state, init.buffer, init.indices) for init in inits):
        return None
    found = LoopReduction(state, spatial, reduce, inits, updates, block.body)
    found.target = _flat_address(state, found.store.buffer, found.store.indices)
    found.certain = all(
        _inside(state, buffer, indices)
        for update in updates
        for buffer, indices, _ in unguarded(update)
    )
    others = [n for n in loads(block.body) if n.buffer is not found.store.buffer]
    found.operands = [_flat_address(state, n.buffer, n.indices) for n in others]
    variables = {axis.var for axis in block.iter_vars} | {level.loop_var for level in chain}
    if found.simple and found.certain and not _in_values(found.store.value, variables):
        found.join()
    return found


def _in_values(value: tir.PrimExpr, variables: set[tir.Var]) -> bool:
    """Whether a variable stands anywhere but in the indices of elements."""
    outside = tir.reached(
        [value], lambda n: () if isinstance(n, tir.BufferLoad) else tir.children(n)
    )
    return any(isinstance(node, tir.Var) and node in variables for node in outside)


def _inside(state: Generation, buffer: tir.Buffer, indices: tuple[tir.PrimExpr, ...]) -> bool:
    """Whether an access certainly lies in its buffer: where one does not, the first that is wrong
    must be found.
    """
    memory = state.memory.get(buffer)
    if memory is None or len(memory.extents) != len(indices):
        return True
    return state.certain(buffer, indices)


def _chain(loop: tir.For) -> tuple[list[tir.For], tir.Block | None]:
    chain: list[tir.For] = []
    stmt: tir.Stmt = loop
    while isinstance(stmt, tir.For):
        chain.append(stmt)
        stmt = stmt.body
    return chain, stmt if isinstance(stmt, tir.Block) else None


def _plain(block: tir.Block, chain: list[tir.For]) -> bool:
    """Whether each loop is bound to one axis, in its whole length, and nothing else is in the
    way.
    """
    if block.init is None or block.predicate is not None or block.alloc_buffers:
        return False
    if any(axis.kind not in ("S", "R") for axis in block.iter_vars):
        return False
    bound = [a.binding for a in block.iter_vars if not isinstance(a.binding, tir.IntImm)]
    loops = {level.loop_var: level for level in chain}
    if len(bound) != len(set(bound)) or set(bound) != set(loops):
        return False
    for axis in block.iter_vars:
        level = loops.get(axis.binding) if isinstance(axis.binding, tir.Var) else None
        if axis.kind == "R" and (level is None or not _from_the_first(axis, level)):
            return False
    return all(isinstance(s, (tir.BufferStore, tir.LetStmt)) for s in tir.flat(block.body)) and all(
        isinstance(s, tir.BufferStore) for s in tir.flat(block.init)
    )


def _from_the_first(axis: tir.IterVar, level: tir.For) -> bool:
    """Whether an axis of the reduction begins where its loop does."""
    match axis.dom, level.min:
        case None, _:
            return True
        case (tir.IntImm(value=first), _), tir.IntImm(value=low):
            return first == low
    return False


def _own_elements(
    block: tir.Block, inits: list[tir.BufferStore], updates: list[tir.BufferStore]
) -> bool:
    """Whether each point of the spatial axes has elements of its own, and touches no others."""
    results = {init.buffer: init.indices for init in inits}
    if len(results) != len(inits) or [u.buffer for u in updates] != [i.buffer for i in inits]:
        return False
    spatial = {
        axis.var
        for axis in block.iter_vars
        if axis.kind == "S" and not isinstance(axis.binding, tir.IntImm)
    }
    fixed = {axis.var for axis in block.iter_vars if isinstance(axis.binding, tir.IntImm)}
    for indices in results.values():
        names = [i for i in indices if not isinstance(i, tir.IntImm) and i not in fixed]
        if len(names) != len(set(names)) or set(names) != spatial:
            return False
    assert block.init is not None
    if any(node.buffer in results for node in loads(block.init)):
        return False
    touched = [n for n in accesses(block.body) if n.buffer in results]
    return all(same_indices(n.indices, results[n.buffer]) for n in touched)


def same_indices(a: tuple[tir.PrimExpr, ...], b: tuple[tir.PrimExpr, ...]) -> bool:
    """Whether two accesses are certainly to the same element."""
    return len(a) == len(b) and all(
        x is y or (isinstance(x, tir.IntImm) and isinstance(y, tir.IntImm) and x.value == y.value)
        for x, y in zip(a, b, strict=True)
    )


def _rectangular(state: Generation, level: tir.For, chain: list[tir.For]) -> bool:
    """Whether a loop's range is fixed before the outermost loop; one that certainly never runs is
    no reduction.
    """
    low, extent = state.poly(level.min), state.poly(level.extent)
    if low is None or extent is None or (extent.value is not None and extent.value <= 0):
        return False
    inside = {level.loop_var for level in chain}
    free = {*tir.free_vars(level.min), *tir.free_vars(level.extent)}
    return not free & inside and not (low.variables() | extent.variables()) & state.invented


def _flat_address(
    state: Generation, buffer: tir.Buffer, indices: tuple[tir.PrimExpr, ...]
) -> Polynomial | None:
    """The offset of an element as a sum over loop variables and symbols."""
    memory = state.memory.get(buffer)
    if memory is None or len(memory.extents) != len(indices):
        return None
    offset = state.offset(memory, indices)
    return None if offset is None or offset.variables() & state.invented else offset


def _factors(expr: tir.PrimExpr) -> tuple[tir.PrimExpr, ...]:
    """The operands of arithmetic. A converted element is one operand."""
    if isinstance(expr, tir.Cast) and isinstance(expr.value, tir.BufferLoad):
        return ()
    plain = isinstance(expr, (tir.Add, tir.Sub, tir.Mul, tir.Max, tir.Min, tir.Cast))
    return tir.children(expr) if plain else ()
