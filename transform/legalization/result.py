"""The result that a definition has to make, and how a definition declines a call."""

from __future__ import annotations

from typing import NoReturn

from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Record
from rlx.te.scalar import Scalar


class Result(Record):
    """The derived struct info of a tensor that a call returns.

    Attributes
    ----------
    shape, dtype
        Its dimensions and its element type.
    name
        The operator's last word, for the names of tensors.
    """

    shape: tuple[Scalar, ...]
    dtype: DataType
    name: str

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)


class Declined(Exception):
    """A call is not legalised; the message gives the reason."""


def decline(reason: str) -> NoReturn:
    """Decline a call.

    Raises
    ------
    Declined
    """
    raise Declined(reason)
