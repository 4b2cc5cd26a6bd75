"""Analysis whether allocated memory is completely written before it is read, so that it need not be
cleared.
"""

from __future__ import annotations

from collections.abc import Collection

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.visit import evaluated
from rlx.solver.context import Context
from rlx.solver.prover import Prover


class UnknownWritesError(Exception):
    """It is not known what a PrimFunc writes; the message says why."""


def written_parameters(func: tir.PrimFunc) -> frozenset[int]:
    """The positions of the parameters to whose buffers, or regions of them, a PrimFunc stores. Raises
    UnknownWritesError if something else in it may store.
    """
    stored: set[tir.Buffer] = set()
    regions: list[tuple[tir.Buffer, tir.Buffer]] = []
    for stmt in statements(func.body):
        match stmt:
            case tir.BufferStore(buffer=buffer):
                stored.add(buffer)
            case tir.MatchBuffer(buffer=buffer, source=source):
                regions.append((buffer, source.buffer))
            case tir.AllocBuffer(buffer=buffer) if "data" in buffer.attrs:
                raise UnknownWritesError("a PrimFunc has a buffer in the memory of another one")
            case tir.Evaluate(value=tir.Call(op=op)) if op not in _WITHOUT_WRITES:
                raise UnknownWritesError(f"a PrimFunc calls T.{op}")
            case tir.OpaqueStmt():
                raise UnknownWritesError("a statement of a PrimFunc is not known")
    for region, whole in reversed(regions):  # a region of a region is behind it
        if region in stored:
            stored.add(whole)
    return frozenset(k for k, p in enumerate(func.params) if func.buffer_map.get(p) in stored)


_WITHOUT_WRITES = frozenset(
    ["tvm_storage_sync", "assume", "evaluate", "static_assert", "attr", "ret"]
)


def written_first(buffer: tir.Buffer, owner: tir.Stmt) -> bool:
    """Whether the first loops in ``owner`` that name ``buffer`` store to each element, and read
    none before.
    """
    body = owner.body if isinstance(owner, tir.Block) else owner
    for stmt in tir.flat(body):
        if not isinstance(owner, tir.AllocBuffer) and mentions(stmt, buffer):
            return _fills(stmt, buffer)
    return False


def filled(func: tir.PrimFunc) -> frozenset[int]:
    """The positions of the parameters whose every element a function writes before it reads it, if
    no array is empty. Aliases of memory are not considered, because such functions have no native
    code.
    """
    if returns(func):
        return frozenset()
    body = func.body
    while isinstance(body, tir.Block) and not body.iter_vars and body.predicate is None:
        body = body.body
    stored = {store.buffer for store in stores(body)}
    first: dict[tir.Buffer, tir.Stmt] = {}
    for part in tir.flat(body):
        for access in accesses(part):
            first.setdefault(access.buffer, part)
    dims = {dim for b in func.buffer_map.values() for dim in b.shape}
    buffers = ((k, func.buffer_map.get(param)) for k, param in enumerate(func.params))
    return frozenset(k for k, b in buffers if b in stored and _fills(first[b], b, dims))


def returns(func: tir.PrimFunc) -> bool:
    """Whether a function may end before its last statement."""
    values = (stmt.value for stmt in statements(func.body) if isinstance(stmt, tir.Evaluate))
    return "ret" in [value.op for value in values if isinstance(value, tir.Call)]


def statements(root: tir.Stmt) -> list[tir.Stmt]:
    """A statement and all statements in it."""
    return list(evaluated(root, tir.Stmt))


def expressions(stmt: tir.Stmt) -> list[tir.PrimExpr]:
    """The expressions of a statement itself."""
    match stmt:
        case tir.For(min=low, extent=extent):
            return [low, extent]
        case tir.While(condition=c) | tir.IfThenElse(condition=c) | tir.Assert(condition=c):
            return [c]
        case tir.BufferStore(indices=indices, value=value):
            return [*indices, value]
        case tir.LetStmt(value=value) | tir.Evaluate(value=value):
            return [value]
        case tir.AllocBuffer(buffer=buffer):
            return list(buffer.shape)
        case tir.Block(iter_vars=axes, predicate=predicate, alloc_buffers=buffers):
            found = [axis.binding for axis in axes]
            found += [bound for axis in axes if axis.dom for bound in axis.dom]
            found += [dim for buffer in buffers for dim in buffer.shape]
            return found if predicate is None else [*found, predicate]
    return []


