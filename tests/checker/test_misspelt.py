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
from rlx.grammar.nodes.dtype import dtype, lacking
from rlx.operators import lookup

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.rlx"))
WORD = re.compile(r"[A-Za-z_]\w{2,}")
PYTHON = frozenset(
    [
        *("def", "return", "class", "with", "else", "for", "pass", "and", "not", "from"),
        *("import", "True", "False", "None"),
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
            errors = [d for d in check_text(altered).diagnostics if d.is_error]
            tried += 1
            where = f"{found[0]} -> {wrong} at {found.start()}: {[said(d) for d in errors]}"
            assert len(errors) <= 1, where  # none where a name is changed that nothing uses
            assert all(found[0] in said(d) for d in errors), where
    assert tried


def test_an_operator_under_another_module_name() -> None:
    """The mark is on the operator as it is written, and the edit keeps the name of the module."""
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


SCRIPT = """from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def k(A: T.Buffer((16, 8), "float32"), B: T.Buffer((16, 8), "float32")):
        for i, j in T.grid(16, 8):
            with T.sblock("k"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)

    @R.function(pure=False)
    def main(input: R.Tensor(("n", 8), dtype="float32")) -> R.Tensor(("n", 8), dtype="float32"):
        n = T.int64()
        y: R.Tensor((n, 8), dtype="float32") = R.call_packed("f", input, sinfo_args=R.Tensor((n, 8), dtype="float32"))
        z: R.Tensor((n, 8), dtype="float32") = R.add(y, input)
        return z
"""
SLIPS = {
    "a language": ("relax as R", "reljax as R", "did you mean 'relax'?"),
    "a type of a dimension": ("T.int64()", "T.injt64()", "did you mean `T.int64`?"),
    "a type that is too narrow a word": (
        "T.int64()",
        "T.int46()",
        "did you mean `T.int16` or `T.int4` or `T.int64`?",
    ),
    "an axis": ("axis.remap", "axis.rmap", "did you mean `T.axis.remap`?"),
    "a type of a number": ("T.float32(1)", "T.flaot32(1)", "did you mean `T.float32`?"),
    "a buffer's type": ('8), "float32"), B', '8), "flat32"), B', "did you mean 'float32'?"),
    "letters exchanged": ("A[vi, vj]", "A[iv, vj]", "did you mean 'i' or 'vi'?"),
    "what a packed call gives": ("sinfo_args", "sinfo_arg", "did you mean 'sinfo_args'?"),
    "a decorator with arguments": ("@R.function", "@R.fucntion", "did you mean `@R.function`?"),
    "an argument beside a name of Python": (
        'R.Tensor((n, 8), dtype="float32") = R.add',
        'R.Tensor((n, 8), dtpe="float32") = R.add',
        "did you mean 'dtype'?",
    ),
}


@pytest.mark.parametrize("path", ["model.rlx", "model.py"])
@pytest.mark.parametrize("name", list(SLIPS))
def test_a_slip_in_a_script(name: str, path: str) -> None:
    """A Python file is no exception: no code around the program can define these names."""
    before, after, help = SLIPS[name]
    assert SCRIPT.count(before) == 1 and not check_text(SCRIPT, path).diagnostics
    altered = SCRIPT.replace(before, after)
    (found,) = (d for d in check_text(altered, path).diagnostics if d.is_error)
    assert found.help == help
    assert found.span is not None
    assert (
        abs(altered.count("\n", 0, found.span[0]) - SCRIPT.count("\n", 0, SCRIPT.index(before)))
        <= 0
    )
