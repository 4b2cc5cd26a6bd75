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
_BODIES = {
    "whole_definition": "definition",
    "whole_expression": "expr",
    "whole_statement": "statement",
}


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
    table = lark.parser.parser._parse_table
    spelling = {t.name: _terminal(t.pattern.value) for t in lark.terminals}
    states = _numbered(table, Shift)
    rules = sorted(
        {
            argument
            for row in table.states.values()
            for act, argument in row.values()
            if act is not Shift
        },
        key=str,
    )
    productions = {rule: number for number, rule in enumerate(rules)}
    shift, goto, reduce = [], [], []
    for state in states:
        shifts: dict[str, int] = {}
        gotos: dict[str, int] = {}
        reduces: dict[str, int] = {}
        for symbol, (action, argument) in sorted(table.states[state].items()):
            if action is not Shift:
                reduces[spelling.get(symbol, symbol)] = productions[argument]
            elif symbol.islower():
                gotos[symbol] = states[argument]
            else:
                shifts[spelling.get(symbol, symbol)] = states[argument]
        if reduces and len(set(reduces.values())) == 1 and not shifts:
            # One production whatever comes: no need to look.
            reduces = {"": next(iter(reduces.values()))}
        shift.append(shifts)
        goto.append(gotos)
        reduce.append(reduces)
    start = {name: states[table.start_states[name]] for name in STARTS}
    data = {
        "shift": shift,
        "goto": goto,
        "reduce": reduce,
        "productions": [_production(rule) for rule in rules],
        "start": start,
        "final": {name: shift[goto[start[name]][_BODIES[name]]]["END"] for name in STARTS},
    }
    lines = ",\n".join(
        f'"{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in data.items()
    )
    return "{" + lines + "}\n"


def _numbered(table: Any, shift: object) -> dict[int, int]:
    """The states in the order in which they are reached, so that equal grammars give equal tables."""
    found: dict[int, int] = {}
    waiting = [table.start_states[name] for name in STARTS]
    while waiting:
        state = waiting.pop(0)
        if state in found:
            continue
        found[state] = len(found)
        row = sorted(table.states[state].items())
        waiting += [argument for _, (action, argument) in row if action is shift]
    return found


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


def main() -> int:
    """Write the tables."""
    TABLES.write_text(build(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
