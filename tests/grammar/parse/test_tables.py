"""The shipped tables are those of the grammar, and Lark itself agrees with the automaton that runs them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rlx.grammar.lexer import Lexer
from rlx.grammar.tables import GRAMMAR, STARTS, TABLES, build


def test_tables_are_those_of_the_grammar() -> None:
    assert TABLES.read_text(encoding="utf-8") == build(), "run `make tables`"


def test_tables_do_not_depend_on_the_hash_seed() -> None:
    code = "from rlx.grammar.tables import build; import sys; sys.stdout.write(build())"
    made = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(made) == 1


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("@R.function\ndef f(x: R.Tensor):\n    return x\n", True),
        ("@I.ir_module\nclass M:\n    @R.function\n    def f():\n        return (1, 2)\n", True),
        (
            "@R.function\ndef f(x):\n    if x:\n        y = x\n    else:\n        y = x\n    return y",
            True,
        ),
        ("@R.function\ndef f(x: R.Tensor:\n    return x\n", False),
        ("@R.function\ndef f(x)\n    return x\n", False),
        ("@R.function\ndef f(x):\n    return x +\n", False),
    ],
)
def test_lark_reads_the_same_language(text: str, accepted: bool) -> None:
    from collections.abc import Iterator

    from lark import Lark, Token
    from lark.exceptions import UnexpectedInput
    from lark.lexer import Lexer as LarkLexer

    from rlx.grammar.lalr import run
    from rlx.grammar.tables import _terminal

    names: dict[str, str] = {}

    class Ours(LarkLexer):
        def __init__(self, _: object) -> None: ...

        def lex(self, state: object, parser_state: object = None) -> Iterator[Token]:
            for kind, value, _, _ in Lexer(text, 0, len(text), lambda *_: None):
                if kind != "END":
                    yield Token(names.get(kind, kind), value)
            yield Token("END", "")

    lark = Lark(
        GRAMMAR.read_text(), parser="lalr", start=STARTS, lexer=Ours, maybe_placeholders=False
    )
    names.update({_terminal(t.pattern.value): t.name for t in lark.terminals})
    try:
        lark.parse(text, start="whole_definition")
        theirs = True
    except UnexpectedInput:
        theirs = False

    class Owner:
        failed = False

        def unexpected(self, *_: object) -> None:
            self.failed = True

        rejected = unexpected

        def skipped(self, *_: object) -> None: ...

    from rlx.grammar.lalr import tables

    owner = Owner()
    actions = [(lambda c: None) if name else None for _, _, name in tables().productions]
    run("whole_definition", Lexer(text, 0, len(text), lambda *_: None), actions, owner)
    assert theirs is accepted
    assert owner.failed is not accepted
