"""The options of the operators of networks: our values beside those of TVM's compiled code.

Floats agree within the tolerances of `test_evaluate.py`, relative and absolute; integers exactly.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import tvm

from tests.operators.evaluate.concrete import POINTS, Concrete
from tests.operators.evaluate_nn.cases import NETWORKS

from .test_evaluate import EVERY, as_numpy, build, difference

DIFFERENT: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("evaluation_nn.toml").read_text("utf-8")
)["different"]
"""Calls for which TVM's code returns something else, and why."""


def is_dear(attrs: dict[str, object]) -> bool:
    """Whether TVM takes seconds to simplify the call's code. The cheaper reflections stay."""
    if attrs.get("padding_mode") != "reflection":
        return False
    smooth = attrs["method"] == "bilinear" and attrs.get("layout") == "NCDHW"
    return smooth or (attrs["method"] == "bicubic" and not attrs["align_corners"])


KNOWN = [Concrete(case, POINTS[0]) for case in NETWORKS if not is_dear(case[2])]
CALLS = KNOWN[::EVERY]
GROUP = 60


def listed(call: Concrete) -> str:
    """The entry of the list that the call falls under; empty if there is none."""
    name, _, attrs = call.case
    return next((e for k, v in attrs.items() if (e := f"{name} {k}={v}") in DIFFERENT), "")


@pytest.mark.parametrize("start", range(0, len(CALLS), GROUP))
def test_the_values_are_those_of_tvm(start: int) -> None:
    calls = CALLS[start : start + GROUP]
    machine, made = build(calls)
    wrong, agreed = {}, set()
    for at, (call, caller) in enumerate(zip(calls, made, strict=True)):
        theirs = as_numpy(machine[f"f{at}"](*[tvm.runtime.tensor(a) for a in caller.arrays]))
        found, entry = difference(call.evaluate(), theirs), listed(call)
        if found and not entry:
            wrong[f"{call.case[0]} {call.case[2]}"] = found
        if entry and not found:
            agreed.add(entry)
    assert wrong == {}
    assert agreed == set()


def test_the_list_names_calls() -> None:
    assert {listed(call) for call in KNOWN} - {""} == set(DIFFERENT)
