"""Kernels under the sanitisers of addresses and undefined behaviour (`python -m tests.semantics.native.sanitised` for many)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.semantics.native.programs import of_body
from tests.semantics.native.sanitised.batch import EFFORTS, Case, run
from tests.semantics.native.sanitised.campaign import Campaign
from tests.semantics.native.sanitised.legalised import legalised
from tests.semantics.native.sanitised.sources import generated, nests, programs

SOURCES = {"nests": nests, "programs": programs, "generated": generated, "legalised": legalised}
FUNCTIONS = {"nests": 24, "programs": 8, "generated": 24, "legalised": 19}
"""How many of each; each is four kernels. Random programs are large: they take the compiler longest."""


@pytest.mark.parametrize("source", SOURCES)
def test_kernels_stay_inside_and_agree_with_the_evaluator(source: str, tmp_path: Path) -> None:
    size = FUNCTIONS[source]
    campaign = Campaign({source: SOURCES[source](1)}, tmp_path / "batch", size=size)
    campaign.batch()
    assert campaign.report.kernels.total() == 4 * size
    assert not campaign.report.failures, "\n".join(campaign.report.failures)


@pytest.mark.parametrize("index", [-1, 4])
@pytest.mark.parametrize("text", ["x[i] = x[i + {}]", "x[i + {}] = T.int8(1)"])
def test_what_leaves_a_buffer_is_seen(index: int, text: str, tmp_path: Path) -> None:
    func = of_body('x: T.Buffer((4,), "int8")', f"for i in range(1): {text.format(index)}")
    case = Case(func, [np.zeros(4, np.int8)], "outside")
    for _, effort in EFFORTS[:2]:
        [good, bad] = [
            run([case], tmp_path / "batch", [32], effort, bounds=bounds)[0]
            for bounds in (True, False)
        ]
        assert good.ending == "E-tir-bounds"
        assert "heap-buffer-overflow" in bad.ending


def test_what_leaves_memory_of_its_own_is_seen(tmp_path: Path) -> None:
    for index in (-1, 5):
        func = of_body(
            'x: T.Buffer((1,), "int8")',
            f't = T.alloc_buffer((5,), "int8")\nfor i in range(1): t[i + {index}] = x[i]\nx[0] = t[0]',
        )
        case = Case(func, [np.zeros(1, np.int8)], "outside")
        [found] = run([case], tmp_path / "b", [32], EFFORTS[0][1], bounds=False)
        assert found.ending.startswith("killed")
