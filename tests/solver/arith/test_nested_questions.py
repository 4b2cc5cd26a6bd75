"""Texts of questions are read up to the limit of nesting, whatever nests, and no further."""

from __future__ import annotations

import pytest

from rlx.solver import question_parser
from rlx.solver.question_parser import parse, show

LEVELS = question_parser.NESTING_LIMIT


NESTS = {
    "brackets": ("(", ")"),
    "signs": ("-", ""),
    "complements": ("~(", ")"),
    "calls": ("abs(", ")"),
    "second arguments": ("max(1, ", ")"),
    "casts": ('Cast("int8", ', ")"),
}


@pytest.mark.parametrize("kind", NESTS)
def test_nests_up_to_the_limit(kind: str) -> None:
    """A term beside a nest is as deep as it is without the nest."""
    left, right = NESTS[kind]
    levels = LEVELS // (left.count("(") + left.count("~") + left.count("-"))
    deep = f"{left * levels}n{right * levels}"
    show(parse(deep, {}))
    show(parse(f"{deep} + {deep} - {deep}", {}))
    with pytest.raises(ValueError, match=f"more than {LEVELS} levels"):
        parse(f"{left}{deep}{right}", {})
    with pytest.raises(ValueError, match=f"more than {LEVELS} levels"):
        parse(f"n + {left}{deep}{right}", {})


def test_words_before_operands_nest() -> None:
    deep = f"{'not ' * LEVELS}n > 1"
    assert show(parse(f"({'not ' * (LEVELS - 1)}n > 1) or {deep}", {}))
    with pytest.raises(ValueError, match=f"more than {LEVELS} levels"):
        parse(f"not {deep}", {})
