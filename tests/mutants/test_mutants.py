"""The seeded mistakes can be put in: each replaces a text that stands once in its file, and what results is Python."""

from __future__ import annotations

import ast

import pytest

from tests.mutants.run import Mutant, applied, mutants
from tests.tree_copy import ROOT

ALL = mutants()


def test_there_are_enough_of_each_grade() -> None:
    grades = [mutant.grade for mutant in ALL]
    assert len(ALL) == len({mutant.name for mutant in ALL}) >= 60
    assert all(grades.count(grade) >= 8 for grade in ("shallow", "middle", "deep"))


@pytest.mark.parametrize("mutant", ALL, ids=lambda m: m.name)
def test_it_can_be_put_in(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text("utf-8")
    assert ast.dump(ast.parse(applied(mutant, text))) != ast.dump(ast.parse(text))
