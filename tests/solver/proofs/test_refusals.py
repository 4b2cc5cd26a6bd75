"""A certificate that asks for more work than a proof may; `tests/spec/test_examples.py` has one for each other premise."""

from __future__ import annotations

import pytest

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
