"""Times of the calls in a run, by callee."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from rlx.grammar.streams import visible
from rlx.semantics.machine.numpy_conversion import to_plain
from rlx.semantics.values import Value


class Profile:
    """The times of one run.

    Attributes
    ----------
    calls, seconds
        The number of calls and the total time of each name.
    total
        The time of the whole run in seconds.
    value
        The result of the run.
    """

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self.seconds: dict[str, float] = {}
        self.total = 0.0
        self.value: Value | None = None

    @property
    def result(self) -> Any:
        """The result of the run, as arrays, numbers, tuples and strings."""
        return None if self.value is None else to_plain(self.value)

    def around(self, name: str, call: Callable[..., Value]) -> Callable[..., Value]:
        """Wrap a function to measure its calls."""
        self.calls.setdefault(name, 0)
        self.seconds.setdefault(name, 0.0)

        def measured(*args: Value) -> Value:
            begin = perf_counter()
            try:
                return call(*args)
            finally:
                self.seconds[name] += perf_counter() - begin
                self.calls[name] += 1

        return measured

    def __str__(self) -> str:
        """A table, the slowest first; the last line is what the machine itself took."""
        names = [name for name in self.calls if self.calls[name]]
        width = max([len("function"), len("the machine itself"), *(len(visible(n)) for n in names)])
        rows = [f"{'function':{width}}  {'calls':>9}  {'µs':>12}  {'share':>6}"]
        own = self.total - sum(self.seconds.values())
        table = sorted(
            ((self.seconds[n], visible(n), str(self.calls[n])) for n in names), reverse=True
        )
        for seconds, name, calls in [*table, (own, "the machine itself", "")]:
            share = seconds / self.total if self.total else 0.0
            rows.append(f"{name:{width}}  {calls:>9}  {seconds * 1e6:12.1f}  {share:6.1%}")
        return "\n".join(rows)
