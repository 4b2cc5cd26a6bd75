"""`relax-check --explain CODE`: what a rule demands, why, and where it comes from."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def explain(code: str) -> int:
    """Print the rule behind a diagnostic's code; 2 if there is none."""
    from rlx.spec import ledger, premise_rule

    rule = premise_rule(code)
    if rule is None:
        sys.stderr.write(f"no rule and no premise is named {code!r}; `rlx explain` lists them\n")
        return 2
    lines = [f"{rule.identifier}: {rule.title}", "", *_filled(rule.statement), ""]
    if rule.why:
        lines += [*_filled(f"Why: {rule.why}"), ""]
    if rule.premises:
        lines.append("It is reported as")
        for name, text in rule.premises.items():
            marker = ">" if name == code else " "
            lines += _filled(text, f"{marker} {name}  when not: ", "      ")
        lines.append("")
    for number in rule.ledger:
        entry = ledger()[number]
        lines += [*_filled(f"Ledger {number}, {entry.title}: {entry.text}"), ""]
    lines += _filled(f"Source: {rule.source}")
    print("\n".join(lines))
    return 0


def main(argv: Sequence[str]) -> int:
    """`rlx explain CODE`; without a code, all rules."""
    if argv:
        return max(explain(code) for code in argv)
    from rlx.spec import rules

    for name, rule in rules().items():
        print(f"{name:<22}{rule.title}")
    return 0


def _filled(text: str, first: str = "", then: str = "") -> list[str]:
    from textwrap import wrap

    return wrap(text, 96, initial_indent=first, subsequent_indent=then)


def codes() -> list[str]:
    """Every code that a diagnostic may have: rules and premises, and the syntax errors'."""
    from rlx.spec import rules

    found = ["PARSE", "PARSE-opaque", "READ"]
    for name, rule in rules().items():
        found += [name, *rule.premises]
    return found


def titles() -> dict[str, str]:
    """What each code is about, in a line."""
    from rlx.spec import rules

    found = {"PARSE": "Syntax", "PARSE-opaque": "Text of a PrimFunc that is kept as it stands"}
    for name, rule in rules().items():
        found[name] = rule.title
        found.update(dict.fromkeys(rule.premises, rule.title))
    return found
