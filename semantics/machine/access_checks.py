"""What may be read: memory that was written; tuples are looked into."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlx.semantics.faults import FaultStop
from rlx.semantics.store import Store
from rlx.semantics.values import TupleValue, Value


def parts(values: Sequence[Value]) -> Iterator[Value]:
    """Values and what their tuples hold, however deep, in order; of what is there twice only the
    first.
    """
    seen: set[int] = set()
    pending = list(reversed(values))
    while pending:
        value = pending.pop()
        if isinstance(value, TupleValue):
            if id(value) in seen:
                continue
            seen.add(id(value))
            pending.extend(reversed(value.fields))
        yield value


def readable(store: Store, values: Sequence[Value], code: str) -> None:
    """Refuse to read what was not written: ``code`` is the premise that then fails."""
    if not store.blank:
        return
    for value in parts(values):
        if id(value) in store.blank:
            raise FaultStop(code, str(store.blank[id(value)]), value=value)
