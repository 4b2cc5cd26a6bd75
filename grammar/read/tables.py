"""Generator of the parser's tables: `python -m rlx.grammar.read.tables` reads `relax.lark` and writes
`relax.tables`.

Lark analyses the grammar only here, which takes as long as parsing 700 lines; the command loads the
result.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rlx.grammar.command_line import CommandParser
from rlx.grammar.read.automaton import TABLES
from rlx.writing import write

GRAMMAR = Path(__file__).with_name("relax.lark")
STARTS = ["definition", "expr"]


def build(debug: bool = False) -> str:
    """The tables for the current grammar, as the text of `relax.tables`.

    Parameters
    ----------
    debug
        Whether Lark logs the conflicts that it resolves.

    Raises
    ------
    lark.exceptions.GrammarError
        If the grammar is not LALR(1).
    """
    from lark.parsers.lalr_analysis import Shift

    table = _analysed(debug)
    states = _numbered(table, Shift)
    reduced = (
        arg for row in table.states.values() for act, arg in row.values() if act is not Shift
    )
    rules = sorted(set(reduced), key=str)
    productions = {rule: number for number, rule in enumerate(rules)}
    rows = [
        (
            {name: states[to] for name, (act, to) in sorted(row.items()) if act is Shift},
            {
                name: productions[rule]
                for name, (act, rule) in sorted(row.items())
                if act is not Shift
            },
        )
        for row in (table.states[state] for state in states)
    ]
    data = {
        "start": {name: states[table.start_states[name]] for name in STARTS},
        "end": {name: states[table.end_states[name]] for name in STARTS},
        "rules": [_production(rule) for rule in rules],
        "states": rows,
    }
    lines = ",\n".join(
        f'"{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in data.items()
    )
    return "{" + lines + "}\n"


def _analysed(debug: bool) -> Any:
    """The states that Lark finds."""
    from lark import Lark
    from lark.lexer import Lexer

    class NoLexer(Lexer):
        def __init__(self, _conf: object) -> None: ...

        def lex(self, *_: object) -> Iterator[Any]:
            return iter(())

    grammar = GRAMMAR.read_text(encoding="utf-8")
    lark = Lark(
        grammar, parser="lalr", start=STARTS, lexer=NoLexer, maybe_placeholders=True, debug=debug
    )
    return lark.parser.parser._parse_table


def _numbered(table: Any, shift: object) -> dict[int, int]:
    """The states in the order in which they are reached,
    so that equal grammars give equal tables.
    """
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


def _production(rule: Any) -> tuple[str, list[str], list[int], str | None, bool, list[bool]]:
    """A production as :func:`rlx.grammar.read.automaton.tables` reads it."""
    names = [str(symbol.name) for symbol in rule.expansion]
    kept = [at for at, s in enumerate(rule.expansion) if not (s.is_term and s.filter_out)]
    alias = None if rule.alias is None else str(rule.alias)
    empty = [bool(each) for each in rule.options.empty_indices]
    return str(rule.origin.name), names, kept, alias, bool(rule.options.expand1), empty


def main(argv: Sequence[str] = ()) -> int:
    """Write the tables."""
    CommandParser(
        prog="python -m rlx.grammar.read.tables", description=f"Write {TABLES.name}."
    ).parse_args(argv)
    write(TABLES, build())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
