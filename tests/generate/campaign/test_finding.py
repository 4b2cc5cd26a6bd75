"""Findings: what is one, and that reduction keeps it the same one."""

from __future__ import annotations

import math

import pytest

from rlx.generate.campaign.finding import Finding, cause_of, with_operators
from rlx.generate.campaign.processes import Worker
from rlx.generate.campaign.shrinking import reduce
from rlx.generate.campaign.state import CampaignState
from rlx.grammar.nodes.node import replace

TEXT = """\
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        v1: R.Tensor((2,), "float32") = R.abs(x)
        v2: R.Tensor((2,), "float32") = R.nn.relu(v1)
        return v2
"""

FOUND = Finding("crash", "passes", "FuseOps", "signal SIGSEGV", "It ends.", "", TEXT, 7)

ALIKE = (
    ("no variable 'lv1' in (3, 4)", "no variable 'x2' in (7,)"),
    ("axis 3 but got 7", "axis 3 but got -1"),
    ("Variable lv12 could not be found", "Variable v3 could not be found"),
    ("0xff is not 3", "0x1a2b is not 12"),
)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_causes_have_no_names_and_numbers(one: str, other: str) -> None:
    assert cause_of(one) == cause_of(other)


def test_causes_tell_messages_apart() -> None:
    said = "cannot emit this operator. Offending call: R.{}(x, y)"
    assert cause_of(said.format("ewise_fma")) != cause_of(said.format("wrap_param"))
    assert cause_of("rank is wrong") != cause_of("dtype is wrong")


def test_operators_are_named_where_a_cause_says_little() -> None:
    named = with_operators(FOUND)
    assert named.cause == "signal SIGSEGV with R.abs, R.nn.relu"
    assert named.like(FOUND) and with_operators(named).key == named.key
    plain = replace(FOUND, cause="rank is wrong")
    assert with_operators(plain) is plain
    assert not plain.like(FOUND)


class _Refuses(Worker):
    """Says the same of each program that calls relu."""

    def examine(
        self, seed: int, text: str | None = None, only: str = "", until: float = math.inf
    ) -> dict[str, object] | Finding:
        if text is not None and "R.nn.relu" in text:
            return replace(FOUND, text=text)
        return {"findings": []}


def test_reduction_ends_small() -> None:
    small, minimal = reduce(FOUND, _Refuses("passes", ""), 20.0)
    assert minimal
    assert "R.nn.relu" in small.text and "R.abs" not in small.text
    assert small.cause == "signal SIGSEGV with R.nn.relu"


def test_reduction_stops_in_time() -> None:
    small, minimal = reduce(FOUND, _Refuses("passes", ""), 0.0)
    assert small.text == TEXT and not minimal


def test_what_is_not_seen_again_is_not_minimal() -> None:
    unseen = replace(FOUND, text=TEXT.replace("R.nn.relu", "R.exp"))
    assert not reduce(unseen, _Refuses("passes", ""), 20.0)[1]


def test_one_exception_at_many_stages_is_one_finding() -> None:
    """Every pass that legalises raises what legalisation raises."""
    one = Finding("crash", "passes", "LegalizeOps", "ValueError: no shape", "", "", "", 1)
    other = replace(one, stage="TVM's build", oracle="run", kind="refuses-legal")
    wrong = replace(one, kind="wrong-code")
    assert one.same(other) and not one.same(replace(other, cause="ValueError: other"))
    assert not wrong.same(one) and not replace(one, cause="signal SIGFPE").same(one)
    state = CampaignState()
    assert [state.add(f) for f in (one, other, wrong)] == [True, False, True]


def test_another_value_at_many_stages_is_one_finding() -> None:
    one = Finding(
        "wrong-code", "passes", "LegalizeOps, run", "another value with R.mean", "", "", "", 1
    )
    other = replace(
        one, oracle="run", stage="TVM's virtual machine", cause="another value with R.mean"
    )
    assert one.same(other) and not one.same(replace(other, cause="another value with R.sum"))
    many = replace(one, cause="another value with R.mean, R.sum")
    assert not many.same(many)


def test_the_number_of_dimensions_is_no_cause() -> None:
    lines = [
        f'InternalError: (a.ty()) is false: T.te.tensor_load(metadata["te.Tensor"][0]{at})'
        for at in ("", ", ax0, ax1")
    ]
    assert len({cause_of(line) for line in lines}) == 1
