"""The table of known causes: it joins what has one cause, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.finding_file import read_entries
from rlx.generate.campaign.known_causes import explanation
from rlx.generate.campaign.oracles.traits import trait
from rlx.grammar.nodes.node import replace

TABLE = read_entries(Path(__file__).parents[3] / "findings")

MEAN = "x = R.mean(y)\nz = R.ones(s)"
ADD = "x = R.add(y, y)"
TUPLED = (
    "TypeError: it requires argument 0 (x) to be a tensor. However, y is instead of type T.Tuple("
)
WIDENED = (
    "TypeError: Binary operators must have the same datatype for both operands. However, z uses"
)
NO_FLOAT = (
    'TypeError: ir.Op(name="relax.asinh") requires the input tensor to have float dtype. However, '
    "the given input dtype is T.bool"
)
MISTYPED = 'ValueError: type mismatch: expected R.Tensor({}, dtype="float32"), given R.Tensor({}, dtype="int64")'
COLLAPSED = "ValueError: In this position the dim of data shape is {} while the dim of target shape is {}. If"


def met(kind: str, stage: str, said: str, cause: str = "", rule: str = "", text: str = "", special: str = "") -> Finding:  # fmt: skip
    return Finding(kind, "passes", stage, cause or said, said, rule, text, 1, special)


KNOWN = (
    (
        met("crash", "FuseOps", "InternalError: Variable lv12 could not be found in any group"),
        "crash/FuseOps-dataflow-block-in-a-branch",
    ),
    (
        met("wrong-code", "LambdaLift", "LambdaLift makes: Var k is not defined"),
        "wrong-code/LambdaLift-lifted-function-lacks-shape-variables",
    ),
    (
        met("wrong-code", "TVM's virtual machine", "0 became 3", "another value", "E-evaluate", MEAN, "empty"),
        "wrong-code/LegalizeOps-reduction-over-nothing-is-unwritten",
    ),
    (
        met("accepts-illegal", "TVM's well_formed", "accepts it: OBL-axis-range", rule="OBL-axis-range"),
        "accepts-illegal/well_formed-sort-axis-out-of-range",
    ),
    (
        met("crash", "TVM's virtual machine", "It ended.", "signal SIGSEGV", text="    if n < 2:\n        x = R.abs(y)"),
        "crash/StaticPlanBlockMemory-memory-of-a-branch-not-taken",
    ),
    (
        met("crash", "TVM's virtual machine", "It ended.", "signal SIGSEGV", text="h = R.call_builtin_with_ctx(f, (1,))\ny = R.take(x, h)"),
        "by-choice/vm-shape-heap-is-unwritten",
    ),
    (
        met("crash", "TVM's build", TUPLED, text="y = R.median(x)\nz = R.abs(y)"),
        "wrong-code/LegalizeOps-median-over-two-axes-returns-a-tuple",
    ),
    (
        met("crash", "TVM's build", WIDENED, text="y = R.std(x)\nz = R.bitwise_or(y, x)"),
        "wrong-code/LegalizeOps-mean-of-integers-has-another-type",
    ),
    (
        met("wrong-code", "TVM's virtual machine", "0 became 3", "another value", "E-evaluate", "x = R.argmin(y)", "NaN, integers"),
        "wrong-code/LegalizeOps-arg-extremum-over-NaN",
    ),
    (
        met("wrong-code", "TVM's virtual machine", "5 of 5 elements of int64, at (0, 0): 0 became -1", "another value", "E-evaluate", "x = R.argmin(y)", "integers"),
        "wrong-code/LegalizeOps-arg-extremum-of-the-extreme-number",
    ),
    (
        met("refuses-legal", "TVM's build", MISTYPED.format("(1, 4)", "(1, 4)"), text="y = R.eye_like(x, 1)"),
        "wrong-code/LegalizeOps-eye_like-ignores-its-dtype",
    ),
    (
        met("crash", "TVM's build", NO_FLOAT, text="y = R.eye_like(x, 1)\nz = R.asinh(y)"),
        "wrong-code/LegalizeOps-eye_like-ignores-its-dtype",
    ),
    (
        met("crash", "TVM's virtual machine", "It ended.", "signal SIGABRT", text="y = R.cumprod(x)\nz = R.abs(y)"),
        "crash/vm-cumsum-of-an-empty-axis",
    ),
    (
        met("wrong-code", "TVM's virtual machine", "(0, 0) became (0, 2)", "another type of value", "E-evaluate", "y = R.reshape(x)", "shape of nothing"),
        "by-choice/vm-reshape-infers-a-length-of-nothing",
    ),
    (
        met("refuses-legal", "TVM's build", COLLAPSED.format("n + m", "n + m")),
        "refuses-legal/LambdaLift-captured-values-get-other-shape-variables",
    ),
)  # fmt: skip


@pytest.mark.parametrize(("finding", "path"), KNOWN, ids=[path for _, path in KNOWN])
def test_known(finding: Finding, path: str) -> None:
    cause = explanation(finding, TABLE)
    assert cause is not None and cause.path == f"{path}.rlx"


NEW = (
    met("crash", "FuseOps", "InternalError: another check failed"),
    met("wrong-code", "Normalize", "Normalize makes: Var k is not defined"),
    met("wrong-code", "TVM's virtual machine", "0 became 3", "another value", "E-evaluate", ADD, "empty"),
    met("wrong-code", "TVM's virtual machine", "0 became 3", "another value", "E-evaluate", MEAN, "float32"),
    met("wrong-code", "FuseOps, run", "0 became 3", "another value", "E-evaluate", MEAN, "empty"),
    met("accepts-illegal", "TVM's well_formed", "accepts it: WF01", rule="WF01-scope"),
    met("crash", "TVM's virtual machine", "It ended.", "signal SIGSEGV", text=ADD),
    met("crash", "TVM's build", TUPLED, text=ADD),
    met("crash", "TVM's build", WIDENED, text=ADD),
    met("crash", "TVM's build", NO_FLOAT, text="z = R.asinh(x)"),
    met("refuses-legal", "TVM's build", MISTYPED.format("(1, 4)", "(1, 5)"), text="y = R.eye_like(x, 1)"),
    met("crash", "TVM's virtual machine", "It ended.", "signal SIGABRT", text="y = R.add(x, x)"),
    met("wrong-code", "TVM's virtual machine", "(3, 1) became (1, 3)", "another type of value", "E-evaluate", "y = R.reshape(x)", "shape"),
    met("crash", "FuseOps", TUPLED, text="y = R.median(x)"),
    met("crash", "TVM's build", TUPLED, text="y = R.std(x)"),
    met("wrong-code", "TVM's virtual machine", "0 became 3", "another value", "E-evaluate", "x = R.argmin(y)", "integers"),
    met("refuses-legal", "TVM's build", COLLAPSED.format("n + m", "n")),
)  # fmt: skip


@pytest.mark.parametrize("finding", NEW, ids=lambda finding: finding.key)
def test_new(finding: Finding) -> None:
    assert explanation(finding, TABLE) is None


AFTER = met("crash", "TVM's build", "TypeError: requires the input tensor to have float dtype")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("y = R.eye_like(x, 1)\nz = R.atan(y)", "wrong-code/LegalizeOps-eye_like-ignores-its-dtype"),
        ("y = R.median(x)\nz = R.cumsum(y)", "wrong-code/LegalizeOps-median-over-two-axes-returns-a-tuple"),
        ("y = R.eye_like(x, 1)", ""),
        ("y = R.exp(x)\nz = R.atan(y)", ""),
    ],
)  # fmt: skip
def test_what_fails_behind_a_value_of_another_type(text: str, path: str) -> None:
    """Only in a minimal program: with an argument in place of that value nothing fails."""
    finding = replace(AFTER, text=text)
    cause = explanation(finding, TABLE, minimal=True)
    assert (cause.path if cause else "") == (f"{path}.rlx" if path else "")
    assert explanation(finding, TABLE) is None
    ran = replace(finding, kind="wrong-code", stage="TVM's virtual machine", cause="another value")
    assert explanation(ran, TABLE, minimal=True) == cause
    for other in (replace(finding, kind="wrong-code"), replace(finding, stage="FuseOps")):
        assert explanation(other, TABLE, minimal=True) is None


@pytest.mark.parametrize(
    ("difference", "size", "text", "special"),
    [
        ("1 of 2 elements of float32, at (0,): 1.0 became nan", 0, "", "empty"),
        ("1 of 2 elements of float32, at (0,): 1.0 became nan", 3, "", "NaN, float32"),
        ("1 of 2 elements of float32, at (0,): inf became 1.0", 3, "", "infinity, float32"),
        ("1 of 2 elements of float32, at (0,): nan became inf", 3, "", "NaN, infinity, float32"),
        ("1 of 2 elements of int8, at (0,): 1 became 2", 3, "", "integers"),
        ("1 of 2 elements of int8, at (0,): 1 became 2", 1, "", "length 1, integers"),
        ("1 of 2 elements of int8, at (0,): 1 became 2", 3, "R.ones(R.shape([2, 0]))", "empty, integers"),
        ("1 of 2 elements of int8, at (0,): 1 became 2", 3, "R.eye(2, 2, 0)", "integers"),
        ("1 of 2 elements of int8, at (0,): 1 became 2", 3, 'x: R.Tensor((0, n), dtype="int8")', "empty, integers"),
        ("1 of 2 elements of int8, at (0,): 1 became 2", 3, "f(x, inplace_indices=[0])", "integers"),
        ("field 0: float16(3, 2) became float32(3, 2)", 3, "", "element type"),
        ("field 0: float16(0, 2) became float32(0, 2)", 0, "", "element type"),
        ("int64(18, 3) became int64(7, 3)", 3, "", "shape"),
        ("float32(0, 0) became float32(0, 2)", 0, "", "shape of nothing"),
        ("float32(0, 0) became float32(10, 2)", 0, "", "shape"),
        ("float32() became float32(0,)", 0, "", "shape"),
        ("a Tensor became a TupleValue", 3, "", "kind of value"),
    ],
)  # fmt: skip
def test_traits(difference: str, size: int, text: str, special: str) -> None:
    assert trait(difference, size, text) == special


def test_a_difference_of_no_elements_that_stands_alone() -> None:
    """If the larger sizes gave no values, the smallest one need not be the cause."""
    said = "1 of 2 elements of float64, at (0,): 1.0 became 1.1"
    assert trait(said, 0, "", alone=True) == "empty, float64"


@pytest.mark.parametrize(
    ("elements", "special"),
    [("int64", "NaN, integers"), ("bool", "NaN, bool"), ("uint8", "NaN, integers"), ("float32", "float32")],
)  # fmt: skip
def test_a_result_that_cannot_show_a_nan(elements: str, special: str) -> None:
    said = f"1 of 2 elements of {elements}, at (0,): 0 became 1"
    assert trait(said, 3, "", meets_nan=lambda: True) == special
    assert "NaN" not in trait(said, 3, "")


def test_a_rule_is_accepted_against_once() -> None:
    """A program that TVM accepts against a rule is one cause: a second file would be a duplicate."""
    rules = [entry.rule for entry in TABLE if entry.kind == "accepts-illegal"]
    assert len(rules) == len(set(rules))
