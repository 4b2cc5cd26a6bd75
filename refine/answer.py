"""The answer to whether a program refines another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from rlx.grammar.nodes.node import Record


class Counterexample(Record):
    """Inputs on which the programs were run, and differ.

    Attributes
    ----------
    entry
        The function that was called.
    sizes
        The numbers of the shape variables, by name.
    inputs
        The arguments by parameter, as arrays, numbers and tuples.
    before, after
        What the programs returned, in the same form; or how their run ended, as a text.
    difference
        Where they differ.
    """

    entry: str
    sizes: Mapping[str, int]
    inputs: Mapping[str, Any]
    before: Any
    after: Any
    difference: str


class Refinement(Record):
    """Whether AFTER means the same as BEFORE, for all sizes and inputs; it has no truth value.

    Attributes
    ----------
    status
        ``"proved"``, ``"refuted"`` or ``"unknown"``.
    level
        The level of a proof, ``"bitwise"`` or ``"real"``; None without one.
    entries
        The functions that were compared.
    counterexample
        The inputs on which a run differs, if it is refuted.
    reason
        Why it is not proved; empty if it is.
    steps
        The proof, or what was tried, line by line.
    """

    status: str
    level: str | None
    entries: tuple[str, ...]
    counterexample: Counterexample | None
    reason: str
    steps: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether AFTER means the same for all sizes and inputs."""
        return self.status == "proved"

    @property
    def refuted(self) -> bool:
        """Whether there is a counterexample, which was run."""
        return self.status == "refuted"

    @property
    def unknown(self) -> bool:
        """Whether it is neither proved nor refuted."""
        return self.status == "unknown"

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "an answer has no truth value: use .proved, .refuted or .unknown"
            f" (this one is {self.status})"
        )

    def __str__(self) -> str:
        names = ", ".join(self.entries)
        if self.proved:
            how = "bit for bit" if self.level == "bitwise" else "as exact real numbers"
            return f"proved: AFTER means the same as BEFORE for all sizes, {how} ({names})"
        if self.counterexample is None:
            return f"{self.status}: {self.reason}"
        example = self.counterexample
        lines = [f"refuted: {example.entry} differs: {example.difference}"]
        lines += [f"  {name} = {size}" for name, size in example.sizes.items()]
        lines += [f"  {name} = {_short(value)}" for name, value in example.inputs.items()]
        lines.append(f"  BEFORE: {_short(example.before)}")
        lines.append(f"  AFTER:  {_short(example.after)}")
        return "\n".join(lines)


def _short(value: Any) -> str:
    """A value on one line."""
    text = " ".join(str(value).split())
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


_WIDTH = 200
