"""Comments that silence diagnostics."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.checker.fixing import mended, with_edits_applied

HEAD = '@R.function\ndef main(x: R.Tensor((2, 3), "float32")):\n'


def codes(*lines: str) -> list[str]:
    text = HEAD + "".join(f"    {line}\n" for line in lines)
    return [d.code for d in check_text(text).diagnostics]


@pytest.mark.parametrize(
    "given", ["WF02-undefined", "WF02", "WF", "D14-arity, WF02", " WF02 ,D14 "]
)
def test_a_comment_silences_its_line(given: str) -> None:
    left = ["IGNORE-unused"] if "D14" in given else []
    assert codes(f"y = R.add(x, z)  # rlx: ignore[{given}] z comes later", "return y") == left


def test_it_silences_no_other_line_and_no_other_code() -> None:
    assert codes("# rlx: ignore[WF02]", "y = R.add(x, z)", "return y") == [
        "IGNORE-unused",
        "WF02-undefined",
    ]
    assert codes("y = R.add(x, z)  # rlx: ignore[D15]", "return y") == [
        "WF02-undefined",
        "IGNORE-unused",
    ]


def test_a_call_over_several_lines_is_silenced_where_it_begins_or_ends() -> None:
    for first, last in (("  # rlx: ignore[D14]", ""), ("", "  # rlx: ignore[D14]")):
        assert codes(f"y = R.add({first}", "    x", f"){last}", "return y") == []


def test_a_comment_without_codes_silences_nothing() -> None:
    assert codes("y = R.add(x, z)  # rlx: ignore", "return y") == ["WF02-undefined", "IGNORE-codes"]


def test_brackets_that_are_not_closed_name_no_codes() -> None:
    left = "# rlx: ignore[WF02 "
    found = codes(f"y = R.add(x, z)  {left}{left}# rlx: ignore[WF02]", "return y")
    assert found == ["IGNORE-codes", "IGNORE-codes"]


def test_what_stands_in_a_string_is_no_comment() -> None:
    assert codes('y = R.print(x, format="# rlx: ignore[D14]")', "return x") == ["D14-impure"]


def test_syntax_is_never_silenced() -> None:
    assert codes("y = R.add(x,  # rlx: ignore[PARSE]", "return x") == ["PARSE"]


def test_an_unused_comment_can_be_taken_away() -> None:
    text = f"{HEAD}    y = R.add(x, z)  # rlx: ignore[WF02, D14] why\n    return x  # rlx: ignore[D15] because\n"
    first, second = check_text(text).diagnostics
    assert first.edit is not None and first.edit.text == "# rlx: ignore[WF02]"
    assert second.edit is not None
    fixed = f"{HEAD}    y = R.add(x, z)  # rlx: ignore[WF02] why\n    return x\n"
    assert mended(text).text == fixed


def test_a_code_that_there_is_not_is_told_with_the_one_that_is_meant() -> None:
    text = f"{HEAD}    y = R.add(x, z)  # rlx: ignore[wf02-undefind] z comes later\n    return x\n"
    left, comment = check_text(text).diagnostics
    assert (left.code, comment.code) == ("WF02-undefined", "IGNORE-unused")
    assert comment.message == "no rule has the name wf02-undefind"
    assert comment.help == "did you mean 'WF02-undefined'?"
    assert comment.edit is not None and text[slice(*comment.edit.span)] == "wf02-undefind"
    assert check_text(with_edits_applied(text, [comment.edit])).diagnostics == ()


@pytest.mark.parametrize(
    ("codes", "help", "left"),
    [
        ("D14-arity", "remove the comment", ""),
        ("WF02, D14-arity", "remove D14-arity", "# rlx: ignore[WF02]"),
        (
            "D15, WF02-undefined, D14-arity",
            "remove D15, D14-arity",
            "# rlx: ignore[WF02-undefined]",
        ),
    ],
)
def test_what_remains_of_a_comment(codes: str, help: str, left: str) -> None:
    text = f"{HEAD}    y = R.add(x, z)  # rlx: ignore[{codes}]\n    return x\n"
    comment = next(d for d in check_text(text).diagnostics if d.code == "IGNORE-unused")
    assert comment.help == help and comment.edit is not None
    assert comment.edit.text == left
    line = with_edits_applied(text, [comment.edit]).splitlines()[-2]
    assert line == f"    y = R.add(x, z)  {left}".rstrip()


@pytest.mark.parametrize("gap", ["", " ", "  ", "   ", "\t", " \t  "])
@pytest.mark.parametrize("end", ["\n", " why\n", "", " why"])
def test_a_comment_goes_with_the_space_in_front_of_it(gap: str, end: str) -> None:
    before, after = f"{HEAD}    return x", "\n\nimport re\n" if end.endswith("\n") else ""
    text = f"{before}{gap}# rlx: ignore[D15]{end}{after}"
    (comment,) = check_text(text).diagnostics
    assert comment.edit is not None
    kept = with_edits_applied(text, [comment.edit])
    assert kept == before + "\n" * end.count("\n") + after


def test_a_silenced_mistake_is_told_at_its_next_place_once() -> None:
    silenced = "R.add(x, z)  # rlx: ignore[WF02-undefined]"
    assert codes(f"y = {silenced}", "v = R.add(x, z)", "w = R.add(v, z)", "return w") == [
        "WF02-undefined"
    ]
    assert codes(f"y = {silenced}", f"v = {silenced}", "return v") == []
    foo = "R.foo(x)  # rlx: ignore[D14-operator]"
    assert codes(f"y = {foo}", "v = R.foo(x)", "w = R.foo(x)", "return w") == ["D14-operator"]
    assert codes(f"y = {foo}", f"v = {foo}", "return v") == []
