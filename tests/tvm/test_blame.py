"""The pass that is planted in a pipeline is the one to blame; `python -m tests.tvm.blame 200` asks about more."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tvm")

from .blame import ILLEGAL, KINDS, MEANING, by_bisect, by_instrument, cases


def test_bisect_names_it(tmp_path: Path) -> None:
    chosen = [next(cases(seed, 5, (kind,))) for seed, kind in enumerate(KINDS)]
    assert by_bisect(chosen, 5, tmp_path) == []


def test_an_instrument_names_it(tmp_path: Path) -> None:
    chosen = [next(cases(seed, 6, (kind,))) for seed in (10, 20) for kind in (ILLEGAL, MEANING)]
    assert by_instrument(chosen, 6, tmp_path) == []
