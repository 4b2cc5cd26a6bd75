"""Which codes a run reports: `--select` and `--ignore`."""

from __future__ import annotations

from collections.abc import Iterable

from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.node import Record

ALWAYS = ("PARSE", "READ", "INTERNAL")
"""Reported whatever is selected: a file in which one of these stands was not checked."""


class Selection(Record):
    """Codes to report: those that a selector in ``select`` names, all if it is empty, but none in
    ``ignore``.

    A selector is a code (``D14-arity``), a rule (``D14``), or the letters of a family (``WF``).
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def reports(self, diagnostic: Diagnostic) -> bool:
        """Whether a diagnostic is reported."""
        if diagnostic.code in ALWAYS:
            return True
        chosen = not self.select or _named(diagnostic.code, self.select)
        return chosen and not _named(diagnostic.code, self.ignore)


def matches(selector: str, code: str) -> bool:
    """Whether a selector names a code."""
    if code == selector:
        return True
    if code.startswith(f"{selector}-"):
        return "-" not in selector or _belongs(code, selector)
    family = code[: len(selector)]
    return family == selector and selector.isalpha() and not code[len(selector)].isalpha()


def _belongs(code: str, identifier: str) -> bool:
    """Whether a code is a premise of that rule: the codes of `E-call-tir` begin like those of
    `E-call`.
    """
    from rlx.spec import premise_rule

    found = premise_rule(code)
    return found is not None and found.identifier == identifier


def _named(code: str, selectors: Iterable[str]) -> bool:
    return any(matches(selector, code) for selector in selectors)


def parse(written: Iterable[str]) -> tuple[str, ...]:
    """The selectors in the values of an option: separated by commas, spaces around them ignored."""
    return tuple(s.strip() for value in written for s in value.split(",") if s.strip())
