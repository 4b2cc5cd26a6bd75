"""Proofs about tensor expressions: for all sizes, every read is in bounds.

No proof is needed that every element of a result is written once: a block stores at its spatial
axes, each of which covers its whole dimension. :func:`written_once` checks it for the generated
PrimFunc.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import Record
from rlx.te.errors import TensorExpressionError, here
from rlx.te.external import External
from rlx.te.rebuild import Rebuild
from rlx.te.scalar import Scalar
from rlx.te.tensor import Operation, Read

if TYPE_CHECKING:
    from rlx.solver.context import Context

Facts = tuple[tir.PrimExpr, ...]


class Access(Record):
    """A read, with the facts known there.

    Attributes
    ----------
    read
        The element.
    facts
        The conditions that guard it.
    """

    read: Read
    facts: Facts


class Undecided(Record):
    """An index that is not proved to be in bounds.

    Attributes
    ----------
    read, axis
        The read, and the axis of the index.
    reason
        The reason: it depends on elements of tensors, or what the prover tried.
    """

    read: Read
    axis: int
    reason: str


def check_reads(ops: Sequence[Operation]) -> list[Undecided]:
    """Prove that all reads are in bounds. Raises TensorExpressionError if an index is out of bounds
    for some sizes of at least 1; the error has them as its counterexample.

    Returns
    -------
    list of Undecided
        The undecided indices; a run stops at them if they are out of bounds.
    """
    found: list[Undecided] = []
    for op in ops:
        ranges = _Ranges(op)
        told: set[tuple[int, ...]] = set()
        for access in _accesses(op):
            key = (id(access.read), *map(id, access.facts))
            if key not in told:
                told.add(key)
                found += ranges.outside(access)
    return found


def is_plain(op: Operation) -> bool:
    """Whether a PrimFunc of this operation is legal if its reads are in bounds: nothing else in it
    has a condition, as a divisor or a shift has, and nothing in it was made by hand.
    """
    if isinstance(op, External) or op.along is not None:
        return False
    sizes = [size.node for size in op.extents]
    nodes = op.nodes
    if op.reduction is not None:
        sizes += [end.node for axis in op.reduction.axes for end in (axis.low, axis.high)]
        nodes = [*nodes, *tir.postorder(*(r.node for r in op.reduction.combiner.results))]
    if not all(_SIZES.issuperset(map(type, tir.postorder(size))) for size in sizes):
        return False
    for node in nodes:
        kind = type(node)
        if kind is tir.Call:
            if node.op not in _PLAIN_CALLS:  # type: ignore[attr-defined]
                return False
        elif kind is tir.FloorDiv or kind is tir.FloorMod:
            divisor = node.b  # type: ignore[attr-defined]
            if not isinstance(divisor, tir.IntImm) or divisor.value <= 0:
                return False
        elif kind not in _PLAIN:
            return False
    return True


_PLAIN = frozenset(
    (
        *(Read, tir.Var, tir.IntImm, tir.FloatImm, tir.Cast, tir.Select),
        *(tir.Add, tir.Sub, tir.Mul, tir.Div, tir.Min, tir.Max),
        *(tir.LT, tir.LE, tir.GT, tir.GE, tir.EQ, tir.NE, tir.And, tir.Or, tir.Not),
    )
)
_SIZES = frozenset((tir.Var, tir.IntImm, tir.Add, tir.Mul))
_PLAIN_CALLS = frozenset(
    [
        "if_then_else",
        "exp",
        "log",
        "sqrt",
        "rsqrt",
        "tanh",
        "sigmoid",
        "sin",
        "cos",
        "tan",
        "erf",
        "ceil",
        "floor",
        "trunc",
        "round",
    ]
)

# ---------------------------------------------------------------- reads and their conditions


def _accesses(op: Operation) -> Iterator[Access]:
    if op.reduction is None and not any(map(_is_choice, op.nodes)):
        yield from (Access(node, ()) for node in op.nodes if isinstance(node, Read))
        return
    for body in op.bodies:
        yield from _in(body, ())
    if op.reduction is not None:
        where = op.reduction.where
        facts: Facts = ()
        if where is not None:
            yield from _in(where.node, ())
            facts = (where.node,)
        for source in op.reduction.sources:
            yield from _in(source.node, facts)
        for value in op.reduction.init:
            yield from _in(value.node, ())


def _is_choice(node: tir.PrimExpr) -> bool:
    """Whether a node may guard a read."""
    kind = type(node)
    return kind is tir.And or kind is tir.Or or (kind is tir.Call and node.op == "if_then_else")  # type: ignore[attr-defined]


def _in(root: tir.PrimExpr, facts: Facts) -> Iterator[Access]:
    """The reads below an expression; the branches of a choice are read where its condition holds,
    or does not.
    """
    pending = [(root, facts)]
    seen: set[tuple[tir.PrimExpr, Facts]] = set()
    while pending:
        node, known = pending.pop()
        if (node, known) in seen:
            continue
        seen.add((node, known))
        match node:
            case Read():
                yield Access(node, known)
                pending += [(index, known) for index in node.indices]
            case tir.Call(op="if_then_else", args=(condition, then, otherwise)):
                pending += [
                    (condition, known),
                    (then, (*known, condition)),
                    (otherwise, (*known, tir.Not(condition))),
                ]
            case tir.And(a=a, b=b):
                pending += [(a, known), (b, (*known, a))]
            case tir.Or(a=a, b=b):
                pending += [(a, known), (b, (*known, tir.Not(a)))]
            case _:
                pending += [(child, known) for child in tir.children(node)]


# ---------------------------------------------------------------- the proof


_NEAR = 4
"""The number of conditions around a read that it is first asked under: those nearest to it."""

_ARITHMETIC: dict[type[tir.PrimExpr], Callable[[int, int], int]] = {
    tir.Add: operator.add,
    tir.Sub: operator.sub,
    tir.Mul: operator.mul,
    tir.FloorDiv: operator.floordiv,
    tir.FloorMod: operator.mod,
}


class _Ranges:
    """The ranges of an operation's axes, and what stands for the numbers that tensors hold."""

    def __init__(self, op: Operation) -> None:
        self.ends: dict[tir.Var, tuple[tir.PrimExpr, tir.PrimExpr]] = {}
        for axis, extent in zip(op.axes, op.extents, strict=True):
            self.ends[axis] = (tir.IntImm(0, axis.dtype), extent.node)
        for each in op.reduction.axes if op.reduction is not None else ():
            self.ends[each.var] = (each.low.node, each.high.node)
        self.held: list[tuple[tir.BufferLoad, tir.Var]] = []

    @cached_property
    def _short_ends(self) -> dict[tir.Var, tuple[tir.PrimExpr, tir.PrimExpr]]:
        """The ends as they are asked with, once for each read: sums of many equal terms are short."""
        from rlx.solver.prover import Prover

        prover = Prover()
        return {var: (low, prover.simplify(high)) for var, (low, high) in self.ends.items()}

    def outside(self, access: Access) -> Iterator[Undecided]:
        """The indices of a read that are not proved to be inside."""
        read = access.read
        for axis, (index, dim) in enumerate(zip(read.indices, read.buffer.shape, strict=True)):
            if not self._plainly(index, dim, access.facts):
                reason = self._ask(access, axis)
                if reason is not None:
                    yield Undecided(read, axis, reason)

    def _plainly(self, index: tir.PrimExpr, dim: tir.PrimExpr, facts: Facts) -> bool:
        """Whether no prover is needed: an axis over the dimension, or one that a condition says to
        be inside; arithmetic of axes of known lengths in a known dimension.
        """
        if isinstance(dim, tir.IntImm):
            found = self._range(index)
            if found is not None and 0 <= found[0] and found[1] < dim.value:
                return True
        low, high = (
            self.ends.get(index, (None, None)) if isinstance(index, tir.Var) else (None, None)
        )
        if not isinstance(low, tir.IntImm) or low.value < 0 or high is None:
            return False
        said = (fact.b for fact in facts if isinstance(fact, tir.LT) and fact.a is index)
        return any(tir.interned(end) is tir.interned(dim) for end in (high, *said))

    def _range(self, index: tir.PrimExpr) -> tuple[int, int] | None:
        """The smallest and the largest value of an index, if it is plain arithmetic of axes of
        known lengths, in which nothing leaves 32 bits.
        """
        if isinstance(index, tir.IntImm):
            found = [index.value]
        elif isinstance(index, tir.Var):
            low, high = self.ends.get(index, (None, None))
            if not isinstance(low, tir.IntImm) or not isinstance(high, tir.IntImm):
                return None
            if low.value >= high.value:
                return None
            found = [low.value, high.value - 1]
        elif type(index) in _ARITHMETIC:
            a, b = self._range(index.a), self._range(index.b)  # type: ignore[attr-defined]
            divides = isinstance(index, tir.FloorDiv | tir.FloorMod)
            if a is None or b is None or (divides and (b[0] != b[1] or b[0] <= 0)):
                return None
            if isinstance(index, tir.FloorMod):
                found = [*a] if 0 <= a[0] and a[1] < b[0] else [0, b[0] - 1]
            else:
                found = [_ARITHMETIC[type(index)](x, y) for x in a for y in b]
        else:
            return None
        first, last = min(found), max(found)
        return (first, last) if -(1 << 31) <= first and last < 1 << 31 else None

    def _ask(self, access: Access, axis: int) -> str | None:
        """Ask the prover; why it does not know, or None where it proved it. An error is certain for
        some sizes of at least 1.
        """
        from rlx.solver.context import Context
        from rlx.solver.prover import Prover

        read = access.read
        index, dim = self._known(read.indices[axis]), read.buffer.shape[axis]
        context = Context()
        for var, (low, high) in self._short_ends.items():
            if isinstance(low, tir.IntImm):
                context.declare(var, low.value, None)
            else:
                context.declare(var, None, None)
                context.assume(tir.GE(var, low))
            context.assume(tir.LT(var, high))
        inside = tir.And(tir.GE(index, tir.IntImm(0)), tir.LT(index, dim))
        prover = Prover(context)
        whole = self._assume(context, access.facts[-_NEAR:])
        verdict = prover.always(inside)
        if len(access.facts) > _NEAR and not verdict.proved:
            whole = self._assume(context, access.facts[:-_NEAR]) and whole
            verdict = prover.always(inside)
        if verdict.proved:
            return None
        loads = any(isinstance(node, tir.BufferLoad) for node in tir.postorder(index))
        depends = loads or any(var in tir.free_vars(index) for _, var in self.held)
        if depends or not whole:
            return "it depends on the elements of tensors"
        if verdict.refuted:
            sizes = {
                v
                for size in (dim, *(high for _, high in self.ends.values()))
                for v in tir.free_vars(size)
            } - self.ends.keys()
            for size in sizes:
                context.assume(tir.GE(size, tir.IntImm(1)))
            if Prover(context).always(inside).proved:
                return "it is outside where a size is 0"
            self._report(read, axis, prover.complete(verdict))  # type: ignore[arg-type]
        return str(verdict)

    def _assume(self, context: Context, facts: Sequence[tir.PrimExpr]) -> bool:
        """Assume the facts that the prover can express; whether it can express all."""
        known = [self._known(fact) for fact in facts]
        for _, var in self.held:
            context.declare(var, None, None)
        expressible = [fact for fact in known if _expressible(fact)]
        for fact in expressible:
            context.assume(fact)
        return len(expressible) == len(known)

    def _known(self, expr: tir.PrimExpr) -> tir.PrimExpr:
        """An expression with variables for the integers that tensors hold."""

        def load(read: Read, indices: tuple[Scalar, ...]) -> Scalar:
            node = tir.BufferLoad(read.buffer, tuple(i.node for i in indices))
            if not read.tensor.dtype.is_integer:
                return Scalar(node, read.tensor.dtype)
            for other, var in self.held:
                if other.buffer is node.buffer and all(
                    tir.interned(a) is tir.interned(b)
                    for a, b in zip(other.indices, node.indices, strict=True)
                ):
                    return Scalar(var, var.dtype)
            var = tir.Var(f"{read.buffer.name}_held", read.tensor.dtype)
            self.held.append((node, var))
            return Scalar(var, var.dtype)

        return Rebuild({}, load, canonical=False)(expr).node

    def _report(self, read: Read, axis: int, verdict: object) -> None:
        from rlx.grammar.print.printer import show

        values = dict(getattr(verdict, "values", {}))
        example = {v.name: n for v, n in values.items()}
        buffer, index = read.buffer, read.indices[axis]
        dim = buffer.shape[axis]
        at = _number(index, values)
        size = _number(dim, values)
        where = ", ".join(f"{name} = {number}" for name, number in example.items())
        is_at = "" if at is None or isinstance(index, tir.IntImm) else f" = {at}"
        extent = (
            show(dim) if size is None or isinstance(dim, tir.IntImm) else f"{show(dim)} = {size}"
        )
        raise TensorExpressionError(
            f"{buffer.name} is read outside: the index {show(index)}{is_at} of axis {axis}, whose "
            f"extent is {extent}" + (f", for {where}" if where else ""),
            read.place or here(),
            example,
        )


