"""No pass that is right is accused; `python -m tests.tvm.right_passes 50` asks about more programs."""

from __future__ import annotations

import pytest

pytest.importorskip("tvm")

from .right_passes import ALONE, examples, generated, pipelines, weights, wrong

CHOSEN = ("call_tir.rlx",)


def test_programs_whose_parameters_are_weights() -> None:
    assert [*wrong(iter([*weights()][1:4]), 3)] == []


def test_examples_and_generated_programs() -> None:
    chosen = [each for each in examples() if each[0] in CHOSEN]
    assert len(chosen) == len(CHOSEN)
    assert [*wrong(iter([*chosen, *generated(1, 2)]), 6)] == []


def test_many_passes_are_asked() -> None:
    assert len(ALONE) >= 40 and len(dict(pipelines())) >= len(ALONE) + 8
