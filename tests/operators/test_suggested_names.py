"""Operators that are suggested for the names of other libraries."""

from __future__ import annotations

import pytest

from rlx.operators.foreign_names import OWN_NAMES, own_name
from rlx.operators.registry import similar


def slips(word: str) -> set[str]:
    """Patterns of the words that one slip makes of a word: ``?`` is any letter."""
    parts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    return {
        *(a + "?" + b for a, b in parts),
        *(a + "?" + b[1:] for a, b in parts if b),
        *(a + b[1:] for a, b in parts if b),
        *(a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1),
    }


def is_one(pattern: str, word: str) -> bool:
    return len(pattern) == len(word) and all(
        p in ("?", c) for p, c in zip(pattern, word, strict=True)
    )


def test_ours_comes_first_and_then_what_is_one_slip_away() -> None:
    more = 0
    for own, words in OWN_NAMES.items():
        for word in words.split():
            first, *others = similar(word)
            assert first == f"R.{own}"
            patterns = slips(word)
            for other in others:
                assert any(is_one(p, other.removeprefix("R.")) for p in patterns), (word, other)
            more += len(others)
    assert more > 10


@pytest.mark.parametrize("prefix", ["", "torch.", "torch.nn.functional.", "np."])
def test_a_name_of_another_library_behind_its_modules(prefix: str) -> None:
    assert own_name(f"{prefix}elemwise_add") == "add"
    assert own_name(f"{prefix}no_such_operator") is None
