"""Records which rules the checker applies, to what, with which answers and which failed premises.

Rules are small registered functions, so a derivation is the tree of their calls. The recorder sees
these calls through the interpreter's profiling hook: the checker has no line of code for it, and a
check that is not recorded costs what it did before.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from rlx.grammar.diagnostic import Diagnostic
from rlx.spec import registry

_WATCHED = frozenset(["call", "return"])
"""Other events that the interpreter tells of are not looked at."""

_KEPT = frozenset(["D01"])
"""The outermost applications that are kept even where nothing fails."""


class Application:
    """One application of a rule, or one question.

    Attributes
    ----------
    kind
        ``"rule"``, ``"question"`` (to the prover), ``"comparison"`` (of two struct infos) or
        ``"binding"`` (of shape variables).
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


class DerivationRecorder:
    """What one check did.

    Attributes
    ----------
    roots
        The derivations of modules, and what failed outside of them.
    """

    def __init__(self) -> None:
        self.roots: list[Application] = []
        self._open: list[Application] = []
        self._watched = _seams()
        self._known: dict[int, tuple[CodeType, tuple[str, str] | None]] = {}

    def hook(self, frame: FrameType, event: str, value: object) -> None:
        """What the interpreter calls wherever a function begins or ends."""
        if event not in _WATCHED:
            return
        code = frame.f_code
        known = self._known.get(id(code))
        if known is None:
            known = self._look_up(code)
        watched = known[1]
        if watched is not None:
            self._seen(watched, frame, event, value)

    def _look_up(self, code: CodeType) -> tuple[CodeType, tuple[str, str] | None]:
        """What code is to be recorded as; it is kept, so that its identity stays its own."""
        rule = registry.codes.get(id(code))
        watched = self._watched.get(id(code)) if rule is None else ("rule", rule)
        known = self._known[id(code)] = code, watched
        return known

    def _seen(self, watched: tuple[str, str], frame: FrameType, event: str, value: object) -> None:
        match *watched, event:
            case "failure", _, "call":  # a premise fails in the application at hand
                self._note("failed", frame.f_locals["code"])
            case "report", _, "return":  # that is said
                self._note("diagnostics", frame.f_locals["self"])
            case "failure" | "report", _, _:
                pass
            case kind, name, "call":
                self._open.append(Application(kind, name, dict(frame.f_locals)))
            case _:
                self._end(value)

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


def _seams() -> dict[int, tuple[str, str]]:
    """The functions that are no rules and yet worth recording."""
    from rlx.checker.derive.knowledge import AliasProver
    from rlx.solver.order import bind, compatibility

    asked = (AliasProver.equal, AliasProver.always, AliasProver.never, AliasProver.relate_all)
    found = {id(method.__code__): ("question", method.__name__) for method in asked}
    found[id(compatibility.__code__)] = ("comparison", compatibility.__name__)
    found[id(bind.__code__)] = ("binding", bind.__name__)
    found[id(registry.refuted.__code__)] = ("failure", "")
    found[id(Diagnostic.__init__.__code__)] = ("report", "")
    return found


@contextmanager
def recording() -> Iterator[DerivationRecorder]:
    """Record what the checker does in this thread, for the duration.

    A profiler that was at work is put back afterwards.
    """
    recorder = DerivationRecorder()
    before: Any = sys.getprofile()
    sys.setprofile(recorder.hook)
    try:
        yield recorder
    finally:
        sys.setprofile(before if callable(before) else None)
        if hasattr(before, "enable"):  # a profiler in C, such as that of cProfile
            before.enable()
