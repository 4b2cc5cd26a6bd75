"""Small proofs written by hand: the checker accepts each, and names the premise that one change breaks."""

from __future__ import annotations

import json

import pytest

from rlx.solver.proofs.checker import RefusedError, read
from rlx.solver.proofs.rules import checked

FLOOR = """
{"version": 1, "goal": "n // 8 * 8 <= n", "assume": [], "variables": {"n": [0, null]}, "names": {"q": "n//8"},
 "proof": [
  {"rule": "floor-low", "atom": "q", "uses": [], "gives": "n - 8*q >= 0"},
  {"rule": "sum", "terms": ["1", "1"], "uses": [[1], [2]], "gives": "False"}]}
"""
PRODUCT = """
{"version": 1, "goal": "a * b >= a", "assume": [], "variables": {"a": [0, null], "b": [1, null]}, "names": {},
 "proof": [
  {"rule": "sum", "terms": ["1", "1"], "uses": [[0, 1], [2]], "gives": "False"}]}
"""
EQUATION = """
{"version": 1, "goal": "3 * a == 3 * b", "assume": ["a == b"], "variables": {"a": [0, null], "b": [0, null]}, "names": {},
 "proof": [
  {"rule": "sum", "terms": ["3"], "uses": [[2]], "gives": "3*a - 3*b == 0"},
  {"rule": "clash", "uses": [4, 3], "gives": "False"}]}
"""
CUT = """
{"version": 1, "goal": "n >= 3", "assume": ["5 * n >= 11"], "variables": {"n": [0, null]}, "names": {},
 "proof": [
  {"rule": "cut", "terms": ["5", "n - 3"], "uses": [1], "gives": "n - 3 >= 0"},
  {"rule": "sum", "terms": ["1", "1"], "uses": [[2], [3]], "gives": "False"}]}
"""
SYMBOLIC = """
{"version": 1, "goal": "k // m * m + m > k", "assume": [], "variables": {"k": [0, null], "m": [1, null]},
 "names": {"q": "k//m"},
 "proof": [
  {"rule": "floor-high", "atom": "q", "uses": [1], "gives": "m*q - k + m - 1 >= 0"},
  {"rule": "sum", "terms": ["1", "1"], "uses": [[3], [4]], "gives": "False"}]}
"""
QUOTIENT = """
{"version": 1, "goal": "(6 * n + 5) // 6 == n", "assume": [], "variables": {"n": [0, null]}, "names": {"q": "(6*n + 5)//6"},
 "proof": [
  {"rule": "quotient", "atom": "q", "terms": ["n"], "uses": [], "gives": "-n + q == 0"},
  {"rule": "clash", "uses": [2, 1], "gives": "False"}]}
"""
QUOTIENT_OF_SYMBOLS = """
{"version": 1, "goal": "n * m // m == n", "assume": [], "variables": {"n": [0, null], "m": [1, null]}, "names": {"q": "n*m//m"},
 "proof": [
  {"rule": "quotient", "atom": "q", "terms": ["n"], "uses": [1, 1], "gives": "-n + q == 0"},
  {"rule": "clash", "uses": [4, 3], "gives": "False"}]}
"""
STRICT = """
{"version": 1, "goal": "n >= 1", "assume": ["n != 0"], "variables": {"n": [0, null], "m": [0, null]}, "names": {},
 "proof": [
  {"rule": "strict", "uses": [2, 0], "gives": "n - 1 >= 0"},
  {"rule": "sum", "terms": ["1", "1"], "uses": [[3], [4]], "gives": "False"}]}
"""
SQUEEZE = """
{"version": 1, "goal": "n == 7", "assume": ["n >= 7"], "variables": {"n": [0, 7]}, "names": {},
 "proof": [
  {"rule": "squeeze", "uses": [2, 1], "gives": "n - 7 == 0"},
  {"rule": "clash", "uses": [4, 3], "gives": "False"}]}
"""
FACTOR = """
{"version": 1, "goal": "a != 0", "assume": ["a * b != 0"], "variables": {"a": [0, null], "b": [0, null]}, "names": {},
 "proof": [
  {"rule": "factor", "terms": ["a", "b"], "uses": [2], "gives": "a != 0"},
  {"rule": "clash", "uses": [3, 4], "gives": "False"}]}
"""
CASES = """
{"version": 1, "goal": "n * n >= 1", "assume": ["n != 0"], "variables": {"n": [null, null]}, "names": {},
 "proof": [
  {"rule": "cases", "uses": [0], "proofs": [
    [{"rule": "sum", "terms": ["1", "2", "1"], "uses": [[1], [2], [2, 2]], "gives": "False"}],
    [{"rule": "sum", "terms": ["1", "2", "1"], "uses": [[1], [2], [2, 2]], "gives": "False"}]], "gives": "False"}]}
"""
TABLE = """
{"version": 1, "goal": "n * n != 3", "assume": [], "variables": {"n": [0, 1]}, "names": {},
 "proof": [
  {"rule": "table", "terms": ["n"], "uses": [0, 1], "proofs": [
    [{"rule": "sum", "terms": ["1", "-n"], "uses": [[2], [3]], "gives": "False"}],
    [{"rule": "sum", "terms": ["1", "-n - 1"], "uses": [[2], [3]], "gives": "False"}]], "gives": "False"}]}
"""
LEMMA = """
{"version": 1, "goal": "n + 1 > 0", "assume": [], "variables": {"n": [0, null]}, "names": {},
 "proof": [
  {"rule": "lemma", "proofs": [[{"rule": "sum", "terms": ["1", "1"], "uses": [[0], [2]], "gives": "False"}]], "gives": "n >= 0"},
  {"rule": "sum", "terms": ["1", "1"], "uses": [[1], [2]], "gives": "False"}]}
"""
PROOFS = {
    name: text
    for name, text in list(globals().items())
    if isinstance(text, str) and text.startswith('\n{"version"')
}


