"""Random functions: in bounds they run to the end; native code gives the same bits and the same faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlx.semantics import native
from rlx.semantics.faults import Stop
from rlx.semantics.tir import evaluate

from .strategies import Case, RandomChoices, build, cases

FUEL = 100_000


def outcome(run: Any, args: list[Any], **options: Any) -> str | None:
    """The code of what stops a run."""
    with np.errstate(all="ignore"):
        try:
            run(args, fuel=FUEL, **options)
        except Stop as stop:
            return stop.code
    return None


def reference(case: Case, args: list[Any]) -> str | None:
    func = case.func()
    return outcome(lambda a, **o: evaluate(func, a, **o), args, unwritten=case.unwritten)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases(), st.integers(0, 9))
def test_what_is_in_bounds_by_construction_runs(case: Case, seed: int) -> None:
    assert reference(case, case.arguments(seed)) is None


def test_some_wild_functions_leave_their_bounds() -> None:
    found = set()
    for seed in range(40):
        case = build(RandomChoices(seed), wild=True)
        found.add(reference(case, case.arguments(seed)))
    assert found == {None, "E-tir-bounds"}


@pytest.mark.skipif(not native.has_compiler(), reason="there is no C compiler")
@pytest.mark.parametrize("wild", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_native_code_agrees(seed: int, wild: bool) -> None:
    case = build(RandomChoices(seed), wild)
    kernel = native.compile(case.func())
    for again in range(3):
        ours, theirs = case.arguments(again), case.arguments(again)
        stopped = reference(case, ours)
        assert outcome(kernel, theirs) == stopped, case.text
        if stopped is None:
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=case.text)
