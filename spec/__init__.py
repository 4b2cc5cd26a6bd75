"""The specification in the project's own words, and the tools that tie the code to it."""

from rlx.spec.reader import Entry, Rule, ledger, premise_rule, rules

__all__ = ["Entry", "Rule", "ledger", "premise_rule", "rules"]
