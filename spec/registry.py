"""Rules in code: `@rule("D12", "derivation")` on a function, and `need("D12-tuple", …)` in it.

`@rule` ties a function to the heading of that id under `spec/`. It names the judgement that the
function decides: the conclusion of the rule has its form. The function asks for its premises by
:func:`need`; where one fails, :func:`refuted` says so together with the diagnostic about it. The
labels of these calls are the labels of the rule's block. `python -m tests.spec.examples` compares
them: it runs the programs beside the rules and observes which labels hold and fail in which rule.

None of this is kept unless an observer is set (:class:`Observer`): `rlx why` builds its
tree so, and the coverage of rules is counted so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple, Protocol, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class Coded(Protocol):
    """An object that says that a premise fails: a diagnostic, of which this room knows the code
    alone.
    """

    @property
    def code(self) -> str:
        """The label of the premise."""


D = TypeVar("D", bound=Coded)


class Registration(NamedTuple):
    """The rule and the judgement that a function was registered for.

    Attributes
    ----------
    judgement
        The name of the judgement that it decides (:mod:`rlx.spec.judgements`).
    function
        The function.
    """

    judgement: str
    function: Callable[..., Any]


implementations: dict[str, list[Registration]] = {}
"""The registrations by the id of their rule."""

refusals: set[str] = set()
"""The rules whose function is entered only where they are broken: what holds is decided before
it.
"""


class Observer:
    """Is told which judgements are made while :func:`observing`. This one ignores everything."""

    def begins(
        self,
        kind: str,
        name: str,
        function: Callable[..., Any],
        given: tuple[Any, ...],
        named: Mapping[str, Any],
    ) -> object:
        """A judgement begins; the result is handed to :meth:`ends`.

        Parameters
        ----------
        kind, name
            ``"rule"`` with the rule's id, or another kind of :func:`judged` function.
        function, given, named
            The function, and its positional and named arguments.
        """
        return None

    def ends(self, begun: Any, result: object, completed: bool) -> None:
        """A judgement ends: with a result, or not ``completed``, by an exception."""

    def holds(self, label: str) -> None:
        """A premise holds."""

    def fails(self, label: str, diagnostic: Any) -> None:
        """A premise fails; the diagnostic that says so, or None."""


_observers: tuple[Observer, ...] = ()


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Tell an observer about every judgement for the duration, in all threads."""
    begin(observer)
    try:
        yield
    finally:
        end(observer)


def begin(observer: Observer) -> None:
    """Tell an observer about every judgement from now on."""
    global _observers
    _observers = (*_observers, observer)


def end(observer: Observer) -> None:
    """Tell an observer nothing more."""
    global _observers
    _observers = tuple(each for each in _observers if each is not observer)


# ---------------------------------------------------------------- premises


def need(label: str, holds: bool) -> bool:
    """Whether a premise holds. Where it does not, the caller reports it (:func:`refuted`)."""
    if _observers and holds:
        for observer in _observers:
            observer.holds(label)
    return holds


def decide(label: str, holds: bool) -> bool:
    """Whether a premise holds, of which nobody is told but observers."""
    if not need(label, holds):
        refuted(label)
    return holds


def refuted(label: str, diagnostic: Coded | None = None) -> None:
    """Note that a premise fails, and the diagnostic that says so."""
    for observer in _observers:
        observer.fails(label, diagnostic)


def reported(diagnostic: D) -> D:
    """Note that the premise fails whose label is the code of a diagnostic; the diagnostic."""
    refuted(diagnostic.code, diagnostic)
    return diagnostic


# ---------------------------------------------------------------- judgements


def rule(identifier: str, judgement: str, *, refuses: bool = False) -> Callable[[F], F]:
    """Register a function as the implementation of a rule.

    Parameters
    ----------
    identifier
        The rule's id, a heading under `spec/`.
    judgement
        The name of the judgement that the function decides (`make rules` prints it).
    refuses
        The function only says what is wrong, so no test can show it holding.
    """

    def register(function: F) -> F:
        if refuses:
            refusals.add(identifier)
        applied = judged("rule", identifier)(function)
        applied.__rule__ = identifier  # type: ignore[attr-defined]
        implementations.setdefault(identifier, []).append(Registration(judgement, applied))
        return applied

    return register


def judged(kind: str, name: str) -> Callable[[F], F]:
    """Let observers be told where a function begins and ends; see :meth:`Observer.begins`."""

    def mark(function: F) -> F:
        wrapper = _WRAPPERS.get(_arity(function), _any)
        return wraps(function)(wrapper(kind, name, function))  # type: ignore[return-value]

    return mark


def _arity(function: Callable[..., Any]) -> int:
    """The number of arguments of each call; 0 if calls differ."""
    code = getattr(function, "__code__", None)  # a cached function has none
    if code is None or function.__defaults__ or code.co_kwonlyargcount or code.co_flags & _VARIABLE:
        return 0
    return int(code.co_argcount)


def _observed(
    kind: str,
    name: str,
    function: Callable[..., Any],
    given: tuple[Any, ...],
    named: Mapping[str, Any],
) -> Any:
    """Call a function between what observers are told of it."""
    begun = [(each, each.begins(kind, name, function, given, named)) for each in _observers]
    result, completed = None, False
    try:
        result = function(*given, **named)
        completed = True
        return result
    finally:
        for observer, token in reversed(begun):
            observer.ends(token, result, completed)


# A function that nobody observes is called without packing and unpacking its arguments: Python
# then needs no C stack for the call, on which nested programs would overflow, and half the time.


def _one(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def applied(a: Any) -> Any:
        return _observed(kind, name, function, (a,), {}) if _observers else function(a)

    return applied


def _two(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def applied(a: Any, b: Any) -> Any:
        return _observed(kind, name, function, (a, b), {}) if _observers else function(a, b)

    return applied


def _three(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def applied(a: Any, b: Any, c: Any) -> Any:
        return _observed(kind, name, function, (a, b, c), {}) if _observers else function(a, b, c)

    return applied


def _four(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def applied(a: Any, b: Any, c: Any, d: Any) -> Any:
        if _observers:
            return _observed(kind, name, function, (a, b, c, d), {})
        return function(a, b, c, d)

    return applied


def _any(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def applied(*given: Any, **named: Any) -> Any:
        if _observers:
            return _observed(kind, name, function, given, named)
        return function(*given, **named)

    return applied


_WRAPPERS = {1: _one, 2: _two, 3: _three, 4: _four}
_VARIABLE = 0x04 | 0x08
"""The flags of code that takes `*args` or `**kwargs`."""


def rule_of(function: Callable[..., Any]) -> str:
    """The id of the rule that a function implements, or of those that it chooses from the most
    likely one.
    """
    found: str = function.__rule__  # type: ignore[attr-defined]
    return found


def choice(likely: Callable[..., Any]) -> Callable[[F], F]:
    """Mark a function that chooses between rules with the rule that it chooses most often."""

    def mark(function: F) -> F:
        function.__rule__ = rule_of(likely)  # type: ignore[attr-defined]
        return function

    return mark


def register_all() -> None:
    """Import every module that registers rules: the rooms above are found by their packages."""
    import pkgutil
    from importlib import import_module

    for room in (
        "rlx.solver",
        "rlx.operators",
        "rlx.checker",
        "rlx.semantics",
        "rlx.refine",
        "rlx.vm",
        "rlx.old",
        "rlx.relay",
    ):
        package = import_module(room)
        for found in pkgutil.walk_packages(package.__path__, room + "."):
            import_module(found.name)
