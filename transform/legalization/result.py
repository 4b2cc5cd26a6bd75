"""What a definition is told of its result, and how it declines."""

from __future__ import annotations

from typing import NoReturn

from rlx.grammar.dtype import DataType
from rlx.grammar.node import Record
from rlx.transform.te.scalar import Scalar


class Result(Record):
    """A tensor that a call gives, as it was derived.

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
    """A call stays as it is, and why."""


def decline(reason: str) -> NoReturn:
    """Leave a call as it is.

    Raises
    ------
    Declined
    """
    raise Declined(reason)
