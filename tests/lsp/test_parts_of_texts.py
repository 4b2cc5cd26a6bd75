"""The functions of a text around a place, and the part of a text that answers for it, counted
character by character.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import pytest

from rlx.grammar.diagnostic import Diagnostic
from rlx.lsp.cut import Cut, cut
from rlx.lsp.document import Document
from rlx.lsp.incremental import TextVersion
from rlx.lsp.window import window

TEXT = """# in front
@R.function
def a(x: R.Object):
    return x
# between
@T.prim_func
def b(x: T.Buffer((2,), "float32")):
    x[0] = 1.0
@R.function
def c(x: R.Object) -> R.Object:

    return x

# behind
"""
PARTS = cut(TEXT)
PLACES = range(0, len(TEXT) + 1, 3)


def holders(at: Cut, start: int, end: int) -> set[int]:
    """The functions with a character at one of the offsets from start to end."""
    pieces = enumerate(at.pieces)
    return {n for n, piece in pieces if {*range(start, end + 1)} & {*range(*piece.span)}}


def test_the_functions() -> None:
    assert [piece.name for piece in PARTS.pieces] == ["a", "b", "c"]
    assert "".join(PARTS.gap(n) + PARTS.of(n) for n in range(3)) + PARTS.gap(3) == TEXT


@pytest.mark.parametrize("length", [1, 30, 120])
def test_functions_that_a_diagnostic_is_about(length: int) -> None:
    version = TextVersion(PARTS, (), (None,) * 3)
    for start in range(len(TEXT)):
        inside = holders(PARTS, start, start)
        before = {n for n, piece in enumerate(PARTS.pieces) if piece.span[1] <= start}
        beside = {max(before, default=-1), max(before, default=-1) + 1} & {0, 1, 2}
        found = Diagnostic("D14", "error", "words", (start, start + length))
        assert version.told_of([found]) == (inside or beside), start
    assert version.told_of([Diagnostic("D14", "error", "words", None)]) == set()


@pytest.mark.parametrize("code", ["PARSE", "READ", "D14"])
@pytest.mark.parametrize("words", ["words", "the class M is not defined"])
def test_errors_of_syntax_that_may_hide_others(code: str, words: str) -> None:
    """Errors outside of bodies, and those about the name of a class, may hide others."""
    bodies = [
        {*range(TEXT.index(":\n", piece.span[0]) + 1, piece.span[1])} for piece in PARTS.pieces
    ]
    for start in range(len(TEXT)):
        found = Diagnostic(code, "error", words, (start, start + 1))
        inside = any(start in body for body in bodies)
        hides = code != "D14" and (not inside or words != "words")
        for others in ((), (Diagnostic("D14", "error", "words", (0, 1)),)):
            assert TextVersion(PARTS, (*others, found), (None,) * 3).hides() == hides, start
    nowhere = Diagnostic(code, "error", words, None)
    assert not TextVersion(PARTS, (nowhere,), (None,) * 3).hides()
    found = Diagnostic("PARSE", "error", words, (0, 1))
    assert TextVersion(cut("# nothing"), (found,), ()).hides()


DECORATORS = (
    "@R.function",
    "@R.function(pure=False)",
    "@T.prim_func",
    "@T.prim_func(private=True)",
)
PARAMETERS = (
    *("", "x", "x: R.Object", 'x: R.Tensor(("n", 2), "f:32"), s: R.Shape(["n"])'),
    *("f: R.Callable((R.Object,), R.Object), x: R.Object", "x: R.Object,  # ) -> R.Object:\n    y"),
    ", ".join(f"x{n}: R.Tensor(({n}, 2))" for n in range(100)),
)
RESULTS = ("", " -> R.Object", ' -> R.Tensor((2,), "->:")', " -> R.Callable((R.Object,), R.Object)")


@pytest.mark.parametrize("decorator", DECORATORS)
@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("body", ["\n    return x", "\n    y: R.Object = x", "", "\n"])
@pytest.mark.parametrize("colon", [":", ""])
def test_heads(decorator: str, result: str, body: str, colon: str) -> None:
    """A function has its head to the colon. Others depend on nothing else where that says its result
    and something follows, and where it is no PrimFunc, whose signature is in its body."""
    for parameters in PARAMETERS:
        head = f"{decorator}\ndef f({parameters}){result}{colon}"
        (piece,) = cut(head + body).pieces
        assert piece.name == "f"
        if colon:
            assert piece.head == head
        assert piece.closed == bool(
            colon and result and body.strip() and "prim_func" not in decorator
        )


def test_the_part_that_answers() -> None:
    whole = Document(TEXT, "a.rlx")
    for start, end in combinations_with_replacement(PLACES, 2):
        found = window(PARTS, whole, start, end)
        numbers = holders(PARTS, start, end)
        if not numbers:
            assert found.part is None and found.document is whole
            continue
        assert found.key == frozenset(numbers)
        for number in numbers:
            first, last = PARTS.pieces[number].span
            for at in (first, (first + last) // 2, last - 1):
                assert found.document.source.text[found.into(at)] == TEXT[at]
                assert found.back((found.into(at), found.into(at))) == (at, at)


def test_a_text_that_is_another_is_all_of_it() -> None:
    whole = Document(TEXT + "\n", "a.rlx")
    assert window(PARTS, whole, 20, 30).document is whole
    assert window(None, whole, 20, 30).document is whole