def _number(expr: tir.PrimExpr, values: dict[tir.Var, int]) -> int | None:
    from rlx.solver.evaluate import UndefinedError, evaluate

    try:
        return int(evaluate(expr, values))
    except (UndefinedError, KeyError):
        return None


def _expressible(fact: tir.PrimExpr) -> bool:
    """Whether a condition is one over integers, which the prover understands."""
    return not any(
        isinstance(node, tir.BufferLoad | tir.FloatImm | tir.Call | tir.Cast)
        for node in tir.postorder(fact)
    )


# ---------------------------------------------------------------- what is written


def written_once(function: tir.PrimFunc) -> bool:
    """Whether a function of :func:`create_prim_func` stores exactly once to each element of its
    stored buffers.

    One block stores to the buffer, at its spatial axes; each axis appears once and is bound to its
    own loop over the whole dimension. A reduction may store the identities again that a block stored.
    Its updates do not count, and neither do stores of statements without axes to buffers that are
    not parameters.
    """
    stored, reduced = Counter[tir.Buffer](), Counter[tir.Buffer]()
    parameters = {*function.buffer_map.values()}
    stack: list[tuple[tir.Stmt, dict[tir.Var, tir.For]]] = [(function.body, {})]
    while stack:
        stmt, loops = stack.pop()
        match stmt:
            case tir.SeqStmt(stmts=stmts):
                stack += [(each, loops) for each in stmts]
            case tir.For(body=body, loop_var=var):
                stack.append((body, {**loops, var: stmt}))
            case tir.Block(iter_vars=(), body=body) | tir.While(body=body):
                stack.append((body, loops))
            case tir.IfThenElse(then_case=then, else_case=otherwise):
                stack += [(each, loops) for each in (then, otherwise) if each is not None]
            case tir.Block():
                reduces = any(axis.kind == "R" for axis in stmt.iter_vars)
                for store in _stores(stmt.body):
                    if not reduces:
                        stored[store.buffer] += 1
                    elif stmt.init is not None:
                        reduced[store.buffer] += 1
                if not _covers(stmt, loops):
                    return False
            case tir.BufferStore(buffer=buffer) if buffer in parameters:
                return False
    return all(count == 1 for each in (stored, reduced) for count in each.values())


