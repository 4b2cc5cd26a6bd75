"""A sample of the perturbed calls: TVM and we agree, or the table says why not.

``python -m tests.tvm.perturb`` asks about all of them; RLX_PERTURB=N (and RLX_PERTURB_SEED) about more of them here.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from .perturb.bases import WITHOUT_TEXT, bases, operators
from .perturb.harness import run, systematic
from .perturb.table import differences, explained

COUNT = int(os.environ.get("RLX_PERTURB", "120"))
SEED = int(os.environ.get("RLX_PERTURB_SEED", "20"))


ENTRIES = {"refused": 59, "silent": 8, "other": 5, "less": 1}
"""How many differences of each kind there are."""


@pytest.mark.parametrize("kind", ["sys", "random"])
def test_a_sample_of_perturbed_calls(kind: str) -> None:
    verdicts = list(run(kind, SEED, COUNT, 1))
    assert len(verdicts) == COUNT
    assert sum(v.kind == "agree" for v in verdicts) > COUNT // 2
    assert [v for v in verdicts if not explained(v)] == []


DECLARED_ONLY = {
    "call_tir",
    "call_tir_inplace",
    "call_tir_with_grad",
    "make_closure",
    "vm.call_tir_dyn",
}
"""They call a function of the module; tests/checker/derive perturbs such calls."""


def test_every_operator_is_perturbed() -> None:
    perturbed = {call.operator for call in systematic(1)}
    assert set(operators()) - perturbed == DECLARED_ONLY
    assert not perturbed & WITHOUT_TEXT.keys()


def test_bases_are_many() -> None:
    assert len(list(bases(2))) > 350


def test_every_difference_has_a_reason() -> None:
    assert all(len(d.reason) > 20 for d in differences())
    assert {d.kind for d in differences()} <= {"refused", "silent", "less", "other"}


def test_every_difference_is_still_one() -> None:
    verdicts = list(run("table", 0, 0, 1))
    stale = [
        f"{entry.witness}: {verdict.kind}, {verdict.ours}"
        for entry, verdict in zip(differences(), verdicts, strict=True)
        if not entry.explains(verdict)
    ]
    assert stale == [], (
        "both say the same of these calls, or something else: their entries are to go"
    )


def test_the_table_only_shrinks() -> None:
    assert Counter(d.kind for d in differences()) == ENTRIES, "a number may only be made smaller"
