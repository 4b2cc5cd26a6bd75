"""The rules of `spec/proofs.md`, as the checker applies them.

The checker knows nothing of rlx. Here it is observed, so that the examples beside each rule show
that its premises hold and fail as the rule says.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from rlx.solver.proofs.checker import Cond, ProofChecker, check
from rlx.spec.registry import decide, rule


class ObservedChecker(ProofChecker):
    """A checker whose premises are observed, and whose steps are those of the rules."""

    def need(self, label: str, holds: bool, message: str) -> None:
        decide(label, holds)
        super().need(label, holds, message)

    def sum(self, step: SimpleNamespace) -> Cond:
        return sum_of_products(self, step)

    def cut(self, step: SimpleNamespace) -> Cond:
        return cut(self, step)

    def division(self, step: SimpleNamespace) -> Cond:
        return _BY_CODE[step.code](self, step)

    def pair(self, step: SimpleNamespace) -> Cond:
        return _BY_CODE[step.code](self, step)

    def extreme(self, step: SimpleNamespace) -> Cond:
        return _BY_CODE[step.code](self, step)

    def bits(self, step: SimpleNamespace) -> Cond:
        return bits(self, step)

    def powers(self, step: SimpleNamespace) -> Cond:
        return powers(self, step)

    def split(self, step: SimpleNamespace) -> Cond:
        return split(self, step)

    def branch(self, step: SimpleNamespace) -> Cond:
        return _BY_CODE[step.code](self, step)


@rule("PF01", "certificate")
def checked(certificate: Any) -> None:
    """Check a certificate; see :func:`rlx.solver.proofs.checker.check`."""
    check(certificate, ObservedChecker())


@rule("PF02", "proof step")
def sum_of_products(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """A sum of products of facts."""
    return ProofChecker.sum(checker, step)


@rule("PF03", "proof step")
def cut(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """Division by a positive number, rounded down."""
    return ProofChecker.cut(checker, step)


@rule("PF04", "proof step")
def floor(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """The limits of a remainder."""
    return ProofChecker.division(checker, step)


@rule("PF05", "proof step")
def quotient(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """A quotient by its remainder."""
    return ProofChecker.division(checker, step)


@rule("PF06", "proof step")
def strict(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """At least 0 and not 0."""
    return ProofChecker.pair(checker, step)


@rule("PF07", "proof step")
def squeeze(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """At least 0 and at most 0."""
    return ProofChecker.pair(checker, step)


@rule("PF08", "proof step")
def factor(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """A factor of what is not 0."""
    return ProofChecker.pair(checker, step)


@rule("PF09", "proof step")
def clash(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """0 and not 0."""
    return ProofChecker.pair(checker, step)


@rule("PF10", "proof step")
def maximum(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """The bounds of a maximum."""
    return ProofChecker.extreme(checker, step)


@rule("PF11", "proof step")
def choice(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """The bounds of a choice."""
    return ProofChecker.extreme(checker, step)


@rule("PF12", "proof step")
def cases(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """The alternatives of a fact."""
    return ProofChecker.branch(checker, step)


@rule("PF13", "proof step")
def table(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """The values between two limits."""
    return ProofChecker.branch(checker, step)


@rule("PF14", "proof step")
def lemma(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """A proof of a fact."""
    return ProofChecker.branch(checker, step)


@rule("PF15", "proof step")
def bits(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """A condition on each bit."""
    return ProofChecker.bits(checker, step)


@rule("PF16", "proof step")
def powers(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """A power of two."""
    return ProofChecker.powers(checker, step)


@rule("PF17", "proof step")
def split(checker: ProofChecker, step: SimpleNamespace) -> Cond:
    """Common bits above and below a power of two."""
    return ProofChecker.split(checker, step)


_BY_CODE: dict[str, Callable[[ProofChecker, SimpleNamespace], Cond]] = {
    "PF04": floor,
    "PF05": quotient,
    "PF06": strict,
    "PF07": squeeze,
    "PF08": factor,
    "PF09": clash,
    "PF10": maximum,
    "PF11": choice,
    "PF12": cases,
    "PF13": table,
    "PF14": lemma,
}
