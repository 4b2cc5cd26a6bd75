"""Certificates that claim something else than a reader sees, or ask for too much work; `tests/spec/test_examples.py` has one for each premise."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from rlx.grammar.nodes import tir
from rlx.solver import Proved, Verdict, prove
from rlx.solver.proofs.checker import RefusedError, read
from rlx.solver.proofs.rules import checked

FLOOR = """
{"version": 1, "goal": "n // 8 * 8 <= n", "assume": [], "variables": {"n": [0, null]}, "names": {"q": "n//8"},
 "proof": [
  {"rule": "floor-low", "atom": "q", "uses": [], "gives": "n - 8*q >= 0"},
  {"rule": "sum", "terms": ["1", "1"], "uses": [[1], [2]], "gives": "False"}]}
"""


def test_numbers_of_too_many_digits_are_too_much_work() -> None:
    checked(read(FLOOR))
    with pytest.raises(RefusedError) as refused:
        checked(read(FLOOR.replace("8 <= n", f"8 <= n * {'9' * 3000} * {'9' * 3000}", 1)))
    assert refused.value.args[0] == "PF01-work"


def check_proof(verdict: Verdict) -> None:
    assert isinstance(verdict, Proved)
    checked(verdict.certificate)


def refused(certificate: dict[str, Any]) -> str:
    with pytest.raises(RefusedError) as error:
        checked(certificate)
    return str(error.value.args[0])


def test_a_name_is_read_as_it_is_written() -> None:
    proof = [{"rule": "sum", "terms": ["1", "1"], "uses": [[0], [2]], "gives": "False"}]
    claim = {"version": 1, "goal": "fi >= 1", "assume": [], "names": {}, "proof": proof}
    checked({**claim, "variables": {"fi": [1, None], "f1": [0, None]}})
    # To Python, a ligature is the two letters: the goal would be about the other variable.
    ligature = "\N{LATIN SMALL LIGATURE FI}"
    false = {
        **claim,
        "goal": f"{ligature} >= 1",
        "variables": {"fi": [1, None], ligature: [0, None]},
    }
    assert refused(false) == "PF01-names"
    for name in (ligature, "a.b", "1", "class"):
        check_proof(prove(tir.Var(name) + 1 > 0))


def test_a_comment_is_no_part_of_a_goal() -> None:
    certificate = read(FLOOR)
    assert refused({**certificate, "goal": certificate["goal"] + " # and n == 3"}) == "PF01-work"


def test_a_claim_names_variables_only() -> None:
    # A reader takes q for another variable.
    assert refused({**read(FLOOR), "goal": "8 * q <= n"}) == "PF01-text"
    assert refused({**read(FLOOR), "assume": ["q >= 0"]}) == "PF01-text"


def test_a_mask_is_as_much_work_as_its_groups_of_ones() -> None:
    mask = "((1 << 12990)//3 & (1 << 12991)//5)"
    assert refused({**read(FLOOR), "goal": f"n >= {mask}"}) == "PF01-work"


@pytest.mark.parametrize(
    "goal",
    ["1is 1", "n + 1 == 1 or n == 0x1or 2", "1.or 2", "'\\d' == n", "n == 1if 1else 2", "n is n"],
)
def test_python_does_not_warn_of_a_goal(goal: str) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert refused({**read(FLOOR), "goal": goal}) in ("PF01-text", "PF01-work")
    assert not seen


def test_a_cast_to_int64_of_a_wider_type_wraps() -> None:
    assert prove("int64(uint64(n)) >= 0").refuted
    proof = [
        {"rule": "floor-low", "atom": "q", "uses": [], "gives": f"n - {2**64}*q >= 0"},
        {"rule": "sum", "terms": ["1", "1"], "uses": [[1], [2]], "gives": "False"},
    ]
    claim = {"version": 1, "goal": "uint64(n) >= 0", "assume": [], "variables": {"n": [0, None]}}
    claim |= {"names": {"q": f"n // {2**64}"}, "proof": proof}
    checked(claim)
    assert refused({**claim, "goal": "int64(uint64(n)) >= 0"}) == "PF01-text"
    check_proof(prove(f"int64(uint64(n)) < {2**63}"))
    check_proof(prove("int64(int32(uint64(n))) == int32(uint64(n))"))
