"""A function of TVMScript may stand in brackets where it is called, as in Python."""

from __future__ import annotations

import pytest

from rlx.grammar.nodes.equal import difference
from rlx.grammar.read.forms import FORMS
from rlx.grammar.read.parser import parse

WORDS = sorted(word for word in FORMS if word.startswith("T."))
ARGUMENTS = ["", "a[0]", "a[0], 1", "a[0], a[1], 1", '"float32", a[0]', '(4,), "float32"']
LINES = ["a[1] = {}", "T.evaluate({})", "x = {}"]


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_brackets_around_a_name_change_nothing(arguments: str) -> None:
    for word in WORDS:
        for line in LINES:
            plain, bracketed = (
                parse(
                    "@T.prim_func\ndef f(a: T.Buffer((4,), 'float32')):\n"
                    f"    {line.format(f'{name}({arguments})')}\n"
                )
                for name in (word, f"({word})")
            )
            said = [[d.message for d in parsed.diagnostics] for parsed in (plain, bracketed)]
            assert said[0] == said[1], (word, line)
            if not any(d.is_error or d.code == "PARSE-opaque" for d in plain.diagnostics):
                found = difference(plain.modules[0], bracketed.modules[0])
                assert found is None, (word, line)
