"""What is known of a text: names, their places, and what may be changed about them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from rlx.checker.fixing import with_edits_applied
from rlx.grammar.read.parser import parse
from rlx.lsp.document import Document, RenameError, operator_names, signature
from rlx.lsp.positions import offset, position
from tests.hostile.damage import damaged, tokens

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.rlx"))

CAPTURED = """\
@R.function
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    a = R.exp(y)
    b = R.add(x, a)
    return b
"""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_use_has_its_definition(path: Path) -> None:
    document = Document(path.read_text("utf-8"), path.name)
    defined = {o.subject for o in document.occurrences if o.is_definition}
    for occurrence in document.occurrences:
        assert occurrence.subject in defined, occurrence
        start = document.definition(occurrence.span[0])
        assert start is not None and occurrence.span in document.references(occurrence.span[0])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_a_renamed_program_is_the_same_program(path: Path) -> None:
    text = path.read_text("utf-8")
    document = Document(text, path.name)
    names = {o.subject.name_hint for o in document.occurrences}
    for occurrence in [o for o in document.occurrences if o.is_definition][:12]:
        edits = document.rename(occurrence.span[0], "another_name")
        renamed = with_edits_applied(text, edits)
        found = Document(renamed, path.name)
        assert found.report.diagnostics == document.report.diagnostics == () or len(
            found.report.diagnostics
        ) == len(document.report.diagnostics)
        assert {o.subject.name_hint for o in found.occurrences} <= names | {"another_name"}
        assert not parse(renamed).diagnostics or parse(text).diagnostics


def test_a_name_that_would_be_captured_is_refused() -> None:
    document = Document(CAPTURED, "a.rlx")
    a = CAPTURED.index("a = R.exp")
    for name in ("x", "return", "R", "not a name"):
        with pytest.raises(RenameError):
            document.rename(a, name)
    with pytest.raises(RenameError, match="there is no variable or function"):
        document.rename(CAPTURED.index("R.exp"), "q")
    assert with_edits_applied(CAPTURED, document.rename(a, "y")).count("y = R.exp(y)") == 1


def test_damaged_texts_are_answered() -> None:
    for seed in range(60):
        text = damaged(CAPTURED, tokens(CAPTURED), random.Random(seed))
        document = Document(text, "a.rlx")
        document.hints()
        for at in range(0, len(text), 9):
            document.hover(at), document.definition(at), document.completions(at)
            try:
                document.rename(at, "other")
            except RenameError:
                continue


def test_positions_count_utf16() -> None:
    document = Document("# 𝄞é\nx", "a.rlx")
    for at in range(len(document.source.text) + 1):
        assert offset(document.source, position(document.source, at)) == at
    assert position(document.source, 4) == (0, 5)
    assert offset(document.source, (0, 99)) == 4 and offset(document.source, (9, 0)) == 6


def test_every_operator_has_a_signature() -> None:
    for name in operator_names():
        assert signature(name).startswith(f"R.{name}(") and "object at" not in signature(name)
    assert signature("sum") == "R.sum(x: tensor, axis: ints = None, keepdims: int = False)"


@pytest.mark.parametrize("text", ["ab\ncd", "é𝄞x\n𝄞𝄞 y\n\nz𝄞", "", "\n", "𝄞"])
def test_positions_count_as_editors_do(text: str) -> None:
    source = Document(text, "a.rlx").source
    for line, written in enumerate(text.split("\n")):
        start = sum(len(before) + 1 for before in text.split("\n")[:line])
        units = 0
        for column, character in enumerate(f"{written}\n"):
            assert position(source, start + column) == (line, units)
            assert offset(source, (line, units)) == start + column
            units += len(character.encode("utf-16-le")) // 2
        for behind in range(1, 4):
            assert offset(source, (line, units + behind)) == start + len(written)
    for more in range(3):
        assert offset(source, (text.count("\n") + 1 + more, more)) == len(text)
        assert position(source, len(text) + more) == position(source, len(text))


STRANGE = """# another one
@R.function(private=True)
def f(x: R.Tensor((2, 2), "float32")) -> R.Tensor((2, 2), "float32"):
    y = R.add(x, R.call_pure_packed("(", x, sinfo_args=R.Tensor((2, 2))), )  # :(
    return x
"""


def test_a_word_in_a_comment_is_not_in_use() -> None:
    edits = Document(STRANGE, "a.rlx").rename(STRANGE.index("f(x: R"), "another")
    assert [edit.text for edit in edits] == ["another"]


def test_a_bracket_in_a_string_or_comment_opens_nothing() -> None:
    def keywords(at: int) -> list[str]:
        found = Document(STRANGE, "a.rlx").completions(at)
        return [word for word, _, _ in found if word.endswith("=")]

    assert "sinfo_args=" in keywords(STRANGE.index("x, sinfo"))
    assert keywords(STRANGE.index(")  # :(")) == ["x1=", "x2="]
    assert keywords(STRANGE.index("return")) == []


def test_only_what_is_bound_is_renamed() -> None:
    """A name that is used and bound nowhere would mean another thing elsewhere in the text."""
    text = CAPTURED.replace("R.exp(y)", "R.exp(absent)")
    with pytest.raises(RenameError, match="'absent' is not bound in this text"):
        Document(text, "a.rlx").rename(text.index("absent"), "other")