@pytest.mark.parametrize("name", PROOFS)
def test_it_is_a_proof(name: str) -> None:
    checked(read(PROOFS[name]))


@pytest.mark.parametrize(
    ("proof", "old", "new", "code"),
    [
        (FLOOR, '"assume": [],', "", "PF01-fields"),
        (FLOOR, "[0, null]", '["0", null]', "PF01-range"),
        (FLOOR, '"q": "n//8"', '"n": "n//8"', "PF01-names"),
        (FLOOR, "n // 8 * 8 <= n", "n // 8 * 8 <= n +", "PF01-text"),
        (FLOOR, "n // 8 * 8 <= n", f"n // 8 * 8 <= n * {'9' * 3000} * {'9' * 3000}", "PF01-work"),
        (FLOOR, '"rule": "sum"', '"rule": "add"', "PF01-steps"),
        (FLOOR, "[[1], [2]]", "[[1], [5]]", "PF01-fact"),
        (EQUATION, '"clash", "uses": [4, 3]', '"clash", "uses": [0, 1]', "PF01-of"),
        (FLOOR, '"n - 8*q >= 0"', '"n - 7*q >= 0"', "PF01-stated"),
        (
            FLOOR,
            '{"rule": "sum"',
            '{"rule": "floor-high", "atom": "q", "uses": [], "gives": "-n + 8*q + 7 >= 0"}, {"rule": "sum"',
            "PF01-used",
        ),
        (PRODUCT, '["1", "1"]', '["1"]', "PF02-uses"),
        (EQUATION, "[[2]]", "[[3]]", "PF02-kind"),
        (PRODUCT, '["1", "1"]', '["1", "-1"]', "PF02-sign"),
        (CUT, '["5", "n - 3"]', '["0", "n - 3"]', "PF03-divisor"),
        (CUT, '["5", "n - 3"]', '["5", "n - 4"]', "PF03-rest"),
        (SYMBOLIC, '"uses": [1]', '"uses": [0]', "PF04-divisor"),
        (QUOTIENT_OF_SYMBOLS, '"m": [1, null]', '"m": [0, null]', "PF05-divisor"),
        (QUOTIENT, '["n"]', '["n + 1"]', "PF05-remainder"),
        (STRICT, '"uses": [2, 0]', '"uses": [2, 1]', "PF06-equal"),
        (SQUEEZE, '"uses": [2, 1]', '"uses": [2, 0]', "PF07-equal"),
        (FACTOR, '["a", "b"]', '["a", "a"]', "PF08-product"),
        (FACTOR, '"goal": "a != 0"', '"goal": "a != 1"', "PF09-equal"),
        (CASES, '"uses": [0]', '"uses": [0], "more": 1', "PF01-steps"),
        (TABLE, '"terms": ["n"]', '"terms": ["n*n"]', "PF13-limits"),
        (LEMMA, '"gives": "n >= 0"', '"gives": "(n >= 0) or (n >= 1)"', "PF14-gives"),
    ],
)
def test_one_change_breaks_one_premise(proof: str, old: str, new: str, code: str) -> None:
    assert old in proof
    with pytest.raises(RefusedError) as refused:
        checked(read(proof.replace(old, new, 1)))
    assert refused.value.args[0] == code


def test_a_proof_ends_in_false() -> None:
    certificate = json.loads(FLOOR)
    certificate["proof"].pop()
    with pytest.raises(RefusedError) as refused:
        checked(certificate)
    assert refused.value.args[0] == "PF01-end"


@pytest.mark.parametrize(
    ("proof", "code"),
    [(CASES, "PF12-proofs"), (TABLE, "PF13-proofs"), (LEMMA, "PF14-proofs")],
)
def test_no_case_may_be_left_out(proof: str, code: str) -> None:
    certificate = json.loads(proof)
    certificate["proof"][0]["proofs"].pop()
    with pytest.raises(RefusedError) as refused:
        checked(certificate)
    assert refused.value.args[0] == code
