"""Runs the LALR(1) tables of `relax.lark`: a shift-reduce automaton with recovery at statements."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from rlx.grammar.lexer import Token

Entry = tuple[Any, int, int]
"""A value on the stack with the offsets at which its text starts and ends."""

Action = Callable[[list[Entry]], Any]


class Tables:
    """The automaton, as `python -m rlx.grammar.tables` wrote it.

    Attributes
    ----------
    shift, goto
        For each state, the next state by terminal and by rule name.
    reduce
        For each state, the number of the production to reduce by terminal; under ``""`` by whatever comes.
    productions
        Rule name, number of symbols, name of the action (``""``: the value of the only symbol).
    start
        The initial state for each start rule.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.shift: list[dict[str, int]] = data["shift"]
        self.goto: list[dict[str, int]] = data["goto"]
        self.reduce: list[dict[str, int]] = data["reduce"]
        self.productions: list[tuple[str, int, str]] = [
            (origin, length, action) for origin, length, action in data["productions"]
        ]
        self.start: dict[str, int] = data["start"]
        self.final: dict[str, int] = data["final"]


@cache
def tables() -> Tables:
    """The tables that the package ships."""
    path = Path(__file__).with_name("relax.tables")
    return Tables(json.loads(path.read_text(encoding="utf-8")))


class Rejected(Exception):
    """An action can't make sense of a well-formed text: what was expected, and where.

    Inside of a PrimFunc that is only a reason to keep the text, unless it is ``certain`` that no version reads it.
    What a mistake in the ``layout`` above may be the reason of is not said once more.
    """

    def __init__(
        self,
        message: str,
        start: int,
        end: int,
        help: str | None = None,
        note: bool = False,
        certain: bool = False,
        layout: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = (start, end)
        self.help = help
        self.note = note
        self.certain = certain
        self.layout = layout


class Recovery(Protocol):
    """What the automaton asks its owner when the text does not fit."""

    def unexpected(self, token: Token, expected: frozenset[str], start: int | None) -> None:
        """The token can't stand here, in the statement that begins at ``start``; any of the expected terminals could."""

    def rejected(self, error: Rejected) -> None:
        """An action refused its operands."""

    def skipped(self, given_up: list[Entry], stack: list[Entry], start: int, end: int) -> Any:
        """The value of a statement that was given up: what was read of it, and what stays open."""


def run(start: str, tokens: Iterable[Token], actions: list[Action | None], owner: Recovery) -> Any:
    """Read tokens from a start rule and return the value of what they spell.

    Errors are reported to ``owner``; reading resumes at the next statement of an enclosing block. Where
    there is none (an expression on its own), or at the end, the answer is None.
    """
    machine = Machine(start, actions, owner)
    return machine.run(iter(tokens))


class Machine:
    """The two stacks of the automaton."""

    def __init__(self, start: str, actions: list[Action | None], owner: Recovery) -> None:
        self.tables = tables()
        self.final = self.tables.final[start]
        self.states = [self.tables.start[start]]
        self.stack: list[Entry] = []
        self.actions = actions
        self.owner = owner
        self._given_up_to = -1

    def run(self, tokens: Iterator[Token]) -> Any:
        shift, reduce, states, stack = (
            self.tables.shift,
            self.tables.reduce,
            self.states,
            self.stack,
        )
        final = self.final
        for token in tokens:
            kind = token[0]
            while True:
                state = states[-1]
                target = shift[state].get(kind)
                if target is not None:
                    states.append(target)
                    stack.append((token[1], token[2], token[3]))
                    if target == final:
                        return stack[-2][0]
                    break
                table = reduce[state]
                production = table.get(kind)
                if production is None:
                    production = table.get("")
                if production is None:
                    # The block under a head that was given up is part of the same mistake.
                    if kind != "INDENT" or not stack or stack[-1][2] != self._given_up_to:
                        self.owner.unexpected(token, self._expected(), self._statement())
                    if not self._recover(token, tokens):
                        return None
                    break
                if not self._reduce(production):
                    if not self._recover(token, tokens):
                        return None
                    break
        return None

    def _reduce(self, production: int) -> bool:
        """Apply a production; False if its action refused."""
        origin, length, _ = self.tables.productions[production]
        stack, states = self.stack, self.states
        action = self.actions[production]
        if action is not None:
            operands = stack[-length:]
            try:
                value = action(operands)
            except Rejected as error:
                self.owner.rejected(error)
                return False
            del stack[-length:]
            del states[-length:]
            stack.append((value, operands[0][1], operands[-1][2]))
        else:
            states.pop()
        states.append(self.tables.goto[states[-1]][origin])
        return True

    def _expected(self) -> frozenset[str]:
        """The terminals that could come next, looking through the reductions that come first."""
        found: set[str] = set()
        tables = self.tables
        states, origin_seen = list(self.states), 0
        while origin_seen < 64:
            state = states[-1]
            found.update(tables.shift[state])
            table = tables.reduce[state]
            if "" not in table:
                found.update(table)
                break
            origin, length, _ = tables.productions[table[""]]
            del states[-length:]
            states.append(tables.goto[states[-1]][origin])
            origin_seen += 1
        return frozenset(found)

    def _statement(self) -> int | None:
        """Where the innermost statement begins that is being read."""
        goto, states = self.tables.goto, self.states
        kept = len(states)
        while kept and "statement" not in goto[states[kept - 1]]:
            kept -= 1
        return self.stack[kept - 1][1] if 0 < kept <= len(self.stack) else None

    def _recover(self, token: Token, tokens: Iterator[Token]) -> bool:
        """Give up the current statement; stand before the next one."""
        goto, states, stack = self.tables.goto, self.states, self.stack
        kept = len(states)
        while kept and "statement" not in goto[states[kept - 1]]:
            kept -= 1
        if not kept:
            return False
        given_up = stack[kept - 1 :]
        start = given_up[0][1] if given_up else token[2]
        end = self._given_up_to = _skip(token, tokens)
        del states[kept:]
        del stack[kept - 1 :]
        value = self.owner.skipped(given_up, stack, start, end)
        stack.append((value, start, end))
        states.append(goto[states[-1]]["statement"])
        return True


def _skip(token: Token, tokens: Iterator[Token]) -> int:
    """Read to the end of a statement, blocks indented under it included; return its end."""
    depth, end = 0, token[3]
    current: Token | None = token
    while current is not None:
        kind = current[0]
        if kind == "INDENT":
            depth += 1
        elif kind == "DEDENT":
            depth -= 1
            if depth == 0:
                return end
        elif kind == "NEWLINE" and depth == 0:
            return end
        else:
            end = current[3]
        current = next(tokens, None)
    return end
