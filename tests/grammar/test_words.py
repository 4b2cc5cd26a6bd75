"""Words are found by tokens: Python's own find the same; comments and strings have none."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.checker.why.place import on_one_line
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.kept_text import kept_names
from rlx.grammar.read.misspelt import form
from rlx.grammar.read.parser import parse
from rlx.grammar.read.source_tokens import words_in

ROOT = Path(__file__).parents[2]
FOLDERS = ["checker", "grammar", "operators", "solver", "tests/lsp", "tests/grammar"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_they_are_those_of_python(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        text = path.read_text("utf-8")
        if not text.isascii():
            continue
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        theirs = [token.string for token in tokens if token.type == tokenize.NAME]
        assert sorted(words_in(text, (0, len(text)))) == sorted(theirs), path


@pytest.mark.parametrize("folder", ["checker", "grammar"])
def test_names_are_words(folder: str) -> None:
    """A name with what is behind its dots stands where it is said to stand."""
    for path in (ROOT / folder).glob("*.py"):
        text = path.read_text("utf-8")
        for found in kept_names(text):
            assert text[slice(*found.span)] == found.name


def test_names_of_a_lambda() -> None:
    text = "f(lambda x: g(x, 'y'), lambda_, z)  # w"
    assert [(n.name, n.after) for n in kept_names(text)] == [
        *(("f", "("), ("x", ":"), ("g", "("), ("x", ","), ("lambda_", ","), ("z", ")")),
    ]


@pytest.mark.parametrize(
    ("around", "codes"),
    [("K = 3.0", []), ("# K = 3.0", ["TIR01-undefined"]), ('S = "K"', ["TIR01-undefined"])],
)
def test_a_comment_gives_a_name_of_a_prim_func_no_meaning(around: str, codes: list[str]) -> None:
    text = f"""from tvm.script import tirx as T
{around}

@T.prim_func
def f(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] + K
"""
    assert [d.code for d in check_text(text, "a.py").diagnostics] == codes


def test_on_one_line() -> None:
    text = (
        'R.f(\n    x,  # the first, )\n    "a  b", axis =\n 1, t=R.Tensor(\n  # n\n (n,\n    2)))'
    )
    whole = 'R.f( x, "a  b", axis = 1, t=R.Tensor( (n, 2)))'
    for most in range(3, 60):
        shown = whole if len(whole) <= most else f"{whole[: most - 1]}…"
        assert on_one_line(text, (0, len(text)), most) == shown


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("-x ** y", "-(x ** y)"),
        ("-x  # ** is no power here\n** y", "-(x ** y)"),
        ("-x  # ** y\n * y", "(-x) * y"),
    ],
)
def test_a_sign_in_front_of_a_power(text: str, same: str) -> None:
    head = '@R.function\ndef main(x: R.Tensor((2,), "f32"), y: R.Tensor((2,), "f32")):\n'
    read = [parse(f"{head}    return ({each})\n") for each in (text, same)]
    assert read[0].diagnostics == ()
    assert print_module(read[0].modules[0]) == print_module(read[1].modules[0])


MEANT = {
    "R.tensor": ["R.Tensor"],
    "R.ensor": ["R.Tensor"],
    "R.object": ["R.Object"],
    "R.callable": ["R.Callable"],
    "R.any": ["R.Any"],
    "R.Tensr": ["R.Tensor"],
    # of an annotation only the first letter may be another, and some words are operators, too
    "R.tensr": [],
    "R.shape": [],
    "R.tuple": [],
}


@pytest.mark.parametrize("word", MEANT)
def test_annotations_that_are_meant(word: str) -> None:
    assert form(word) == MEANT[word]
