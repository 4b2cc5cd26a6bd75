"""Coverage: the rules that tests apply, and the premises that they make fail.

A test run writes `build/rule-coverage.json` (the pytest plugin `rlx.spec.plugin`); this module
reads it, renders it, and says whether it is enough.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rlx.spec.reader import premise_rule, rules
from rlx.spec.registry import Observer, refusals, register_all

RESULT = Path("build") / "rule-coverage.json"


class RuleCounts(Observer):
    """Counts what is observed.

    Attributes
    ----------
    applied, held
        How often each rule was applied; and how often with a result, while none of its premises
        failed.
    failed
        How often each premise failed.
    """

    def __init__(self) -> None:
        self.applied: Counter[str] = Counter()
        self.held: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self._broken: Counter[str] = Counter()

    def begins(
        self,
        kind: str,
        name: str,
        function: Callable[..., Any],
        given: tuple[Any, ...],
        named: Mapping[str, Any],
    ) -> tuple[str, int] | None:
        if kind != "rule":
            return None
        self.applied[name] += 1
        return name, self._broken[name]

    def ends(self, begun: tuple[str, int] | None, result: object, completed: bool) -> None:
        if begun is not None and completed:
            name, broken = begun
            self.held[name] += self._broken[name] == broken

    def fails(self, label: str, diagnostic: object) -> None:
        self.failed[label] += 1
        rule = premise_rule(label)
        if rule is not None:
            self._broken[rule.identifier] += 1


class Coverage:
    """The number of times that each rule was applied and held, and that each premise failed."""

    def __init__(
        self, applied: dict[str, int], failed: dict[str, int], held: dict[str, int]
    ) -> None:
        self.applied = Counter(applied)
        self.failed = Counter(failed)
        self.held = Counter(held)

    @classmethod
    def read(cls, path: Path = RESULT) -> Coverage:
        """The coverage of the last test run.

        Raises
        ------
        FileNotFoundError
            If there was none.
        """
        data = json.loads(path.read_text(encoding="utf-8"))
        return cls(data["applied"], data["failed"], data["held"])

    def not_applied(self) -> list[str]:
        """The rules that no test applies."""
        return [name for name in rules() if not self.applied[name]]

    def not_failed(self) -> list[str]:
        """The premises that no test makes fail."""
        return [
            code for rule in rules().values() for code in rule.premises if not self.failed[code]
        ]

    def not_held(self) -> list[str]:
        """The rules that tests apply, and never where they hold; without those whose code is only
        the refusal.
        """
        register_all()
        return [
            name
            for name in rules()
            if self.applied[name] and not self.held[name] and name not in refusals
        ]

    def counts(self) -> dict[str, int]:
        """The number of covered rules and premises."""
        premises = sum(len(rule.premises) for rule in rules().values())
        return {
            "rules": len(rules()) - len(self.not_applied()),
            "premises": premises - len(self.not_failed()),
        }


def table(coverage: Coverage) -> str:
    """The coverage as a table: rule, times applied, premises with times failed."""
    lines = [f"{'rule':<22}{'applied':>9}{'held':>9}  premises (times failed)"]
    for name, rule in rules().items():
        failed = ", ".join(
            f"{code.removeprefix(name + '-')} {coverage.failed[code]}" for code in rule.premises
        )
        lines.append(
            f"{name:<22}{coverage.applied[name]:>9}{coverage.held[name]:>9}  {failed or '-'}"
        )
    counts = coverage.counts()
    premises = sum(len(rule.premises) for rule in rules().values())
    lines.append(
        f"{counts['rules']} of {len(rules())} rules applied, "
        f"{counts['premises']} of {premises} premises failed in some test"
    )
    return "\n".join(lines)


def gate(coverage: Coverage) -> list[str]:
    """Why the coverage is not enough; nothing if it is."""
    return [
        *(f"no test applies {name}" for name in coverage.not_applied()),
        *(f"no test shows {name} holding" for name in coverage.not_held()),
        *(f"no test makes {code} fail" for code in coverage.not_failed()),
    ]