def _stores(body: tir.Stmt) -> list[tir.BufferStore]:
    stmts = body.stmts if isinstance(body, tir.SeqStmt) else (body,)
    return [stmt for stmt in stmts if isinstance(stmt, tir.BufferStore)]


def _covers(block: tir.Block, loops: dict[tir.Var, tir.For]) -> bool:
    """Whether a block stores at its own axes, in their order, over the whole buffer."""
    spatial = [axis for axis in block.iter_vars if axis.kind != "R"]
    over = [
        loops.get(axis.binding) if isinstance(axis.binding, tir.Var) else None for axis in spatial
    ]
    bodies = [block.body] if block.init is None else [block.init, block.body]
    return all(_stored_over(store, spatial, over) for body in bodies for store in _stores(body))


def _stored_over(
    store: tir.BufferStore, spatial: Sequence[tir.IterVar], over: Sequence[tir.For | None]
) -> bool:
    """Whether a statement stores at axes, each bound to its own loop."""
    if not store.indices and not over[1:]:
        return True
    if len(store.indices) != len(spatial) or len({*over}) != len(over):
        return False
    return all(
        at is axis.var and loop is not None and _same_size(loop.extent, dim)
        for at, axis, loop, dim in zip(
            store.indices, spatial, over, store.buffer.shape, strict=True
        )
    )


def _same_size(extent: tir.PrimExpr, dim: tir.PrimExpr) -> bool:
    from rlx.solver.prover import Prover

    if tir.interned(extent) is tir.interned(dim):
        return True
    return Prover().equal(extent, dim).proved
