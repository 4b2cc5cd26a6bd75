"""Steps and native code agree in value, fault and place (`python -m tests.semantics.native.places` for many)."""

from __future__ import annotations

from collections import Counter

from rlx.semantics.faults import UnsupportedStop

from .places import cases, compare


def test_damaged_kernels_end_alike() -> None:
    endings: Counter[str] = Counter()
    for case in cases(7):
        try:
            how, wrong = compare(case)
        except UnsupportedStop:
            continue
        assert wrong is None, f"{case.label}: {wrong}"
        endings[how] += 1
        if endings.total() == 30:
            break
    assert len(endings) >= 3, endings
