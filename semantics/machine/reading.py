"""What may be read: objects that are there, and memory that was written; tuples are looked into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rlx.semantics.faults import Fault
from rlx.semantics.machine.words import show
from rlx.semantics.store import Store
from rlx.semantics.values import Tensor, TupleValue, Value


def parts(values: Sequence[Value]) -> Iterator[Value]:
    """Values and what their tuples hold, however deep, in order; of what is there twice only the first."""
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
    """Refuse to read what ended, and what was not written: ``code`` is the premise that then fails."""
    if not (store.dead or store.freed or store.blank):
        return
    for value in parts(values):
        alive(store, (value,))
        if id(value) in store.blank:
            raise Fault(code, str(store.blank[id(value)]), value=value)


def alive(store: Store, values: Iterable[Value]) -> None:
    """Refuse to use what ended."""
    for value in values:
        if id(value) in store.dead:
            raise Fault("E-var-alive", f"used after it was killed: {show(value)}", value=value)
        if isinstance(value, Tensor) and id(value.storage) in store.freed:
            raise Fault("E-var-memory", f"its memory was given back: {show(value)}", value=value)
