"""Records which rules the checker applies, to what, with which answers and which failed premises.

Rules are small registered functions, so a derivation is the tree of their calls. The recorder sees these calls
through the interpreter's profiling hook: the checker has no line of code for it, and a check that nobody records
costs what it did before.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from rlx.grammar.diagnostic import Diagnostic
from rlx.spec import registry

QUESTION, COMPARISON, BINDING = "question", "comparison", "binding"
"""What is recorded besides rules: questions to the prover, judgements of the order, bindings of shape variables."""

_KEPT = frozenset(["D01"])
"""Of what is applied on the outside, only derivations are kept where nothing fails: the rest just holds."""


class Application:
    """One application of a rule, or one question.

    Attributes
    ----------
    kind
        ``"rule"``, or one of the kinds above.
    name
        The rule's id; of a question the method of the prover.
    arguments
        What the function was given, by parameter.
    result
        What it returned; None also where it gave up.
    inner
        What was applied on the way, in order.
    failed
        The premises that failed in this application itself.
    diagnostics
        What it reported.
    """

    __slots__ = ("arguments", "diagnostics", "failed", "inner", "kind", "name", "result")

    def __init__(self, kind: str, name: str, arguments: dict[str, Any]) -> None:
        self.kind, self.name, self.arguments = kind, name, arguments
        self.result: Any = None
        self.inner: list[Application] = []
        self.failed: list[str] = []
        self.diagnostics: list[Diagnostic] = []

    def __repr__(self) -> str:
        return f"Application({self.name}, {len(self.inner)} inside)"

    @property
    def is_quiet(self) -> bool:
        """Whether nothing failed here or further inside; asked of shallow records only."""
        return not (self.failed or self.diagnostics) and all(r.is_quiet for r in self.inner)


class Recorder:
    """What one check did.

    Attributes
    ----------
    roots
        The derivations of modules, and what failed outside of them.
    """

    def __init__(self) -> None:
        self.roots: list[Application] = []
        self._open: list[Application] = []
        self._seams = _seams()
        self._failure = registry.refuted.__code__
        self._report = Diagnostic.__init__.__code__

    def hook(self, frame: FrameType, event: str, value: object) -> None:
        """What the interpreter calls wherever a function begins or ends."""
        if event == "call":
            code = frame.f_code
            if code in registry.codes or code in self._seams:
                self._begin(frame, code)
            elif code is self._failure:
                self._note("failed", frame.f_locals["code"])
        elif event == "return":
            code = frame.f_code
            if code in registry.codes or code in self._seams:
                self._end(value)
            elif code is self._report:
                self._note("diagnostics", frame.f_locals["self"])

    def _begin(self, frame: FrameType, code: CodeType) -> None:
        rule = registry.codes.get(code)
        kind, name = ("rule", rule) if rule is not None else self._seams[code]
        self._open.append(Application(kind, name, dict(frame.f_locals)))

    def _end(self, value: object) -> None:
        if not self._open:
            return  # it began before the recording did
        record = self._open.pop()
        record.result = value
        if self._open:
            self._open[-1].inner.append(record)
        elif record.name in _KEPT or not record.is_quiet:
            self.roots.append(record)

    def _note(self, what: str, value: object) -> None:
        """Add to the application at hand; what fails outside of all rules has no values to show."""
        if self._open:
            getattr(self._open[-1], what).append(value)


def _seams() -> dict[CodeType, tuple[str, str]]:
    """The functions that are no rules and yet worth recording."""
    from rlx.checker.derive.aliases import AliasProver
    from rlx.solver.order import bind, compatibility

    asked = (AliasProver.equal, AliasProver.always, AliasProver.never, AliasProver.relate_all)
    found = {method.__code__: (QUESTION, method.__name__) for method in asked}
    found[compatibility.__code__] = (COMPARISON, compatibility.__name__)
    found[bind.__code__] = (BINDING, bind.__name__)
    return found


@contextmanager
def recording() -> Iterator[Recorder]:
    """Application what the checker does in this thread, for the duration.

    A profiler that was at work is put back afterwards.
    """
    recorder = Recorder()
    before = sys.getprofile()
    sys.setprofile(recorder.hook)
    try:
        yield recorder
    finally:
        sys.setprofile(before)
