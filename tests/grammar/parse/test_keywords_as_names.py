"""A keyword of Python where a name stands is one error at the word, whatever the place, and hides
nothing else; Python itself refuses each of these texts.
"""

from __future__ import annotations

import ast as python
import keyword

import pytest

from rlx.checker import check_text
from rlx.grammar.nodes.node import Span

X = 'x: R.Tensor((2,), "float32")'
RELAX = f"@R.function\ndef f({X}):\n    {{}}\n    return x\n"
PRIM = (
    '@T.prim_func\ndef f(A: T.Buffer((2, 2), "float32")):\n    {}\n        A[0, 0] = T.float32(1)\n'
)
PLACES = {
    "a parameter": '@R.function\ndef f(WORD: R.Tensor((2,), "float32")):\n    return WORD\n',
    "a second parameter": f'@R.function\ndef f({X}, WORD: R.Tensor((2,), "float32")):\n    return x\n',
    "a binding": RELAX.format("WORD = R.exp(x)"),
    "a binding with a type": RELAX.format('WORD: R.Tensor((2,), "float32") = R.exp(x)'),
    "a binding in a dataflow block": RELAX.format(
        "with R.dataflow():\n        WORD = R.exp(x)\n        R.output(WORD)"
    ),
    "a shape variable": RELAX.format("WORD = T.int64()"),
    "a function": f"@R.function\ndef WORD({X}):\n    return x\n",
    "a function inside": RELAX.format(f"@R.function\n    def WORD({X}):\n        return x"),
    "a class": f"@I.ir_module\nclass WORD:\n    @R.function\n    def f({X}):\n        return x\n",
    "the first of a tuple": RELAX.format("t = (x, x)\n    WORD, a = t"),
    "the last of a tuple": RELAX.format("t = (x, x)\n    a, WORD = t"),
    "in a tuple in brackets": RELAX.format("t = (x, x)\n    (a, WORD) = t"),
    "a loop": PRIM.format("for WORD in range(2):"),
    "one of two loops": PRIM.format("for i, WORD in T.grid(2, 2):"),
    "a scalar of a PrimFunc": PRIM.format("WORD = T.int64(1)\n    for i in range(2):"),
    "a buffer": '@T.prim_func\ndef f(WORD: T.Buffer((2,), "float32")):\n    WORD[0] = T.float32(1)\n',
    "a keyword argument": RELAX.format("y = R.sum(x, WORD=0)"),
}


def errors(text: str) -> list[tuple[str, Span | None]]:
    return [(d.message, d.span) for d in check_text(text, "file.rlx").diagnostics if d.is_error]


def refuses(text: str) -> bool:
    try:
        python.parse(text)
    except SyntaxError:
        return True
    return False


@pytest.mark.parametrize("place", PLACES)
def test_each_keyword_is_one_error_at_its_place(place: str) -> None:
    for word in keyword.kwlist:
        text = PLACES[place].replace("WORD", word)
        at = PLACES[place].index("WORD")
        message = f"{word!r} is a keyword of Python: nothing can have this name"
        assert refuses(text)
        if (place, word) != ("a parameter", "not"):  # of which `return not` is another mistake
            assert errors(text) == [(message, (at, at + len(word)))]


@pytest.mark.parametrize("word", keyword.kwlist)
def test_it_hides_no_other_mistake_of_a_signature(word: str) -> None:
    text = f'@R.function\ndef f({word}: R.Tensor((2,), "float33"), y: R.Tensr((2,)), z):\n    return y\n'
    shown = [text[slice(*span)] for _, span in errors(text) if span is not None]
    assert shown == [word, 'R.Tensor((2,), "float33")', "R.Tensr"]


@pytest.mark.parametrize("word", sorted({*keyword.softkwlist} - {"_"}))
def test_words_that_are_keywords_only_somewhere_are_names(word: str) -> None:
    for place in PLACES.values():
        if "R.sum" not in place:
            assert not errors(place.replace("WORD", word))


@pytest.mark.parametrize("names", ["a, b", "(a, b)", "[a, b]", "(a, b,)"])
def test_names_in_brackets_are_names(names: str) -> None:
    assert not errors(RELAX.format(f"t = (x, x)\n    {names} = t\n    c = R.add(a, b)"))


def test_a_keyword_that_is_used_is_one_error() -> None:
    text = RELAX.format("y = R.add(import, import)\n    z = R.exp(class)")
    assert [text[slice(*span)] for _, span in errors(text) if span] == ["import", "class"]
