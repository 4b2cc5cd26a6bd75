"""The programs that stand beside the rules, by chapter."""

from __future__ import annotations

from collections.abc import Iterator

from rlx.spec import rules

CHAPTERS = sorted(
    {rule.file for rule in rules().values() if any("@" in each.text for each in rule.examples)}
)


def beside(chapter: str) -> Iterator[tuple[str, str]]:
    """The examples of a chapter that are texts, with names."""
    for rule in rules().values():
        if rule.file == chapter:
            for at, example in enumerate(rule.examples):
                if "\n@" in f"\n{example.text}":
                    yield f"{rule.identifier} {at}", example.text