def loads(stmt: tir.Stmt) -> list[tir.BufferLoad]:
    """Every load in a statement."""
    return [
        node
        for part in statements(stmt)
        for expr in expressions(part)
        for node in tir.postorder(expr)
        if isinstance(node, tir.BufferLoad)
    ]


def stores(stmt: tir.Stmt) -> list[tir.BufferStore]:
    """Every store in a statement."""
    return [part for part in statements(stmt) if isinstance(part, tir.BufferStore)]


Access = tir.BufferLoad | tir.BufferStore


def accesses(stmt: tir.Stmt) -> list[Access]:
    """Every load and store in a statement."""
    return [*loads(stmt), *stores(stmt)]


def mentions(stmt: tir.Stmt, buffer: tir.Buffer) -> bool:
    """Whether a statement loads from or stores to a buffer."""
    return any(node.buffer is buffer for node in accesses(stmt))


def _fills(stmt: tir.Stmt, buffer: tir.Buffer, positive: Collection[tir.PrimExpr] = ()) -> bool:
    """Whether plain loops over the whole shape store to each element, and load only what they
    stored.
    """
    extents: dict[tir.Var, tir.PrimExpr] = {}
    while isinstance(stmt, tir.For):
        if stmt.step is not None or not (isinstance(stmt.min, tir.IntImm) and stmt.min.value == 0):
            return False
        extents[stmt.loop_var] = stmt.extent
        stmt = stmt.body
    names = {var: var for var in extents}
    first = stmt
    if isinstance(stmt, tir.Block):
        if stmt.predicate is not None or stmt.alloc_buffers:
            return False
        for axis in stmt.iter_vars:
            if isinstance(axis.binding, tir.Var) and axis.binding in extents:
                names[axis.var] = axis.binding
            if stmt.init is not None and axis.kind == "R" and not _starts_at_zero(axis, extents):
                return False
        first = stmt.init if stmt.init is not None else stmt.body
    parts = tir.flat(first)
    if not parts:
        return False
    fills = [p for p in parts if isinstance(p, tir.BufferStore) and p.buffer is buffer]
    if not fills or any(load.buffer is buffer for part in parts for load in loads(part)):
        return False
    return _covers(fills[0], extents, names, positive) and _reads_same(stmt, fills[0])


def _covers(
    store: tir.BufferStore,
    extents: dict[tir.Var, tir.PrimExpr],
    names: dict[tir.Var, tir.Var],
    positive: Collection[tir.PrimExpr],
) -> bool:
    seen: set[tir.Var] = set()
    for index, dim in zip(store.indices, store.buffer.shape, strict=False):
        if isinstance(dim, tir.IntImm) and dim.value == 1 and tir.is_zero(index):
            continue
        if not isinstance(index, tir.Var) or names.get(index) in seen or index not in names:
            return False
        loop = names[index]
        seen.add(loop)
        if not _same_extent(extents[loop], dim):
            return False
    others = [extent for var, extent in extents.items() if var not in seen]
    runs = all(
        extent.value > 0
        if isinstance(extent, tir.IntImm)
        else any(_same_extent(extent, dim) for dim in positive)
        for extent in others
    )
    return runs and len(store.indices) == len(store.buffer.shape)


def _starts_at_zero(axis: tir.IterVar, loops: Collection[tir.Var]) -> bool:
    """Whether the first iteration of the loops is the one in which a reduction starts, as far as
    this axis goes.
    """
    return axis.binding in loops and (axis.dom is None or tir.is_zero(axis.dom[0]))


def _same_extent(a: tir.PrimExpr, b: tir.PrimExpr) -> bool:
    if isinstance(a, tir.IntImm) and isinstance(b, tir.IntImm):
        return a.value == b.value
    if tir.interned(a) is tir.interned(b):
        return True
    context = Context()
    for var in {*tir.free_vars(a), *tir.free_vars(b)}:
        context.declare(var, None, None)  # a scalar may be negative
    return Prover(context).equal(a, b).proved


def _reads_same(stmt: tir.Stmt, store: tir.BufferStore) -> bool:
    """Whether what follows the first store only touches the element that was stored."""
    touched = [n for n in accesses(stmt) if n.buffer is store.buffer]
    return all(
        len(n.indices) == len(store.indices)
        and all(_same_index(a, b) for a, b in zip(n.indices, store.indices, strict=True))
        for n in touched
    )


def _same_index(a: tir.PrimExpr, b: tir.PrimExpr) -> bool:
    return a is b or (
        isinstance(a, tir.IntImm) and isinstance(b, tir.IntImm) and a.value == b.value
    )
