"""The store: what of a run's state can change, with a journal by which earlier states can be looked
at.

Values are immutable but for the memory of tensors, and but for one fact about tensors: that some of
their memory was not written so far. A change is kept as what was there before, so going back over a
step costs what going forward costs. Versions form a tree of which one is in memory; any other is
brought back by undoing and redoing the changes between (the persistent arrays of Baker).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from rlx.semantics.arrays import identical
from rlx.semantics.values import Tensor, Value

_ABSENT = object()


class ArrayChange:
    """A change of the content of an array."""

    __slots__ = ("array", "content")

    def __init__(self, array: Any, content: Any) -> None:
        self.array, self.content = array, content

    def swap(self) -> None:
        """Put the kept content into the array and keep what was there."""
        there = self.array.copy()
        self.array[...] = self.content
        self.content = there

    @property
    def changed(self) -> bool:
        """Whether array and content differ, bit by bit."""
        return not identical(self.array, self.content)


class Mark:
    """A change of what is known about an object."""

    __slots__ = ("known", "table", "value")

    def __init__(self, table: dict[int, Any], value: Value) -> None:
        self.table, self.value = table, value
        self.known: object = table.get(id(value), _ABSENT)

    def swap(self) -> None:
        """Make known what was, and keep what is."""
        there = self.table.get(id(self.value), _ABSENT)
        if self.known is _ABSENT:
            self.table.pop(id(self.value), None)
        else:
            self.table[id(self.value)] = self.known
        self.known = there


Change = ArrayChange | Mark


class Blank:
    """What is known of a tensor of which not every element was written; it does not change.

    Attributes
    ----------
    tensor
        The tensor.
    written
        One byte for each element, in row-major order: 1 if it was written. None if no element was.
    """

    __slots__ = ("tensor", "written")

    def __init__(self, tensor: Tensor, written: Any = None) -> None:
        self.tensor, self.written = tensor, written

    def __str__(self) -> str:
        shape, dtype = self.tensor.shape, self.tensor.dtype
        if self.written is None:
            return f"the tensor {list(shape)} of {dtype} was never written"
        holes = np.flatnonzero(self.written == 0)
        first = [int(k) for k in np.unravel_index(int(holes[0]), shape)]
        count = f"{len(holes)} of the {self.written.size} elements"
        return (
            f"{count} of the tensor {list(shape)} of {dtype} were not written, the first at {first}"
        )


class Version:
    """A state of the store. The one in memory has no ``next``."""

    __slots__ = ("changes", "next", "store")

    def __init__(self, store: Store) -> None:
        self.store = store
        self.next: Version | None = None
        self.changes: list[Change] = []


class Store:
    """The state of one run.

    Attributes
    ----------
    version
        The version that is in memory.
    keeping
        Whether earlier versions can be brought back; if not, nothing is kept.
    blank
        Tensors of which some element was never written, by identity.
    program
        The program that runs.
    """

    __slots__ = ("blank", "keeping", "program", "version")

    def __init__(self, program: Any, keeping: bool) -> None:
        self.program, self.keeping = program, keeping
        self.version = Version(self)
        self.blank: dict[int, Blank] = {}

    def before(self, arrays: Iterable[Any]) -> list[Change]:
        """Copies of what may change next."""
        return [ArrayChange(array, array.copy()) for array in arrays] if self.keeping else []

    def commit(self, changes: list[Change]) -> Version:
        """The version after changes that were made, of which the list has what was before."""
        kept = [c for c in changes if not isinstance(c, ArrayChange) or c.changed]
        if not kept:
            return self.version
        old = self.version
        self.version = old.next = Version(self)
        old.changes = kept
        return self.version

    def mark(self, table: dict[int, Any], value: Value, known: object) -> list[Change]:
        """Note in one of the tables what is known of an object; None if nothing is any more."""
        change = Mark(table, value)
        if known is None:
            table.pop(id(value), None)
        else:
            table[id(value)] = known
        return [change] if self.keeping else []

    def blanked(self, tensor: Tensor, written: Any = None) -> list[Change]:
        """Note which elements of a tensor were written: a byte for each, or None for none."""
        if tensor.data.size == 0 or (written is not None and written.all()):
            return self.filled(tensor)
        return self.mark(self.blank, tensor, Blank(tensor, written))

    def filled(self, tensor: Tensor) -> list[Change]:
        """Note that all of a tensor was written, and so what else lies in that memory."""
        changes: list[Change] = []
        if self.blank:
            low, high = byte_bounds(tensor.data)
            for blank in list(self.blank.values()):
                first, last = byte_bounds(blank.tensor.data)
                if low <= first and last <= high:
                    changes += self.mark(self.blank, blank.tensor, None)
        return changes

    def show(self, version: Version) -> None:
        """Bring a version into memory; the cost is that of the changes between."""
        path = []
        while version.next is not None:
            path.append(version)
            version = version.next
        for node in reversed(path):
            following = node.next
            assert following is not None
            for change in reversed(node.changes):
                change.swap()
            following.next, following.changes = node, node.changes[::-1]
            node.next, node.changes = None, []
        if path:
            self.version = path[0]
