"""Laws of places and trees, on the programs beside the rules and on near misses."""

from __future__ import annotations

import random
from collections import defaultdict
from functools import cache

import pytest

from rlx.checker.check import check_text
from rlx.checker.why.explain import Derivations, diagnostics_at, everything
from rlx.checker.why.place import constructs
from rlx.checker.why.step import Step, every
from rlx.checker.why.tree_text import render
from rlx.generate.near import CODES, near_miss
from rlx.grammar.print.printer import print_module
from tests.checker.why.laws import of_rules

PARTS = 8


@cache
def texts() -> list[str]:
    """Every second program beside the rules, and a near miss of each code."""
    near = [print_module(near_miss(code, random.Random(1))) for code in CODES]
    return [*[text for _, _, text in of_rules()][::2], *near]


@cache
def derivations(text: str) -> Derivations:
    """Each text is derived once, for the laws of all its steps."""
    return everything(text, "p.rlx")[1]


GIVING_UP = {"OBL-element", "OBL-window", "OBL-axis"}
"""Rules that an operator applies to one argument after the other, and that give up."""


@pytest.mark.parametrize("part", range(PARTS))
def test_what_covers_a_column(part: int) -> None:
    """A diagnostic covers the characters of its span, and at least one; constructs stand in the text."""
    for text in texts()[part::PARTS]:
        report = check_text(text, "p.rlx")
        for found in report.diagnostics:
            start, end = found.span or (0, 0)
            for offset in {start - 1, start, (start + end) // 2, end - 1, end, end + 1}:
                if 0 <= offset <= len(text):
                    place = report.source.position(offset)
                    covers = start <= offset < max(end, start + 1)
                    assert (found in diagnostics_at(report, *place)) is covers, (
                        text,
                        found,
                        place,
                    )
        for construct in constructs(report.modules, report.source):
            assert construct.span is not None, (text, construct)
            start, end = construct.span
            assert 0 <= start < end <= len(report.source.text)


def test_of_several_applications_of_a_rule_the_last_fails() -> None:
    """The one that fails gives up, and the rule around it with it."""
    failing = 0
    for text in texts():
        for step in every(derivations(text).roots):
            same = defaultdict[str, list[bool]](list)
            for _, below in step.below:
                if below.kind == "rule" and below.code in GIVING_UP:
                    same[below.code].append(any(is_error(inner) for _, inner in below.below))
            for fails in same.values():
                assert True not in fails[:-1], (text, step)
                failing += len(fails) > 1 and fails[-1]
    assert failing


def is_error(step: Step) -> bool:
    return step.kind == "premise" and step.status == "error"


def test_a_variable_has_a_line_with_its_rule() -> None:
    """Whether it stands for a derivation, a reference to one above, or nothing."""
    kinds = set[str]()
    for text in texts():
        derived = derivations(text)
        for step in every(derived.roots):
            if step.code == "D02" and len(step.below) == 1:
                lines = list(render([step], derived.source, {}))
                assert step.text in lines[0] and any("[D02 " in line for line in lines), lines
                kinds.add(step.below[0][1].kind)
    assert kinds == {"rule", "note", "reference"}
