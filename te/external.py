"""Tensors that a statement of a PrimFunc fills, such as a merge sort.

Other tensors have one expression for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType
from rlx.te.errors import here
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
