"""TIR11: accesses that certainly leave their buffer.

Only what runs in any case is looked at: no branch, no body of a `while` loop, no block with a
condition, and nothing behind what may end the function. Loops run from their first to their last
value, so an index really takes the value that it has where each loop stands at one of the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from rlx.checker.prim_funcs.state import PrimFuncCheck, extent_text
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.visit import evaluated, shape_vars_of
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.spec.registry import need, rule

_CORNERS = 64
"""Most combinations of first and last values that are tried for one index."""
_SHORT = 40
_DEPTH = 3
"""Most parts of an index, and most variables that stand for one another: longer ones are nobody's
slips.
"""
_LARGE = 64
_SIZES = (1, 2, _LARGE)
"""Values of shape variables that are tried before the prover is asked."""

Range = tuple[tir.PrimExpr, tir.PrimExpr]


def bounds(state: PrimFuncCheck) -> None:
    """Report the accesses of a function that certainly leave their buffer."""
    _Accesses(state).visit(state.function.body)


class _Accesses:
    """A walk over what runs in any case.

    Attributes
    ----------
    loops
        The first and the last value of loop variables.
    extents
        The extents of those that begin at 0.
    values
        What iterators and variables that are bound once stand for, where that is short.
    depths
        How many others have to be put in for each of them.
    sizes, points
        The variables of shapes, which are at least 1; some values of all of them.
    reduced
        Iterators of reductions: an initial value is stored only where they begin.
    """

    def __init__(self, state: PrimFuncCheck) -> None:
        self.state = state
        self.loops: dict[tir.Var, Range] = {}
        self.values: dict[tir.Var, tir.PrimExpr] = {}
        self.depths: dict[tir.Var, int] = {}
        self.extents: dict[tir.Var, tir.PrimExpr] = {}
        self.sizes = {v for b in state.function.buffer_map.values() for v in shape_vars_of(b)}
        points = [dict.fromkeys(self.sizes, size) for size in _SIZES]
        self.points: list[dict[tir.Var, int]] = points if self.sizes else [{}]
        self.reduced: frozenset[tir.Var] = frozenset()

    def visit(self, stmt: tir.Stmt) -> bool:
        """Look at a statement; whether what follows it runs in any case."""
        match stmt:
            case tir.SeqStmt(stmts=parts):
                return all(self.visit(part) for part in parts)
            case tir.For():
                return self._for(stmt)
            case tir.With(body=body):
                return self.visit(body)
            case tir.Block():
                return self._block(stmt)
            case tir.BufferStore(buffer=buffer, indices=indices, value=value):
                for expr in (*indices, value):
                    self._loads(expr)
                self._access(buffer, indices, stmt.span)
                return True
            case tir.LetStmt(var=var, value=value):
                self._loads(value)
                self._stands_for(var, value)
                return True
            case tir.IfThenElse(condition=condition):
                self._loads(condition)
                return not _may_end(stmt)
            case tir.Evaluate():
                return not _may_end(stmt)
            case tir.AllocBuffer() | tir.MatchBuffer():
                return True
        return False

    def _for(self, loop: tir.For) -> bool:
        if loop.step is not None:  # which values its variable has is not followed
            return not _may_end(loop.body)
        try:
            first, extent = evaluate(loop.min, {}), evaluate(loop.extent, {})
        except UndefinedError:
            if loop.extent in self.sizes:
                if type(loop.min) is tir.IntImm and loop.min.value == 0:
                    self.extents[loop.loop_var] = loop.extent
                one = tir.IntImm(1, loop.loop_var.dtype)
                end = tir.Add(loop.min, loop.extent)
                self.loops[loop.loop_var] = (loop.min, tir.Sub(end, one))
                return self.visit(loop.body)
            return not _may_end(loop.body)
        if extent <= 0:
            return True
        kind = loop.loop_var.dtype
        if first == 0:
            self.extents[loop.loop_var] = loop.extent
        self.loops[loop.loop_var] = (tir.IntImm(first, kind), tir.IntImm(first + extent - 1, kind))
        return self.visit(loop.body)

    def _block(self, block: tir.Block) -> bool:
        for axis in block.iter_vars:
            self._loads(axis.binding)
            self._stands_for(axis.var, axis.binding)
        if block.predicate is not None:
            self._loads(block.predicate)
            return not _may_end(block.body)
        for axis in block.iter_vars:
            self._binding(axis)
        if block.init is not None:
            outer = self.reduced
            self.reduced |= {axis.var for axis in block.iter_vars if axis.kind != "S"}
            self.visit(block.init)
            self.reduced = outer
        return self.visit(block.body)

    def _binding(self, axis: tir.IterVar) -> None:
        """Look at the values that an iterator is bound to."""
        if axis.dom is None or not tir.is_zero(axis.dom[0]):
            return
        found = self._outside(axis.binding, axis.dom[1])
        if not need("TIR07-domain", found is None):
            words = (
                f"the iterator {axis.var.name!r} is {found}, "
                f"but the extent of its domain is {extent_text(axis.dom[1])}"
            )
            self.state.report("TIR07-domain", words, axis.span, severity="warning")

    def _stands_for(self, var: tir.Var, value: tir.PrimExpr) -> None:
        """Let a variable stand for a value, if that is short."""
        used = [self.depths.get(v, 0) for v in tir.free_vars(value)]
        depth = max(used, default=0) + 1
        if depth <= _DEPTH and _is_short(value):
            self.values[var], self.depths[var] = value, depth

    # ------------------------------------------------------------ accesses

    def _loads(self, expr: tir.PrimExpr) -> None:
        """The loads of an expression that happen in any case."""
        for node in tir.reached([expr], _always_evaluated):
            if isinstance(node, tir.BufferLoad):
                self._access(node.buffer, node.indices, node.span)

    def _access(
        self, buffer: tir.Buffer, indices: Sequence[tir.PrimExpr], span: Span | None
    ) -> None:
        if len(indices) != len(buffer.shape):
            return
        for axis, (index, extent) in enumerate(zip(indices, buffer.shape, strict=True)):
            found = self._outside(index, extent)
            # The same index of another buffer of this extent is the same mistake.
            shared = (tir.interned(index), tir.interned(extent)) if tir.free_vars(index) else None
            mistake = shared or (span or self.state.span, buffer)
            if found is not None and self.state.once(("range", mistake)):
                in_range(self.state, buffer, axis, found, span)
                return

    def _outside(self, index: tir.PrimExpr, extent: tir.PrimExpr) -> str | None:
        """Words for a value of an index that is outside of an extent; None where none is
        certain.
        """
        if (
            self._runs_over(index, extent)
            or type(index) is tir.Slice
            or not _is_short(index)
            or not _is_short(extent)
        ):
            return None
        variables = self._variables(index)
        if variables is None or 2 ** len(variables) > _CORNERS:
            return None
        for corner in product((0, 1), repeat=len(variables)):
            chosen = {v: self.loops[v][end] for v, end in zip(variables, corner, strict=True)}
            value = self._value(index, chosen, extent)
            if value is not None:
                places = ", ".join(
                    f"{v.name} = {extent_text(chosen[v])}" for v in variables if v in self.loops
                )
                return f"{value}{' for ' + places if places else ''}"
        return None

    def _runs_over(self, index: tir.PrimExpr, extent: tir.PrimExpr) -> bool:
        """Whether an index is the variable of a loop from 0 to the extent, as most are."""
        while type(index) is tir.Var and index in self.values:
            index = self.values[index]
        return type(index) is tir.Var and self.extents.get(index) is extent

    def _variables(self, index: tir.PrimExpr) -> list[tir.Var] | None:
        """The loop variables that an index depends on; None if it depends on anything else."""
        found: list[tir.Var] = []
        pending, seen = list(tir.free_vars(index)), set[tir.Var]()
        while pending:
            var = pending.pop()
            if var in seen:
                continue
            seen.add(var)
            if var in self.reduced or var in self.state.doubtful:
                return None
            if var in self.values:
                pending += tir.free_vars(self.values[var])
            elif var in self.loops:
                found.append(var)
            elif var not in self.sizes:
                return None
        return found

    def _value(
        self, index: tir.PrimExpr, chosen: Mapping[tir.Var, tir.PrimExpr], extent: tir.PrimExpr
    ) -> str | None:
        """The value of an index at a corner, if it is outside for all sizes."""
        for sizes in self.points:
            try:
                point = sizes | {v: evaluate(bound, sizes) for v, bound in chosen.items()}
                number = self._number(index, point)
                end = evaluate(extent, point)
            except UndefinedError:
                return None
            if number in range(end):
                return None
        whole = _replaced(index, chosen, self.values)
        if not (self.sizes & {*tir.free_vars(whole), *tir.free_vars(extent)}):
            return str(number)
        return extent_text(whole) if _certain(whole, extent) else None

    def _number(self, expr: tir.PrimExpr, point: dict[tir.Var, int]) -> int:
        """The value of an expression, iterators and bound variables put in."""
        for var in tir.free_vars(expr):
            if var not in point and var in self.values:
                point[var] = self._number(self.values[var], point)
        return evaluate(expr, point)


@rule("TIR11", "PrimFunc", refuses=True)
def in_range(
    state: PrimFuncCheck, buffer: tir.Buffer, axis: int, found: str, span: Span | None
) -> None:
    """Report an index that lies outside of its axis."""
    extent = extent_text(buffer.shape[axis])
    state.report(
        "TIR11-range",
        f"the index of axis {axis} of {buffer.name!r} is {found}, but the extent is {extent}",
        span,
    )


def _always_evaluated(node: tir.PrimExpr) -> Sequence[tir.PrimExpr]:
    """The operands of an expression whose loads happen in any case."""
    match node:
        case tir.Select() | tir.Let() | tir.And() | tir.Or() | tir.Call(op="if_then_else"):
            return tir.children(node)[:1]
        case tir.Call(op=op) if op not in tir.AS_OPERAND:
            return ()
    return tir.children(node)


def _is_short(expr: tir.PrimExpr) -> bool:
    return not tir.larger_than(_SHORT, expr)


def _may_end(stmt: tir.Stmt) -> bool:
    """Whether a statement may end the function: it returns, waits, or is not understood."""
    for part in evaluated(stmt, tir.Stmt):
        if isinstance(part, tir.Evaluate):
            inside = tir.postorder(part.value)
            if any(isinstance(node, tir.Call | tir.OpaqueExpr) for node in inside):
                return True
        elif isinstance(part, tir.While | tir.Assert | tir.OpaqueStmt):
            return True
    return False


def _replaced(
    expr: tir.PrimExpr,
    chosen: Mapping[tir.Var, tir.PrimExpr],
    values: Mapping[tir.Var, tir.PrimExpr],
) -> tir.PrimExpr:
    """An index with the values of its variables put in."""
    from rlx.solver.order.substitute import substitute_prim

    while any(v in chosen or v in values for v in tir.free_vars(expr)):
        known: dict[tir.Var, tir.PrimExpr] = {
            v: chosen[v] if v in chosen else values[v]
            for v in tir.free_vars(expr)
            if v in chosen or v in values
        }
        expr = substitute_prim(expr, known)
    return expr


def _certain(index: tir.PrimExpr, extent: tir.PrimExpr) -> bool:
    """Whether an index is outside for all sizes of at least 1."""
    from rlx.solver.api import prove

    for goal in (tir.GE(index, extent), tir.LT(index, tir.IntImm(0))):
        lower: dict[str, int | None] = {v.name: 1 for v in tir.free_vars(goal)}
        try:
            if prove(goal, lower=lower).proved:
                return True
        except ValueError:  # two variables of one name
            return False
    return False
