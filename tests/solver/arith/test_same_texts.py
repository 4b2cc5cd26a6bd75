"""Texts of questions: each call with each number and kind of operands, errors at each length, nests at the limit, as they were.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/solver/arith/test_same_texts.py` writes the digests anew.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from rlx.grammar import tir
from rlx.solver import calls, question_parser
from rlx.solver.question_parser import parse, show
from rlx.solver.usage_errors import no_condition
from tests.snapshots import assert_digest
from tests.solver.arith.test_same_picked import said

KEPT = Path(__file__).parent / "snapshots" / "texts.txt"
NAMES = sorted(
    {
        *calls._NAMED,
        *calls._INTRINSICS,
        *(
            "select",
            "if_then_else",
            "not",
            "all",
            "any",
            "And",
            "Select",
            "T.Max",
            "tir.abs",
            "Likely",
        ),
        *(
            "int8",
            "uint1",
            "int64",
            "uint64",
            "bool",
            "int",
            "int0",
            "uint5",
            "int12345",
            "float32",
        ),
        *(
            "bfloat16",
            "handle",
            "exp",
            "np.max",
            "x.y",
            "cast",
            "T.Cast",
            "tvm.tir.min",
            "popcount",
        ),
    }
)
OPERANDS = ("n", "m < 2", "300", "-1", "b and n > 0")
LEVELS = question_parser.NESTING_LIMIT


def read(text: str) -> str:
    """What is read of a text: its expression, the type of that, and its variables."""
    variables: dict[str, tir.Var] = {}
    found = parse(text, variables)
    return f"{show(found)} {tir.type_of(found)} {getattr(found, 'dtype', None)} {list(variables)}"


@pytest.mark.parametrize("name", NAMES)
def test_calls(name: str) -> None:
    told = []
    for count in range(5):
        for first in range(len(OPERANDS)):
            given = [OPERANDS[(first + at) % len(OPERANDS)] for at in range(count)]
            told.append(said(partial(read, f"{name}({', '.join(given)})")))
    assert_digest(KEPT, name, "\n".join(told))


@pytest.mark.parametrize(
    "end", ["", " §", " + 0x1f", " 1.5", ")", " ?? abcdefghijklmnopqrstuvwxyz", " = 1"]
)
def test_errors_show_what_is_read(end: str) -> None:
    told = []
    for length in (0, 1, 2, *range(54, 64), 80):
        text = f"{'n' * length} +{end}" if length % 2 else f"{'n' * length}{end}"
        told.append(said(partial(read, text)))
    assert_digest(KEPT, f"error {end}", "\n".join(told))


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
    """What stands beside a nest is as deep as if it were not there."""
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


def test_numbers_where_conditions_are_expected() -> None:
    told = []
    for length in range(30, 100, 1):
        told.append(no_condition(tir.Add(tir.Var("n" * length), tir.IntImm(1))))
    told.append(no_condition(tir.FloatImm(1.5)))
    assert_digest(KEPT, "no condition", "\n".join(told))
