"""The store: the mutable state of a run, with a journal for inspecting earlier states.

Values are immutable except for the memory of tensors, and for the record of their unwritten
elements. The journal stores the old content of each change, so undoing a step costs as much as
doing it. Versions form a tree; one of them is in memory, and any other is restored by undoing and
redoing the changes in between (Baker's persistent arrays).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from rlx.semantics.arrays import identical
from rlx.semantics.faults import FaultStop
from rlx.semantics.live_memory import TooMuchMemory, current
from rlx.semantics.values import Tensor, Value

_ABSENT = object()


class ArrayChange:
    """A change of the content of an array."""

    __slots__ = ("array", "content")

    def __init__(self, array: Any, content: Any) -> None:
        self.array, self.content = array, content

    def swap(self) -> None:
        """Exchange the stored content and the content of the array."""
        there = self.array.copy()
        self.array[...] = self.content
        self.content = there

    @property
    def changed(self) -> bool:
        """Whether the array and the stored content differ bitwise."""
        return not identical(self.array, self.content)


class Mark:
    """A change of the recorded information about an object."""

    __slots__ = ("known", "table", "value")

    def __init__(self, table: dict[int, Any], value: Value) -> None:
        self.table, self.value = table, value
        self.known: object = table.get(id(value), _ABSENT)

    def swap(self) -> None:
        """Exchange the stored and the current information."""
        there = self.table.get(id(self.value), _ABSENT)
        if self.known is _ABSENT:
            self.table.pop(id(self.value), None)
        else:
            self.table[id(self.value)] = self.known
        self.known = there


Change = ArrayChange | Mark


class Blank:
    """The immutable record of the unwritten elements of a tensor.

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


def _copy(array: Any) -> Any:
    """A copy for the journal.

    Raises
    ------
    FaultStop
        ``E-alloc-size``
    """
    memory = current()
    try:
        memory.require(array.nbytes, "the copy that a step keeps of a tensor")
    except TooMuchMemory as error:
        raise FaultStop("E-alloc-size", str(error)) from None
    made = array.copy()
    memory.hold(made)
    return made


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
        The current version.
    keeping
        Whether earlier versions can be restored; if not, there is no journal.
    blank
        The tensors with unwritten elements, by identity.
    program
        The running program.
    """

    __slots__ = ("blank", "keeping", "program", "version")

    def __init__(self, program: Any, keeping: bool) -> None:
        self.program, self.keeping = program, keeping
        self.version = Version(self)
        self.blank: dict[int, Blank] = {}

    def before(self, arrays: Iterable[Any]) -> list[Change]:
        """Copies of the memory that may change next."""
        if not self.keeping:
            return []
        return [ArrayChange(array, _copy(array)) for array in arrays]

    def commit(self, changes: list[Change]) -> Version:
        """The version after changes, whose old contents are in the list."""
        kept = [c for c in changes if not isinstance(c, ArrayChange) or c.changed]
        if not kept:
            return self.version
        old = self.version
        self.version = old.next = Version(self)
        old.changes = kept
        return self.version

    def mark(self, table: dict[int, Any], value: Value, known: object) -> list[Change]:
        """Record information about an object in one of the tables; None removes it."""
        change = Mark(table, value)
        if known is None:
            table.pop(id(value), None)
        else:
            table[id(value)] = known
        return [change] if self.keeping else []

    def blanked(self, tensor: Tensor, written: Any = None) -> list[Change]:
        """Record the written elements of a tensor: one byte per element, or None if no element was
        written.
        """
        if tensor.data.size == 0 or (written is not None and written.all()):
            return self.filled(tensor)
        return self.mark(self.blank, tensor, Blank(tensor, written))

    def filled(self, tensor: Tensor) -> list[Change]:
        """Record that a tensor, and everything in the same memory, was completely written."""
        changes: list[Change] = []
        if self.blank:
            low, high = byte_bounds(tensor.data)
            for blank in list(self.blank.values()):
                first, last = byte_bounds(blank.tensor.data)
                if low <= first and last <= high:
                    changes += self.mark(self.blank, blank.tensor, None)
        return changes

    def show(self, version: Version) -> None:
        """Restore a version; the cost is that of the changes in between."""
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
