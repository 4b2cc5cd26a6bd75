"""Ties code to the clauses of the specification: `@rule("WF05", "1c9e…", "well-formed")`.

The decorator costs one dictionary entry at import. A test compares the entries with the headings
under `spec/`. The second argument is the hash of the clause that the code was written for, so that
a clause cannot change behind the code's back. The third is the judgement that the function decides:
the conclusion of the rule has its form.

With `RLX_TRACE_RULES` in the environment (the pytest plugin sets it) it is also recorded which
rules were applied, which of them held, and which premises failed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

TRACING = bool(os.environ.get("RLX_TRACE_RULES"))


class Registration(NamedTuple):
    """What a function was registered for.

    Attributes
    ----------
    clause
        The hash of the clause that it was written for.
    judgement
        The name of the judgement that it decides (:mod:`rlx.spec.judgements`).
    function
        The function.
    """

    clause: str
    judgement: str
    function: Callable[..., Any]


implementations: dict[str, list[Registration]] = {}
"""The registrations by the id of their rule."""

codes: dict[int, str] = {}
"""Which rule a code object implements, by its identity: what a recorder of derivations looks
for.
"""

applied: Counter[str] = Counter()
"""How often each rule was applied, while tracing."""

held: Counter[str] = Counter()
"""How often each rule was applied and none of its premises failed meanwhile, while tracing."""

failed: Counter[str] = Counter()
"""How often each premise (a diagnostic code, or a code given to :func:`refuted`) failed, while
tracing.
"""


refusals: set[str] = set()
"""The rules whose function is entered only where they are broken: what holds is decided before
it.
"""


def rule(
    identifier: str, clause: str, judgement: str, *, refuses: bool = False
) -> Callable[[F], F]:
    """Register a function as the implementation of a rule.

    Parameters
    ----------
    identifier
        The rule's id, a heading under `spec/`.
    clause
        The first 8 hexadecimal digits of the SHA-256 of the clause (`make rules` prints them).
    judgement
        The name of the judgement that the function decides (`make rules` prints it, too).
    refuses
        The function only says what is wrong, so no test can show it holding.
    """

    def register(function: F) -> F:
        if refuses:
            refusals.add(identifier)
        implementations.setdefault(identifier, []).append(Registration(clause, judgement, function))
        codes[id(function.__code__)] = identifier
        function.__rule__ = identifier  # type: ignore[attr-defined]
        if not TRACING:
            return function

        @wraps(function)
        def traced(*args: Any, **kwargs: Any) -> Any:
            applied[identifier] += 1
            before = _failures(identifier)
            result = function(*args, **kwargs)
            held[identifier] += _failures(identifier) == before
            return result

        return traced  # type: ignore[return-value]

    return register


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


def _failures(identifier: str) -> int:
    """How often premises of a rule failed so far."""
    from rlx.spec.reader import rules

    known = rules().get(identifier)
    return 0 if known is None else sum(failed[code] for code in known.premises)


def refuted(code: str) -> None:
    """Record, while tracing, that the premise of that code failed."""
    if TRACING:
        failed[code] += 1


def register_all() -> None:
    """Import every module that registers rules: the rooms above are found by their packages."""
    import pkgutil
    from importlib import import_module

    for room in (
        "rlx.solver",
        "rlx.operators",
        "rlx.checker",
        "rlx.semantics",
        "rlx.vm",
        "rlx.old",
        "rlx.relay",
    ):
        package = import_module(room)
        for found in pkgutil.walk_packages(package.__path__, room + "."):
            import_module(found.name)
