"""What passes make of a module, watched from text to text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlx.checker.check import Report, check_text
from rlx.grammar.nodes.node import Record

if TYPE_CHECKING:
    from rlx.generate.campaign.oracles.meaning import Meaning

ILLEGAL, MEANING = "illegal", "meaning"
SIZES = (3, 1)
"""The numbers that shape variables get by default."""
INPUT = "(the input)"
"""Stands for the pass where the module was wrong before the first one."""


class Problem(Record):
    """A problem that a pass caused.

    Attributes
    ----------
    pass_name
        The pass; :data:`INPUT` if the module was wrong before the first one.
    kind
        ``"illegal"``: the result has new errors. ``"meaning"``: the result returns another value.
    message
        The problem, in a line.
    before, after
        The module's text before and after the pass.
    report
        The checker's report about the result of the pass.
    """

    pass_name: str
    kind: str
    message: str
    before: str
    after: str
    report: Report

    def __str__(self) -> str:
        """``pass: message``"""
        return f"{self.pass_name}: {self.message}"


class Watch:
    """Follows a module through passes.

    Passes contain passes: what was seen after the inner one is not laid to the outer one, since
    only what is new since the last text counts.

    Parameters
    ----------
    sizes
        The numbers that shape variables get in runs before and after each pass; none for no runs.
    seed
        Of the inputs.

    Attributes
    ----------
    seen
        The names of the passes after which the module was looked at.
    problems
        What went wrong, in order.
    """

    def __init__(self, sizes: Sequence[int] = (), seed: int = 0) -> None:
        self.sizes = sizes
        self.seed = seed
        self.seen: list[str] = []
        self.problems: list[Problem] = []
        self._text: str | None = None
        self._errors: frozenset[str] = frozenset()
        self._meanings: Sequence[Meaning] = ()

    def before(self, text: str) -> Problem | None:
        """The text that a pass is given; a problem if it is wrong already and that was not
        reported.
        """
        if self._text is not None:
            return None
        report = check_text(text, "<before all passes>")
        self._remember(text, report)
        if report.ok:
            self._meanings = self._run(text)
            return None
        return self._problem(INPUT, ILLEGAL, str(report.errors[0]), text, report)

    def after(self, name: str, text: str) -> Problem | None:
        """The text that a pass made, and what is wrong with it."""
        self.seen.append(name)
        if text == self._text:
            return None
        before = self._text or ""
        report = check_text(text, f"<after {name}>")
        known, wrong_before = self._errors, bool(self._errors)
        self._remember(text, report)
        new = [d for d in report.errors if _said(d.code, d.message) not in known]
        if new:
            return self._problem(name, ILLEGAL, str(new[0]), before, report, text)
        if wrong_before or not report.ok:
            return None
        return self._other_meaning(name, before, text, report)

    def _other_meaning(self, name: str, before: str, text: str, report: Report) -> Problem | None:
        if not self.sizes:
            return None
        from rlx.generate.campaign.oracles.meaning import differ

        earlier = self._meanings
        self._meanings = self._run(text, earlier)
        difference = differ(earlier, self._meanings)
        if difference is None:
            return None
        return self._problem(name, MEANING, difference.said, before, report, text)

    def _run(self, text: str, earlier: Sequence[Meaning] = ()) -> Sequence[Meaning]:
        if not self.sizes:
            return ()
        from rlx.generate.campaign.oracles.meaning import meanings

        return meanings(text, self.seed, earlier, self.sizes)

    def _remember(self, text: str, report: Report) -> None:
        self._text = text
        self._errors = frozenset(_said(d.code, d.message) for d in report.errors)

    def _problem(
        self, name: str, kind: str, message: str, before: str, report: Report, after: str = ""
    ) -> Problem:
        problem = Problem(name, kind, message, before, after, report)
        self.problems.append(problem)
        return problem


def _said(code: str, message: str) -> str:
    """An error without its place: passes move what was wrong before."""
    return f"{code}: {message}"
