"""Records which rules the checker applies, to what, with which answers and which premises.

The judgements tell it (:mod:`rlx.spec.registry`): a derivation is the tree of their calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from inspect import Parameter, signature
from threading import get_ident
from typing import Any

from rlx.grammar.diagnostic import Diagnostic
from rlx.spec.registry import Observer, observing

_KEPT = frozenset(["D01"])
"""The outermost applications that are kept even where nothing fails."""


class RuleApplication:
    """One application of a rule, or one question.

    Attributes
    ----------
    kind
        ``"rule"``, ``"question"`` (to the prover), ``"comparison"`` (of two struct infos) or
        ``"binding"`` (of shape variables).
    name
        The rule's id; of a question the method of the prover.
    given
        What the function was given by position.
    result, completed
        What it returned; None where it gave up, and whether it did not.
    inner
        What was applied on the way, in order.
    held, failed
        The premises that held and failed in this application itself.
    diagnostics
        What it reported.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        function: Callable[..., Any],
        given: tuple[Any, ...],
        named: Mapping[str, Any],
    ) -> None:
        self.kind, self.name = kind, name
        self.given = given
        self._function, self._named = function, named
        self.result: Any = None
        self.completed = False
        self.inner: list[RuleApplication] = []
        self.held: dict[str, None] = {}
        self.failed: list[str] = []
        self.diagnostics: list[Diagnostic] = []

    def __repr__(self) -> str:
        return f"RuleApplication({self.name}, {len(self.inner)} inside)"

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the function, by parameter."""
        found: dict[str, Any] = {}
        for at, parameter in enumerate(_parameters(self._function)):
            if parameter.kind is Parameter.VAR_POSITIONAL:
                found[parameter.name] = self.given[at:]
            elif at < len(self.given):
                found[parameter.name] = self.given[at]
            else:
                found[parameter.name] = self._named.get(parameter.name, parameter.default)
        return found

    @property
    def is_quiet(self) -> bool:
        """Whether nothing failed here or further inside; asked of shallow records only."""
        return not (self.failed or self.diagnostics) and all(r.is_quiet for r in self.inner)


@cache
def _parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    return tuple(signature(function).parameters.values())


class DerivationRecorder(Observer):
    """The record of one check in the thread that made the recorder.

    Attributes
    ----------
    roots
        The derivations of modules, and what failed outside of them.
    """

    def __init__(self) -> None:
        self.roots: list[RuleApplication] = []
        self._open: list[RuleApplication] = []
        self._thread = get_ident()

    def begins(
        self,
        kind: str,
        name: str,
        function: Callable[..., Any],
        given: tuple[Any, ...],
        named: Mapping[str, Any],
    ) -> RuleApplication | None:
        if get_ident() != self._thread:
            return None
        record = RuleApplication(kind, name, function, given, named)
        self._open.append(record)
        return record

    def ends(self, begun: RuleApplication | None, result: object, completed: bool) -> None:
        if begun is None:
            return
        self._open.pop()
        begun.result, begun.completed = result, completed
        if self._open:
            self._open[-1].inner.append(begun)
        elif begun.name in _KEPT or not begun.is_quiet:
            self.roots.append(begun)

    def holds(self, label: str) -> None:
        record = self._at_hand
        if record is not None:
            record.held[label] = None

    def fails(self, label: str, diagnostic: Diagnostic | None) -> None:
        record = self._at_hand
        if record is not None:
            record.failed.append(label)
            if diagnostic is not None:
                record.diagnostics.append(diagnostic)

    @property
    def _at_hand(self) -> RuleApplication | None:
        """The innermost judgement; what fails outside of all has no values to show."""
        return self._open[-1] if self._open and get_ident() == self._thread else None


@contextmanager
def recording() -> Iterator[DerivationRecorder]:
    """Record what the checker does in this thread, for the duration."""
    recorder = DerivationRecorder()
    with observing(recorder):
        yield recorder
