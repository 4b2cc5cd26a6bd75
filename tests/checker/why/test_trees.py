"""The tree of each construct, down to the premise that fails."""

import json

import pytest

from rlx.checker.render.human import ANSI, without_colours
from rlx.checker.why.explain import everything, why
from rlx.checker.why.json import as_json
from rlx.checker.why.step import Step, every
from rlx.checker.why.tree_text import render
from rlx.grammar.streams import harmless

CALLS = """\
@I.ir_module
class Module:
    @R.function
    def half(x: R.Tensor(("n * 2",), "float32"), y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",)):
        return y

    @R.function
    def main(
        x: R.Tensor(("m * 4",), "float32"), y: R.Tensor(("m * 2",), "float32"), s: R.Shape(["m"])
    ):
        h = Module.half(x, y)
        w = Module.half(y, x)
        c = R.match_cast(h, R.Tensor[(k,), "float32"])
        t = R.sum(c, axis=0)
        i = R.add(x, R.const(1.5, "float64"))
        return t
"""


def tree(line: int, column: int | None = None) -> list[Step]:
    return list(every(why(CALLS, "p.rlx", line, column).roots))


def values(steps: list[Step], code: str) -> list[tuple[str, str]]:
    """The arguments of the first application of a rule."""
    return next(step.values for step in steps if step.code == code)


def test_a_call_says_what_the_shape_variables_of_its_callee_stand_for() -> None:
    assert ("callee's n", "m * 2") in values(tree(11), "D14")


def test_a_call_compares_its_arguments() -> None:
    comparisons = [step.text for step in tree(11) if step.kind == "comparison"]
    assert "Tensor((m * 4,), float32) fits Tensor((m * 2 * 2,), float32)" in comparisons


def test_what_the_prover_was_asked() -> None:
    asked = {step.text: step.title for step in tree(12) if step.kind == "question"}
    assert asked == {"m * 2 == m * 4 * 2": "refuted"}


def test_the_premise_that_fails_is_marked_and_the_path_to_it() -> None:
    steps = tree(12)
    failed = [step for step in steps if step.kind == "premise" and step.status == "error"]
    assert "D14-argument" in {step.code for step in failed}
    assert steps[0].beneath == "error"


def test_a_cast_says_what_it_binds() -> None:
    assert ("k", "m * 2") in values(tree(13), "D11")


def test_what_a_comparison_finds_wrong_does_not_hold_in_it() -> None:
    comparison = next(step for step in tree(12) if "does not fit" in step.text)
    inner = {step.code: step for _, step in comparison.below}
    assert inner["COMPAT-tensor-shape"].status == "error"
    assert inner["SUB-tensor"].held == ("SUB-tensor-dtype", "SUB-tensor-rank", "SUB-tensor-device")


def test_premises_that_are_not_asked_are_not_said_to_hold() -> None:
    text = CALLS.replace("R.sum(c, axis=0)", "R.exp(c)")
    steps = list(every(why(text, "p.rlx", 14).roots))
    held = [step.held for step in steps if step.code in ("OBL-element", "D14")]
    assert ("OBL-element-float",) in held
    assert held[0] == ("D14-operator", "D14-arity", "D14-argument")
    call = next(step for step in tree(11) if step.code == "D14")
    assert call.held == ("D14-callee", "D14-arity", "D14-binding", "D14-argument")


def test_defaults_and_keywords_of_operators() -> None:
    assert values(tree(14), "D14") == [("axis", "0"), ("keepdims", "False (default)")]


def test_arguments_stand_by_their_parameters() -> None:
    call = next(step for step in tree(15) if step.code == "D14")
    assert [label for label, _ in call.below][:2] == ["x1", "x2"]


def test_a_rule_that_gave_up_holds_the_premise_that_failed() -> None:
    agree = next(step for step in tree(15) if step.code == "OBL-agree")
    assert [below.code for _, below in agree.below] == ["OBL-agree-dtype"]
    assert agree.status == "error" and "OBL-agree-dtype" not in agree.held


def test_down_to_parameters_and_constants() -> None:
    leaves = {step.text for step in tree(15) if step.kind == "rule" and not step.below}
    assert "x : Tensor((m * 4,), float32)" in leaves
    assert 'R.const(1.5, "float64") : Tensor((), float64)' in leaves


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_depth(depth: int) -> None:
    found = why(CALLS, "p.rlx", 11)
    lines = list(render(found.roots, found.source, {}, depth))
    assert max(line.count("│") + line.count("─ ") for line in lines) <= depth + 1
    assert ("… rests on" in "\n".join(lines)) == (depth < 4)


def test_the_json_is_the_same_tree() -> None:
    found = why(CALLS, "p.rlx", 12)
    read = json.loads(json.dumps(as_json(found.roots, found.source)))
    steps = list(every(found.roots))
    assert [step["text"] for step in read["steps"]] == [step.text for step in steps]
    numbers = {id(step): number for number, step in enumerate(steps)}
    for written, step in zip(read["steps"], steps, strict=True):
        assert [below["step"] for below in written["steps"]] == [
            numbers[id(below)] for _, below in step.below
        ]


def test_everything_has_every_function_and_every_diagnostic() -> None:
    report, found = everything(CALLS, "p.rlx")
    assert [step.text.split(" : ")[0] for step in found.roots][:2] == ["half", "main"]
    failed = {(step.code, step.span) for step in every(found.roots) if step.kind == "premise"}
    assert {(d.code, d.span) for d in report.diagnostics} <= failed


def test_colour_changes_nothing_else() -> None:
    found = why(CALLS, "p.rlx", 12)
    lines = [list(render(found.roots, found.source, theme)) for theme in ({}, ANSI)]
    assert [without_colours(line) for line in lines[1]] == lines[0]
    assert any("\x1b[1;31mD14-argument" in harmless(line) for line in lines[1])
