"""Names of a text, their places, and the changes that they allow."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path

import pytest

from rlx.checker.fixing import with_edits_applied
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.print.formatting import format_text
from rlx.grammar.read.parser import parse
from rlx.lsp import document
from rlx.lsp.completion import completions
from rlx.lsp.cut import Cut, cut
from rlx.lsp.document import Document, RenameError
from rlx.lsp.hover import hover
from rlx.lsp.layout import format_edits, in_range
from rlx.lsp.names import PlacedName
from rlx.lsp.positions import offset, position
from rlx.lsp.statements import Statements
from rlx.lsp.structure import folds, outline, selections, semantic_tokens, written_tokens
from rlx.lsp.vocabulary import operator_names, signature
from rlx.lsp.window import Window
from tests.hostile.damage import damaged, tokens

TEXTS = Path(__file__).parent / "texts"
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.rlx"))

CAPTURED = """\
@R.function
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    a = R.exp(y)
    b = R.add(x, a)
    return b
"""


def _names(document: Document) -> list[PlacedName]:
    names = document.names
    return [each for stretch in range(len(names.starts)) for each in names.of(stretch)]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_use_has_its_definition(path: Path) -> None:
    document = Document(path.read_text("utf-8"), path.name)
    defined = {each.subject for each in _names(document) if each.is_definition}
    for each in _names(document):
        assert each.subject in defined, each
        assert document.source.text[slice(*each.span)] == each.name
        start = document.definition(each.span[0])
        assert start is not None and each.span in document.references(each.span[0])


@pytest.mark.parametrize("path", [*EXAMPLES, *TEXTS.iterdir()], ids=lambda p: p.stem)
def test_a_function_that_is_read_in_parts_has_the_same_names(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts that begin with each statement, and the function read at once."""
    text = path.read_text("utf-8")
    at_once = Document(text, path.name)
    monkeypatch.setattr(document, "SMALL", 0)
    monkeypatch.setattr(Statements, "borders", property(lambda each: [*range(2, len(each))]))
    parts = Document(text, path.name)
    was, now = _names(at_once), _names(parts)
    assert [(n.name, n.span, n.kind, n.is_definition) for n in now] == [
        (n.name, n.span, n.kind, n.is_definition) for n in was
    ]
    same = {*zip((n.subject for n in was), (n.subject for n in now), strict=True)}
    assert len(same) == len({n.subject for n in was}) == len({n.subject for n in now})
    assert semantic_tokens(parts) == semantic_tokens(at_once)
    for made in (parts, at_once):
        written = ",".join(written_tokens(made))
        assert json.loads(f"[{written}]") == semantic_tokens(at_once)
    assert {*folds(parts)} == {*folds(at_once)}
    assert str(outline(parts)) == str(outline(at_once))
    for at in range(0, len(text), 97):
        assert selections(parts, at) == selections(at_once, at)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_variables_are_those_of_the_tree(path: Path) -> None:
    """The tokens tell variables apart exactly as the parsed tree does."""
    document = Document(path.read_text("utf-8"), path.name)
    subjects: dict[int, object] = {}
    for each in document.constructs:
        if each.kind in ("expression", "result") and isinstance(each.subject, ast.Var):
            written = document.source.text[slice(*each.span)]
            if written == each.subject.name_hint:
                found = document.names.at(each.span[0])
                assert found is not None and found.span == each.span
                assert subjects.setdefault(id(each.subject), found.subject) == found.subject
    assert len(set(subjects.values())) == len(subjects)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_a_renamed_program_is_the_same_program(path: Path) -> None:
    """Variables of Relax, of PrimFuncs and of shapes: only names of functions mean something."""
    text = path.read_text("utf-8")
    document = Document(text, path.name)
    local = [n for n in _names(document) if n.is_definition and n.kind not in ("function", "class")]
    before = parse(text, path.name)
    for each in local[::3]:
        renamed = parse(with_edits_applied(text, document.rename(each.span[0], "other")), path.name)
        assert len(renamed.diagnostics) == len(before.diagnostics)
        for one, other in zip(before.modules, renamed.modules, strict=True):
            for a, b in zip(one.functions.values(), other.functions.values(), strict=True):
                assert structural_equal(a, b), each


def test_a_name_that_is_taken_or_none_is_refused() -> None:
    document = Document(CAPTURED, "a.rlx")
    a = CAPTURED.index("a = R.exp")
    said = {}
    for name in ("x", "y", "return", "R", "not a name", "1x", ""):
        with pytest.raises(RenameError) as error:
            document.rename(a, name)
        said[name] = str(error.value)
    assert said["x"] == "'x' is the name of a parameter on line 2"
    assert said["return"] == "'return' is a keyword of Python"
    assert said["R"] == "'R' has a meaning of its own in a program"
    assert said["1x"] == "'1x' is not a valid name"
    with pytest.raises(RenameError, match="there is no variable or function"):
        document.rename(CAPTURED.index("R.exp"), "q")
    assert with_edits_applied(CAPTURED, document.rename(a, "z")).count("z = R.exp(y)") == 1


