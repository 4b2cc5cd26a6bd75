"""One letter of any name of a legal program dropped, replaced or exchanged: one error, which names the right word.

A sample of the names is tried; ``RLX_MISSPELT=all`` tries every one, which takes two minutes.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.dtype import dtype, lacking
from rlx.operators import lookup

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.rlx"))
WORD = re.compile(r"[A-Za-z_]\w{2,}")
PYTHON = frozenset(
    [
        "def",
        "return",
        "class",
        "with",
        "else",
        "for",
        "pass",
        "and",
        "not",
        "from",
        "import",
        "True",
        "False",
        "None",
    ]
)
PRIM_FUNC = re.compile(
    r"^([ \t]*)@T\.prim_func.*?(?=^\1@|\Z|^(?!\1)[^\n])", re.MULTILINE | re.DOTALL
)
WHOLE = os.environ.get("RLX_MISSPELT") == "all"
SHARE = 1.0 if WHOLE else 0.06


def misspellings(word: str, chance: random.Random) -> Iterator[str]:
    """The word with a letter missing, another one, and two exchanged."""
    at = chance.randrange(len(word))
    yield word[:at] + word[at + 1 :]
    yield word[:at] + ("q" if word[at] != "q" else "z") + word[at + 1 :]
    at = chance.randrange(len(word) - 1)
    yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def is_a_word(text: str, word: str) -> bool:
    """Whether a misspelling is another word that a program may use: a name of the text, a data type, an operator."""
    try:
        if lacking(dtype(word)) is None:
            return True
    except ValueError:
        pass
    known = any(lookup(f"relax.{space}{word}") for space in ("", "nn.", "image."))
    return known or re.search(rf"\b{word}\b", text) is not None


def names(text: str) -> Iterator[re.Match[str]]:
    """The words of a text outside of PrimFuncs and comments."""
    passed = [found.span() for found in PRIM_FUNC.finditer(text)]
    for found in WORD.finditer(text):
        line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        inside = any(start <= found.start() < end for start, end in passed)
        if found[0] not in PYTHON and "#" not in line and not inside:
            yield found


def said(found: Diagnostic) -> str:
    """All that a diagnostic says."""
    labels = (label.message for label in found.related)
    return " ".join([found.message, found.help or "", found.label, *found.notes, *labels])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_one_letter_is_one_error_that_names_the_word(path: Path) -> None:
    text = path.read_text()
    chance = random.Random(path.stem)
    tried = 0
    for found in names(text):
        for wrong in misspellings(found[0], chance):
            if chance.random() > SHARE or wrong == found[0] or wrong[0].isdigit():
                continue
            if is_a_word(text, wrong):
                continue
            altered = text[: found.start()] + wrong + text[found.end() :]
            errors = [d for d in check_text(altered).diagnostics if d.severity == "error"]
            tried += 1
            where = f"{found[0]} -> {wrong} at {found.start()}: {[said(d) for d in errors]}"
            assert len(errors) <= 1, where  # none where a name is changed that nothing uses
            assert all(found[0] in said(d) for d in errors), where
    assert tried


def test_an_operator_under_another_module_name() -> None:
    """What is marked is the operator as it stands there, and the edit keeps the name of the module."""
    text = (
        "from tvm.script import relax as relax_script\n\n"
        "@relax_script.function\n"
        'def main(x: relax_script.Tensor((4,), "float32")):\n'
        "    return relax_script.ad(x, x)\n"
    )
    (found,) = check_text(text, "model.py").diagnostics
    assert found.span is not None
    assert text[slice(*found.span)] == "relax_script.ad"
    assert found.edit is not None and found.edit.text == "relax_script.add"
    assert found.help == "did you mean `R.add`?"
