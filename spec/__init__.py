"""The specification in the project's own words, and the tools that tie the code to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx.spec.reader import Example, Inference, LedgerEntry, Rule, ledger, premise_rule, rules

__all__ = ["Example", "Inference", "LedgerEntry", "Rule", "ledger", "premise_rule", "rules"]


def __getattr__(name: str) -> object:
    """Load a name of the reader when it is first used: registering a rule must not read files."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rlx.spec import reader

    return getattr(reader, name)
