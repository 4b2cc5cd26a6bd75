"""Many mistakes in one long line, and mistakes at the end of a text that begins with an indented line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rlx.checker.check import check_text
from rlx.grammar.print.formatting import format_text
from rlx.grammar.read import lexer
from tests.hostile.sources import of_examples


@pytest.mark.parametrize("count", [50, 150])
def test_a_line_is_read_a_few_times_whatever_is_wrong_in_it(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"@R.function\ndef main(x: R.Object{', x' * count}):\n    return x\n"
    read = [0]
    before = lexer.words_of

    def counted(*given: Any) -> Iterator[object]:
        for word in before(*given):
            read[0] += 1
            yield word

    monkeypatch.setattr(lexer, "words_of", counted)
    assert len(check_text(text).errors) == count
    assert read[0] < 20 * count


def test_every_beginning_of_a_text_with_an_indented_decorator_is_answered() -> None:
    """The blank rest of a line at the end of a text closes no bracket."""
    tried = 0
    for name, text in of_examples():
        lines = text.splitlines(keepends=True)
        heads = [k for k, line in enumerate(lines) if line.startswith(("@R", "    @R"))]
        for head in heads[:2]:
            defined = lines[head + 1].lstrip().replace("):", "):", 1)
            doubled = defined.replace("(x", "(x, x", 1)  # a mistake before the one at the end
            made = "".join([*lines[:head], f"    {lines[head]}", doubled])
            found = check_text(made, name)
            tried += 1
            assert found.errors, made
    assert tried > 20


@pytest.mark.parametrize("name", ["i", "x", "n", "q"])
@pytest.mark.parametrize("loop", ["range(8, {})", "T.parallel(8, {})", "T.grid(8, 8, {})"])
def test_an_argument_that_no_loop_takes_is_told(loop: str, name: str) -> None:
    """Neither the check nor the formatter drops a long comment, whatever it names."""
    target = "i, j" if "grid" in loop else "i"
    text = f"""@T.prim_func(s_tir=True)
def f(x: T.handle, y: T.Buffer((8,), "float32")):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    for {target} in {loop.format(f"what={name}")}:
        y[i] = X[i]
"""
    assert format_text(text).complaints
    assert "what" in check_text(text).errors[0].message
