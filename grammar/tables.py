"""Makes the parser's tables: `python -m rlx.grammar.tables` reads `relax.lark`, writes `relax.tables`.

Lark is needed here only; the command loads the tables alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GRAMMAR = Path(__file__).with_name("relax.lark")
TABLES = Path(__file__).with_name("relax.tables")
STARTS = ["whole_definition", "whole_expression", "whole_statement"]


def build() -> str:
    """The tables for the grammar as it stands, as the text of `relax.tables`.

    Raises
    ------
    lark.exceptions.GrammarError
        If the grammar is not LALR(1).
    """
    from lark import Lark
    from lark.lexer import Lexer
    from lark.parsers.lalr_analysis import Shift

    class NoLexer(Lexer):
        def __init__(self, _conf: object) -> None: ...

        def lex(self, *_: object) -> Iterator[Any]:
            return iter(())

    grammar = GRAMMAR.read_text(encoding="utf-8")
    lark = Lark(
        grammar, parser="lalr", start=STARTS, lexer=NoLexer, maybe_placeholders=False, strict=False
    )
    table = lark.parser.parser._parse_table  # type: ignore[union-attr]
    spelling = {t.name: _terminal(t.pattern.value) for t in lark.terminals}
    numbers: dict[Any, int] = {}
    productions: list[tuple[str, int, str]] = []
    shift, goto, reduce = [], [], []
    for state in range(len(table.states)):
        shifts: dict[str, int] = {}
        gotos: dict[str, int] = {}
        reduces: dict[str, int] = {}
        for symbol, (action, argument) in sorted(table.states[state].items()):
            if action is Shift:
                if symbol in table.states or symbol.islower():
                    gotos[symbol] = argument
                else:
                    shifts[spelling.get(symbol, symbol)] = argument
            else:
                if argument not in numbers:
                    numbers[argument] = len(productions)
                    productions.append(_production(argument))
                reduces[spelling.get(symbol, symbol)] = numbers[argument]
        if reduces and len(set(reduces.values())) == 1 and not shifts:
            # One production whatever comes: no need to look.
            reduces = {"": next(iter(reduces.values()))}
        shift.append(shifts)
        goto.append(gotos)
        reduce.append(reduces)
    final = {start: _final(table, shift, goto, start) for start in STARTS}
    data = {
        "shift": shift,
        "goto": goto,
        "reduce": reduce,
        "productions": productions,
        "start": {start: table.start_states[start] for start in STARTS},
        "final": final,
    }
    lines = ",\n".join(
        f'"{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in data.items()
    )
    return "{" + lines + "}\n"


def _terminal(pattern: str) -> str:
    """The name under which the lexer knows a terminal that the grammar writes as a literal."""
    text = pattern.replace("\\", "")
    return text.upper() if text.isalpha() else {"->": "ARROW"}.get(text, text)


def _production(rule: Any) -> tuple[str, int, str]:
    """Name, length and action; a rule with one symbol and no action of its own passes it on."""
    length = len(rule.expansion)
    origin = str(rule.origin.name)
    if rule.alias:
        return origin, length, str(rule.alias)
    if rule.options.expand1 and length == 1:
        return origin, length, ""
    return origin, length, origin


def _final(table: Any, shift: list[dict[str, int]], goto: list[dict[str, int]], start: str) -> int:
    """The state behind the END of a start rule."""
    body = {"whole_definition": "definition", "whole_expression": "expr"}.get(start, "statement")
    return shift[goto[table.start_states[start]][body]]["END"]


def main() -> int:
    """Write the tables."""
    TABLES.write_text(build(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
