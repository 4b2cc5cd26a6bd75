"""Places of one text in another: each place is tried, and the same characters are there."""

from __future__ import annotations

import pytest

from rlx.grammar.diagnostic import Diagnostic, Edit, Label
from rlx.lsp.cut import cut
from rlx.lsp.excerpt import Move
from tests.lsp.test_parts_of_texts import PARTS, TEXT

NOW = f"# much is new here\n{TEXT}".replace(
    "    return x\n# between", "    y = x\n    return y\n# between"
)
AFTER = cut(NOW)
LENGTHS = (0, 1, 5, 40, 1000)


def _places() -> list[tuple[int, int]]:
    return [(k, min(k + length, len(TEXT))) for k in range(len(TEXT)) for length in LENGTHS]


@pytest.mark.parametrize("heads", [(), (0,), (1, 2)])
@pytest.mark.parametrize("gone", [(), (1,), (0, 2)])
def test_a_place_has_the_same_words(heads: tuple[int, ...], gone: tuple[int, ...]) -> None:
    move = Move(PARTS, AFTER, {n: n for n in range(3) if n not in gone}, heads)
    for start, end in _places():
        found = move.span((start, end))
        at = max((n for n in range(3) if PARTS.pieces[n].span[0] <= start), default=-1)
        if at < 0:
            assert found == (start, end)
            continue
        piece = PARTS.pieces[at]
        in_head = end <= piece.span[0] + len(piece.head)
        if at in gone or (at in heads and not in_head):
            assert found is None
            continue
        assert found is not None and found[1] - found[0] == end - start
        inside = start < piece.span[1]
        assert move.number(start) == (at if inside else None)
        if at != 0 or in_head or not inside:  # the body of the first function is another now
            assert NOW[found[0] :].startswith(
                TEXT[start:end][: piece.span[1] - start if inside else 1]
            )


def test_all_places_of_a_diagnostic_move() -> None:
    move = Move(PARTS, AFTER, {0: 0, 2: 2})
    shift = AFTER.pieces[2].span[0] - PARTS.pieces[2].span[0]
    start, gone = PARTS.pieces[2].span[0], PARTS.pieces[1].span[0]
    labels = (Label((start, start + 3), "here"), Label((gone, gone + 1), "not here"))
    found = Diagnostic(
        "D14", "error", "words", (start, start + 9), related=labels, edit=Edit((start, start), "x")
    )
    moved = move.diagnostic(found)
    assert moved is not None and moved.span == (start + shift, start + shift + 9)
    assert [(each.span, each.message) for each in moved.related] == [
        ((start + shift, start + shift + 3), "here")
    ]
    assert moved.edit is not None
    assert (moved.edit.span, moved.edit.text) == ((start + shift, start + shift), "x")
    lost = move.diagnostic(
        Diagnostic("D14", "error", "words", (start, start), edit=Edit((gone, gone), "x"))
    )
    assert lost is not None and lost.edit is None
    assert move.diagnostic(Diagnostic("D14", "error", "words", (gone, gone))) is None
    nowhere = Diagnostic("D14", "error", "words", None)
    assert move.diagnostic(nowhere) is nowhere
