"""Answers of the prover: proved, refuted or unknown, never a bare truth value."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NoReturn

from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import PrimExpr, Var

CONTRADICTORY = "contradictory assumptions"
"""No values satisfy the assumptions."""
NEVER_DEFINED = "never defined"
"""Where the assumptions hold, some divisor of the goal is always zero."""


class Verdict(Record):
    """The answer to a question; one of :class:`Proved`, :class:`Refuted` and :class:`Unknown`.

    It has no truth value: ``bool(verdict)`` raises TypeError.
    """

    @property
    def status(self) -> str:
        """``"proved"``, ``"refuted"`` or ``"unknown"``."""
        raise NotImplementedError

    @property
    def proved(self) -> bool:
        """Whether the goal is proved."""
        return isinstance(self, Proved)

    @property
    def refuted(self) -> bool:
        """Whether there is a counterexample."""
        return isinstance(self, Refuted)

    @property
    def unknown(self) -> bool:
        """Whether the goal is neither proved nor refuted."""
        return isinstance(self, Unknown)

    def _reason(self) -> str:
        """The reason for the status."""
        raise NotImplementedError

    def __str__(self) -> str:
        """The status, and what it rests on, in one line."""
        return f"{self.status}: {self._reason()}"

    def _repr_html_(self) -> str:
        from rlx.grammar.streams import preformatted

        return preformatted(str(self))

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a verdict has no truth value (proved, refuted or unknown): use verdict.proved"
            f" or verdict.refuted (this one is {self.status})"
        )

    @property
    def counterexample(self) -> Mapping[str, int] | None:
        """Values of the variables for which the goal is false, or None."""
        return None


_given = os.environ.get("RLX_PARANOID", "")
PARANOID = int(_given) if _given.isdecimal() else 0
"""One of so many proofs is checked when it is made; 0 for none."""
_made = itertools.count(1)


class Evidence:
    """The certificate of a verdict, made of what is given when it is first asked for, or at once if
    it is the turn of this one (`PARANOID`). It stays in its process.
    """

    def __init__(self, make: Callable[..., dict[str, Any]], *given: object) -> None:
        self._make = make
        self._given = given
        if PARANOID and next(_made) % PARANOID == 0:
            _ = self.certificate

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """The certificate."""
        return self._make(*self._given)

    def __repr__(self) -> str:
        return "…"

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()


class Proved(Verdict):
    """The goal holds wherever it is defined.

    Attributes
    ----------
    means
        The method of the proof: ``"identical"``, ``"normal form"``, ``"bounds"``, ``"residues"``,
        ``"floor"``, ``"cases"``, ``"smt: …"``; or the reason why the question is trivial:
        :data:`CONTRADICTORY`,
        :data:`NEVER_DEFINED`.
    divisors
        The divisors that must be nonzero for the goal to be defined, unless the assumptions imply
        it.
    evidence
        Makes the certificate; None for a verdict from elsewhere.
    """

    means: str
    divisors: tuple[PrimExpr, ...] = ()
    evidence: Evidence | None = None

    @property
    def certificate(self) -> dict[str, Any]:
        """The proof as data for JSON, which ``rlx verify-proof`` checks without the prover. It is
        made when it is first asked for.

        Where no steps are found, its field ``"proof"`` says so: ``"by SMT, unchecked"``.

        Raises
        ------
        AttributeError
            If the verdict was not given by a prover of this process.
        """
        if self.evidence is None:
            raise AttributeError("this verdict was not given by a prover of this process")
        return self.evidence.certificate

    @property
    def status(self) -> str:
        """``"proved"``"""
        return "proved"

    def _reason(self) -> str:
        from rlx.grammar.print.printer import show

        divisors = "".join(f", where {show(divisor)} != 0" for divisor in self.divisors)
        return self.means + divisors


class Refuted(Verdict):
    """The goal is false for the values in ``counterexample``, which satisfy all assumptions.

    Attributes
    ----------
    values
        The values by variable, because two variables may share a name.
    means
        The method that found them: ``"points"``, ``"normal form"``, ``"smt: …"``, ``"overflow"``.
    overflow
        In int64 mode, the sub-expression whose value does not fit; the goal itself may be true.
    """

    example: Mapping[str, int]
    values: Mapping[Var, int]
    means: str
    overflow: PrimExpr | None = None

    @property
    def status(self) -> str:
        """``"refuted"``"""
        return "refuted"

    def _reason(self) -> str:
        values = ", ".join(f"{name} = {value}" for name, value in self.example.items())
        return values or "it is false"

    @property
    def counterexample(self) -> Mapping[str, int]:
        """Values of the variables for which the goal is false."""
        return self.example


class Unknown(Verdict):
    """Neither proved nor refuted; ``reason`` describes what was tried."""

    reason: str

    @property
    def status(self) -> str:
        """``"unknown"``"""
        return "unknown"

    def _reason(self) -> str:
        return self.reason


class Relation(Record):
    """The relation of two dimensions, or two lists of them, over all admissible values.

    Attributes
    ----------
    kind
        ``"always"`` equal, ``"sometimes"``, ``"never"`` (with every variable at least 1),
        ``"unknown"``.
    counterexample
        Values that make them unequal.
    witness
        Values that make them equal.
    assumption
        A condition under which they are proved equal, or None.
    zero_saves
        For ``"never"``: whether they are equal if a variable is 0.
    reason
        For ``"unknown"``: what was tried.
    """

    kind: str
    counterexample: Mapping[str, int] | None = None
    witness: Mapping[str, int] | None = None
    assumption: PrimExpr | None = None
    zero_saves: bool = False
    reason: str = ""

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a relation has no truth value (always, sometimes, never or unknown): compare"
            f" relation.kind (here {self.kind!r})"
        )
