"""The answer to whether a program refines another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from rlx.grammar.nodes.node import Record

if TYPE_CHECKING:
    from rlx.refine.explanation import FunctionProof, ProofStep
    from rlx.refine.suggestion import Missing


SIDES = ("BEFORE:", "AFTER: ")


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
    proofs
        How each function was compared.
    unjoined
        For an answer that is unknown, the first term of BEFORE and the one of AFTER that are not
        proved to be equal, if the reason is such a pair.
    missing
        Looks for what is missing for a proof.
    promised
        The conditions on sizes that attributes of BEFORE promise: nothing is proved of other sizes.
    """

    status: str
    level: str | None
    entries: tuple[str, ...]
    counterexample: Counterexample | None
    reason: str
    proofs: tuple[FunctionProof, ...] = ()
    unjoined: tuple[str, str] | None = None
    missing: Missing | None = None
    promised: tuple[str, ...] = ()

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

    @property
    def steps(self) -> tuple[ProofStep, ...]:
        """The proof, as a person would write it; for an answer that is unknown, how far it came."""
        return tuple([step for proof in self.proofs for step in proof.steps()])

    @property
    def explanation(self) -> str:
        """The steps as a text."""
        return "\n".join(map(str, self.steps))

    @property
    def certificates(self) -> list[dict[str, Any]]:
        """The certificates of all conditions on sizes and indices that were proved on the way, each
        once; ``rlx verify-proof`` checks one. They are made when they are asked for.
        """
        made = [proved.certificate for each in self.proofs for proved in each.conditions]
        return [one for place, one in enumerate(made) if one not in made[:place]]

    @property
    def suggestion(self) -> str | None:
        """A condition on the sizes of BEFORE with which AFTER is proved to mean the same, in the
        form that ``assume`` takes; None if there is none that is simple. It is looked for when it
        is first asked for, by further comparisons.
        """
        return None if self.missing is None else self.missing.condition

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "an answer has no truth value: use .proved, .refuted or .unknown"
            f" (this one is {self.status})"
        )

    def _repr_html_(self) -> str:
        from rlx.grammar.streams import preformatted

        return preformatted(f"{self}\n\n{self.explanation}" if self.steps else str(self))

    def __str__(self) -> str:
        names = ", ".join(self.entries)
        if self.proved:
            how = "bit for bit" if self.level == "bitwise" else "as exact real numbers"
            limits = f" with {' and '.join(self.promised)}" if self.promised else ""
            return f"proved: AFTER means the same as BEFORE for all sizes{limits}, {how} ({names})"
        if self.counterexample is None:
            terms = zip(SIDES, self.unjoined or (), strict=False)
            return "\n".join(
                [f"{self.status}: {self.reason}", *(f"  {side} {term}" for side, term in terms)]
            )
        example = self.counterexample
        lines = [f"refuted: {example.entry} differs: {example.difference}"]
        lines += [f"  {k} = {size}" for k, size in example.sizes.items() if k not in example.inputs]
        lines += [f"  {name} = {_short(value)}" for name, value in example.inputs.items()]
        for side, value in zip(SIDES, (example.before, example.after), strict=True):
            lines.append(f"  {side} {_short(value)}")
        return "\n".join(lines)


def _short(value: Any) -> str:
    """A value on one line."""
    text = " ".join((_part(value, [_WIDTH]) if isinstance(value, tuple) else str(value)).split())
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def _part(value: Any, room: list[int]) -> str:
    """A value as long as there is room for more characters; tuples may share their fields."""
    if not isinstance(value, tuple):
        text = repr(value)
        room[0] -= len(text)
        return text
    room[0] -= 2
    fields = [_part(field, room) if room[0] > 0 else "..." for field in value]
    return f"({', '.join(fields)}{',' if len(fields) == 1 else ''})"


_WIDTH = 200
