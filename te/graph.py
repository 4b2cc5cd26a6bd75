"""The computation graph of tensors: operations in order, the tensors that they read, unbound
variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlx.grammar.nodes import tir
from rlx.te.external import External
from rlx.te.rebuild import reads
from rlx.te.tensor import Operation, Tensor


def operations(tensors: Sequence[Tensor]) -> list[Operation]:
    """The operations that compute tensors, in topological order."""
    found: dict[Operation, None] = {}
    stack: list[tuple[Operation, bool]] = [(t.op, False) for t in reversed(tensors)]
    while stack:
        op, ready = stack.pop()
        if ready:
            found[op] = None
        elif op not in found:
            stack.append((op, True))
            stack.extend((t.op, False) for t in reversed(inputs(op)) if t.op not in found)
    return list(found)


def inputs(op: Operation) -> list[Tensor]:
    """The distinct tensors that an operation reads, in the order of the reads."""
    if isinstance(op, External):
        return list(dict.fromkeys(op.read))
    found = dict.fromkeys(
        read.tensor
        for expr in expressions(op)
        for read in reads(expr)
        if read.tensor.op is not op  # of running results
    )
    return list(found)


def expressions(op: Operation) -> Iterator[tir.PrimExpr]:
    """All expressions of an operation."""
    yield from op.bodies
    if op.reduction is not None:
        yield from (s.node for s in op.reduction.sources)
        yield from (s.node for s in op.reduction.init)
        if op.reduction.where is not None:
            yield op.reduction.where.node


def unbound(tensors: Sequence[Tensor]) -> list[tir.Var]:
    """The variables that the computation uses and that are not dimensions of a tensor."""
    bound = {dim.node for t in tensors for dim in t.shape if isinstance(dim.node, tir.Var)}
    found: dict[tir.Var, None] = {}
    for op in operations(tensors):
        axes = {*op.axes, *(a.var for a in op.reduction.axes)} if op.reduction else {*op.axes}
        for expr in expressions(op):
            found |= dict.fromkeys(v for v in tir.free_vars(expr) if v not in axes)
            for read in reads(expr):
                found |= _in_shape(read.tensor)
        if isinstance(op, External):
            for tensor in op.read:
                found |= _in_shape(tensor)
        if op.reduction is not None:
            for axis in op.reduction.axes:
                for end in (axis.low, axis.high):
                    found |= dict.fromkeys(tir.free_vars(end.node))
    for tensor in tensors:
        found |= _in_shape(tensor)
    return [v for v in found if v not in bound]


def _in_shape(tensor: Tensor) -> dict[tir.Var, None]:
    return {v: None for dim in tensor.shape for v in tir.free_vars(dim.node)}