def test_damaged_texts_are_answered() -> None:
    for seed in range(60):
        text = damaged(CAPTURED, tokens(CAPTURED), random.Random(seed))
        document = Document(text, "a.rlx")
        document.hints()
        for at in range(0, len(text), 9):
            window = Window(frozenset(), document, None)
            hover(document, window, at, partial(Window, frozenset(), document, None))
            document.definition(at), completions(document, window, at), selections(document, at)
        semantic_tokens(document), outline(document), list(folds(document))
        for at in range(0, len(text), 9):
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
        document = Document(STRANGE, "a.rlx")
        found = completions(document, Window(frozenset(), document, None), at)
        return [each.label for each in found if each.kind == "argument"]

    assert "sinfo_args=" in keywords(STRANGE.index("x, sinfo"))
    assert keywords(STRANGE.index(")  # :(")) == ["x1=", "x2="]
    assert keywords(STRANGE.index("return")) == []


def test_a_variable_is_no_value_of_its_own() -> None:
    """It is offered on the lines below, and a shape variable is on its own line, too."""

    def names(word: str) -> set[str]:
        made = Document(CAPTURED.replace("(4,)", '("n",)'), "a.rlx")
        at = made.source.text.index(word)
        found = completions(made, Window(frozenset(), made, None), at)
        return {each.label for each in found if each.kind in ("variable", "parameter", "shape")}

    assert names("R.exp(") == {"x", "y", "n"}
    assert names("R.add(") == {"x", "y", "n", "a"}
    assert names('"float32"), y') >= {"n"}


def test_only_what_is_bound_is_renamed() -> None:
    """A name that is used and bound nowhere would mean another thing elsewhere in the text."""
    text = CAPTURED.replace("R.exp(y)", "R.exp(absent)")
    with pytest.raises(RenameError, match="'absent' is not bound in this text"):
        Document(text, "a.rlx").rename(text.index("absent"), "other")


@pytest.mark.parametrize("name", ["mixed.rlx", "decoder.rlx"])
def test_a_text_is_laid_out_after_each_edit_as_if_it_were_new(name: str) -> None:
    """The known layout of the other functions is that of the whole text."""
    text = (Path(__file__).parent / "texts" / name).read_text(encoding="utf-8")
    rng = random.Random(5)
    places = [at for at, letter in enumerate(text) if letter in "(,\n"]
    for _ in range(12):
        at = rng.choice(places) + 1
        edited = text[:at] + rng.choice([" ", "\n", "  # a remark\n"]) + text[at:]
        made = format_edits(Document(edited, name))
        wanted = format_text(edited, name).text
        assert (made[0].text if made else edited) == (edited if wanted is None else wanted)
        text = wanted or text
        places = [at for at, letter in enumerate(text) if letter in "(,\n"]


@pytest.mark.parametrize("size", ["24", '"n"', '"m"'])
def test_functions_that_name_their_own_sizes(size: str) -> None:
    """Printed, sizes are declared in front of all functions: what declares them comes and goes."""
    head = '    @R.function\n    def f{}(x: R.Tensor(("n", 4), "float32")):\n        return x\n\n'
    text = "@I.ir_module\nclass M:\n" + "".join(head.format(k) for k in range(8))
    edited = text.replace('("n", 4)', f"({size},  4)", 1)
    for each in (text, edited, text):
        made = format_edits(Document(each, "sizes.rlx"))
        assert made[0].text == format_text(each, "sizes.rlx").text
    at = edited.index(",  4)")
    edits = in_range(Document(edited, "sizes.rlx"), at, at)
    unknown = in_range(Document(edited, "unknown.rlx"), at, at)  # nothing is known of its layout
    assert [(e.span, e.text) for e in edits] == [(e.span, e.text) for e in unknown]
    again = parse(with_edits_applied(edited, edits), "sizes.rlx")
    assert structural_equal(again.modules[0], parse(edited, "sizes.rlx").modules[0])


def test_a_long_text_is_cut_into_functions_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of an outline grows with the text, for any number of functions."""
    head = "@R.function\ndef f{}(x: R.Object) -> R.Object:\n    return x\n"
    calls = []

    def counted(text: str) -> Cut:
        calls.append(text)
        return cut(text)

    monkeypatch.setattr(document, "cut", counted)
    made = Document("".join(head.format(n) for n in range(9)), "a.rlx")
    assert [each.name for each in outline(made)] == [f"f{n}" for n in range(9)]
    assert len(calls) == 1
