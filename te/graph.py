"""The computation graph of tensors: operations in order, the tensors that they read, unbound
variables.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes import tir
from rlx.te.tensor import Operation, Tensor


def computed(op: Operation) -> bool:
    """Whether a tensor is computed and not a placeholder."""
    return op.num_outputs > 0


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
            stack.extend((t.op, False) for t in reversed(op.input_tensors) if t.op not in found)
    return list(found)


def unbound(tensors: Sequence[Tensor], ops: Sequence[Operation]) -> list[tir.Var]:
    """The variables that the operations of tensors use and that are not dimensions of a tensor."""
    bound = {dim.node for t in tensors for dim in t.shape if isinstance(dim.node, tir.Var)}
    found: dict[tir.Var, None] = {}
    for op in ops:
        axes = {*op.axes, *(a.var for a in op.reduction.axes)} if op.reduction else {*op.axes}
        found |= dict.fromkeys(v for v in op.nodes if type(v) is tir.Var and v not in axes)
        sizes = [dim.node for tensor in op.input_tensors for dim in tensor.shape]
        for axis in op.reduction.axes if op.reduction is not None else ():
            sizes += (axis.low.node, axis.high.node)
        found |= dict.fromkeys(tir.free_vars(*sizes))
    found |= dict.fromkeys(tir.free_vars(*(dim.node for t in tensors for dim in t.shape)))
    return [v for v in found if v not in bound]
