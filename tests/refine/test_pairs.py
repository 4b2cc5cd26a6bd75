"""The pairs of `pairs.md`: what is proved, and what a run refutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.refine.answer import Refinement
from rlx.refine.question import compare
from tests.markdown import assert_example, examples
from tests.refine.laws import proofs_alone

PAIRS = Path(__file__).with_name("pairs.md")
EXAMPLES = {example.name: example for example in examples(PAIRS)}


def words(found: Refinement) -> str:
    """An answer in few words."""
    if found.counterexample is None:
        return f"proved ({found.level})" if found.proved else f"unknown: {found.reason}"
    sizes = ", ".join(f"{name}={size}" for name, size in found.counterexample.sizes.items())
    return f"refuted with {sizes}" if sizes else "refuted"


@pytest.mark.parametrize("name", EXAMPLES)
def test_pair(name: str) -> None:
    """The answer about a pair. A run refutes every pair that was not proved: no proof is contradicted."""
    report = check_text(EXAMPLES[name].given[0])
    assert report.ok, report
    before, after = report.modules
    found = compare(before, after, floats="real")
    assert_example(PAIRS, name, words(found))
    if found.refuted:
        with proofs_alone():
            assert not compare(before, after, floats="real").proved
