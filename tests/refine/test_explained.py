"""The explanations of `explained.md`, and how long they are for long programs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rlx
from rlx.checker.check import check_text
from rlx.refine.explanation import STEPS
from rlx.refine.question import compare
from rlx.solver.proofs.checker import check
from tests.markdown import assert_example, examples

EXPLAINED = Path(__file__).with_name("explained.md")
EXAMPLES = {example.name: example for example in examples(EXPLAINED)}


@pytest.mark.parametrize("name", EXAMPLES)
def test_explanation(name: str) -> None:
    """The answer, the steps, and the condition that is missing."""
    before, after = check_text(EXAMPLES[name].given[0]).modules
    found = compare(before, after, floats="real")
    lines = [str(found), found.explanation]
    if not found.proved:
        lines.append(f"missing: {found.suggestion}")
    assert_example(EXPLAINED, name, "\n".join(lines))


def test_a_long_proof_is_cut() -> None:
    """The steps of a chain of operators have a limit, and say that there are more."""
    body = "".join(f"    a{k + 1} = R.reshape(R.nn.relu(a{k}), (n, 4))\n" for k in range(20))
    before = f"""
@R.function
def main(a0: R.Tensor(("n", 4), "float32")):
    n = T.int64()
{body}
    return a20
"""
    found = rlx.refines(before, re.sub(r"R.reshape\((.*), \(n, 4\)\)", r"\1", before))
    assert found.proved
    assert len(found.steps) == STEPS + 3 and "more steps" in found.explanation


def test_a_suggestion_is_an_assumption() -> None:
    """With it the programs are proved to mean the same."""
    before, after = check_text(EXAMPLES["A condition that is missing"].given[0]).modules
    found = compare(before, after)
    assert found.refuted and found.suggestion is not None
    assert compare(before, after, assume=[found.suggestion]).proved


def test_the_conditions_of_a_proof_have_certificates() -> None:
    """They are about what the explanation says of indices, and the checker accepts them."""
    before = """
@R.function
def main(x: R.Tensor(("n", 8), "float32")):
    n = T.int64()
    y = R.reshape(x, (n * 2, 4))
    return R.reshape(y, (n * 8,))
"""
    found = rlx.refines(before, before.replace("(y, ", "(x, "))
    assert found.proved
    for certificate in found.certificates:
        check(certificate)
    goals = [certificate["goal"] for certificate in found.certificates]
    assert "(i0 // 4 * 4 + i0 % 4) // 8 == i0 // 8" in goals
