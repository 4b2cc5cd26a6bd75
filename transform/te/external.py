"""Tensors that a statement of a PrimFunc fills, such as a merge sort: no expression stands for an
element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlx.grammar import tir
from rlx.grammar.dtype import DataType
from rlx.transform.te.errors import here
from rlx.transform.te.scalar import Scalar
from rlx.transform.te.tensor import Operation, Tensor

Fill = Callable[[Sequence[tir.Buffer], tir.Buffer], tuple[tuple[tir.Buffer, ...], tir.Stmt]]
"""Given the buffers of what is read and of the result: buffers to work in, and the statement. Their
shapes have the variables of the PrimFunc that is made.
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

    Nothing is proved of the statement: it has to store every element, and a read outside stops the
    run. What it fills is read like any other tensor.
    """
    dims = tuple(shape)
    op = External(name, (), (), (), None, here(), None, tuple(read), fill)
    return Tensor(op, 0, name, dims, dtype)


def computed(op: Operation) -> bool:
    """Whether a tensor is computed; if not, it is a placeholder."""
    return bool(op.bodies) or op.reduction is not None or isinstance(op, External)
