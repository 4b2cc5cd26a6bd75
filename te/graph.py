"""The computation graph of tensors: operations in order, the tensors that they read, unbound
variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType
from rlx.te.errors import here
from rlx.te.rebuild import reads
from rlx.te.scalar import Scalar
from rlx.te.tensor import Operation, Tensor

Fill = Callable[[Sequence[tir.Buffer], tir.Buffer], tuple[tuple[tir.Buffer, ...], tir.Stmt]]
"""Called with the buffers of the read tensors and of the result; returns work buffers and the
statement. Their shapes use the variables of the generated PrimFunc.
"""


class External(Operation):
    """A tensor that a statement fills.

    Attributes
    ----------
    read
        The tensors that the statement reads.
    fill
        Makes the statement.
    """

    read: tuple[Tensor, ...]  # type: ignore[misc]
    fill: Fill  # type: ignore[misc]


def external(
    shape: Sequence[Scalar], read: Sequence[Tensor], fill: Fill, name: str, dtype: DataType
) -> Tensor:
    """A tensor that a statement fills.

    Nothing is proved about the statement. It must store every element, and an out-of-bounds read
    stops the run. The tensor is read like any other tensor.
    """
    dims = tuple(shape)
    op = External(name, (), (), (), None, here(), None, tuple(read), fill)
    return Tensor(op, 0, name, dims, dtype)


def computed(op: Operation) -> bool:
    """Whether a tensor is computed and not a placeholder."""
    return bool(op.bodies) or op.reduction is not None or isinstance(op, External)


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
