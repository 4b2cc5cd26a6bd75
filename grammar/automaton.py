"""Runs the LALR(1) tables that Lark makes of `relax.lark`: our tokens and actions,
and recovery at statements.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from rlx.grammar.entries import END, Entry, Rejected, Token

TABLES = Path(__file__).with_name("relax.tables")

Action = Callable[..., Any]
"""What makes the value of a rule:
given the span of the text, and the children that the grammar does not filter out.
"""

Callback = Callable[[list[Any]], Entry]
"""What puts the value of a production in the place of its operands."""

"""Of each production, by its number: the name of its rule, how many symbols it has, and its
callback, which one that passes its only symbol on has not.
"""


class Recovery(Protocol):
    """What the automaton asks its owner when the text does not fit."""

    def unexpected(self, token: Token, expected: frozenset[str], start: int | None) -> None:
        """The token can't stand here, in the statement that begins at ``start``;
        any of the expected terminals could.
        """

    def rejected(self, error: Rejected) -> None:
        """An action refused its operands."""

    def skipped(self, given_up: list[Entry], stack: list[Entry], start: int, end: int) -> Any:
        """The value of a statement that was given up: what was read of it, and what stays open."""


# ------------------------------------------------------------ tables


class Production(NamedTuple):
    """A rule of the grammar, with optional parts there or not.

    Attributes
    ----------
    origin
        The name of the rule.
    size
        How many symbols it has.
    children
        Where its children are among the symbols; None for an optional one that is not there.
    action
        The name of its action; None where it passes its only child on.
    """

    origin: str
    size: int
    children: tuple[int | None, ...]
    action: str | None


class Tables(NamedTuple):
    """The automaton, as `python -m rlx.grammar.tables` wrote it.

    Attributes
    ----------
    actions
        What each state does at each terminal: from 0 the state that it goes on in, below 0 the
        complement of the production that it reduces.
    gotos
        The state that each state goes on in behind a rule.
    settled
        The production that a state reduces whatever comes; None where it has to look.
    productions
        By number.
    start, end
        The first and the last state for each rule that reading can start from.
    """

    actions: list[dict[str, int]]
    gotos: list[dict[str, int]]
    settled: list[int | None]
    productions: tuple[Production, ...]
    start: dict[str, int]
    end: dict[str, int]


@cache
def tables() -> Tables:
    """The tables that the package ships."""
    data = json.loads(TABLES.read_text(encoding="utf-8"))
    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    settled: list[int | None] = []
    for shifts, reduces in data["states"]:
        row = {name: target for name, target in shifts.items() if name.isupper()}
        gotos.append({name: target for name, target in shifts.items() if not name.isupper()})
        only = set(reduces.values())
        settled.append(only.pop() if not shifts and len(only) == 1 else None)
        row.update((name, ~production) for name, production in reduces.items())
        actions.append(row)
    productions = tuple(_production(*rule) for rule in data["rules"])
    return Tables(actions, gotos, settled, productions, data["start"], data["end"])


def _production(
    origin: str,
    symbols: list[str],
    kept: list[int],
    alias: str | None,
    expand: bool,
    empty: list[bool],
) -> Production:
    """A production from its line in the tables."""
    children = _children(kept, empty)
    name = alias or (None if expand and len(children) == 1 else origin)
    return Production(origin, len(symbols), tuple(children), name)


def _children(kept: list[int], empty: list[bool]) -> list[int | None]:
    """Where children are among the symbols, of which the optional ones may not be there."""
    if not empty:
        return list(kept)
    found: list[int | None] = []
    at = 0
    for missing in empty:
        if missing:
            found.append(None)
            continue
        if at in kept:
            found.append(at)
        at += 1
    return found


class Callbacks(dict[int, tuple[str, int, Callback | None]]):
    """What makes the value of each production, by its number; made when a text first needs it,
    since a text uses few of them.

    Parameters
    ----------
    actions
        Gives the action of a name in the grammar.
    """

    def __init__(self, actions: Callable[[str], Action]) -> None:
        super().__init__()
        self._actions = actions

    def __missing__(self, number: int) -> tuple[str, int, Callback | None]:
        made = self[number] = _callback(tables().productions[number], self._actions)
        return made


def _callback(
    production: Production, actions: Callable[[str], Action]
) -> tuple[str, int, Callback | None]:
    origin, size, children, name = production
    if name is not None:
        return origin, size, _reduction(actions(name), children)
    (only,) = children
    return origin, size, None if size == 1 else itemgetter(only)


def _reduction(action: Action, children: Sequence[int | None]) -> Callback:
    """Calls an action with the children of its production, and puts its value at their place."""
    new = tuple.__new__
    match children:
        case [int(one)]:
            return lambda operands: new(
                Entry,
                (
                    action((start := operands[0][1], end := operands[-1][2]), operands[one]),
                    start,
                    end,
                ),
            )
        case [int(one), int(two)]:
            return lambda operands: new(
                Entry,
                (
                    action(
                        (start := operands[0][1], end := operands[-1][2]),
                        operands[one],
                        operands[two],
                    ),
                    start,
                    end,
                ),
            )
    pick = _picker(children)

    def reduce(operands: list[Any]) -> Entry:
        start, end = operands[0][1], operands[-1][2]
        return new(Entry, (action((start, end), *pick(operands)), start, end))

    return reduce


def _picker(children: Sequence[int | None]) -> Callable[[list[Any]], Sequence[Any]]:
    """Takes the children of a production from its operands."""
    places = [at for at in children if at is not None]
    if len(places) == len(children) > 2:
        return itemgetter(*places)
    return lambda operands: [None if at is None else operands[at] for at in children]


# ------------------------------------------------------------ reading


def read(start: str, tokens: Iterable[Token], actions: Callbacks, owner: Recovery) -> Any:
    """Read tokens from a start rule and return the value of what they spell.

    Errors are reported to ``owner``; reading resumes at the next statement of an enclosing block.
    Where there is none (an expression on its own), or at the end, the answer is None.
    """
    return _Run(start, actions, owner).run(iter(tokens))


class _Run:
    """One use of the automaton.

    Attributes
    ----------
    states, stack
        The states that lead to here, and the values between them.
    operands
        What was reduced last.
    """

    def __init__(self, start: str, actions: Callbacks, owner: Recovery) -> None:
        self.tables, self.callbacks, self.owner = tables(), actions, owner
        self.states = [self.tables.start[start]]
        self.stack: list[Entry] = []
        self.operands: list[Entry] = []
        self.end = self.tables.end[start]
        self._given_up_to = -1

    def run(self, tokens: Iterator[Token]) -> Any:
        rows, gotos, callbacks = self.tables.actions, self.tables.gotos, self.callbacks
        states, stack = self.states, self.stack
        for token in tokens:
            kind = token.type
            try:
                while (action := rows[states[-1]].get(kind)) is not None and action < 0:
                    origin, _, callback = callbacks[~action]
                    if callback is None:
                        states[-1] = gotos[states[-2]][origin]
                    else:
                        self._reduce(~action)
                if action is not None:
                    states.append(action)
                    stack.append(token)
                    continue
                if kind == END and states[-1] == self.end:
                    return stack[-1].value
                self._settle()
                self._unexpected(token)
                given_up: list[Entry] = []
            except Rejected as error:
                self.owner.rejected(error)
                given_up = self.operands
            if not self._recover(given_up, token, tokens):
                return None
        return None

    def _reduce(self, number: int) -> None:
        """Put the value of a production in the place of its symbols."""
        origin, size, callback = self.callbacks[number]
        states, stack = self.states, self.stack
        if callback is not None:
            if size == 1:
                states.pop()
                operands = self.operands = [stack.pop()]
            else:
                operands = self.operands = stack[-size:]
                del states[-size:], stack[-size:]
            stack.append(callback(operands))
        else:
            states.pop()
        states.append(self.tables.gotos[states[-1]][origin])

    def _settle(self) -> None:
        """Reduce what is complete whatever comes,
        so that a mistake in it is found before one behind it.
        """
        settled = self.tables.settled
        while (number := settled[self.states[-1]]) is not None:
            self._reduce(number)

    def _unexpected(self, token: Token) -> None:
        """Report a token that does not fit;
        the block under a head that was given up is part of the same mistake.
        """
        stack = self.stack
        if token.type != "_INDENT" or not stack or stack[-1].end != self._given_up_to:
            self.owner.unexpected(token, self._expected(), self._statement())

    def _expected(self) -> frozenset[str]:
        """The terminals that could come next."""
        row = self.tables.actions[self.states[-1]]
        return frozenset(name for name in row if self._accepts(name))

    def _accepts(self, terminal: str) -> bool:
        """Whether a terminal could come next, looking through the reductions that come first."""
        states = list(self.states)
        while (action := self.tables.actions[states[-1]].get(terminal)) is not None:
            if action >= 0:
                return True
            production = self.tables.productions[~action]
            del states[-production.size :]
            states.append(self.tables.gotos[states[-1]][production.origin])
            if terminal == END and states[-1] == self.end:
                return True
        return False

    def _depth(self) -> int:
        """How much of the stack is in front of the innermost
        statement that is being read; 0 outside of all.
        """
        states, gotos = self.states, self.tables.gotos
        kept = len(states)
        while kept and "statement" not in gotos[states[kept - 1]]:
            kept -= 1
        return kept

    def _statement(self) -> int | None:
        """Where the innermost statement begins that is being read."""
        kept, stack = self._depth(), self.stack
        return stack[kept - 1].start if 0 < kept <= len(stack) else None

    def _recover(self, given_up: list[Entry], token: Token, tokens: Iterator[Token]) -> bool:
        """Give up the current statement; stand before the next one."""
        states, stack = self.states, self.stack
        kept = self._depth()
        if not kept:
            return False
        given_up = stack[kept - 1 :] + given_up
        start = given_up[0].start if given_up else token.start
        end = self._given_up_to = _skip(token, tokens)
        del states[kept:]
        del stack[kept - 1 :]
        stack.append(Entry(self.owner.skipped(given_up, stack, start, end), start, end))
        states.append(self.tables.gotos[states[-1]]["statement"])
        return True


def _skip(token: Token, tokens: Iterator[Token]) -> int:
    """Read to the end of a statement, blocks indented under it included; return its end."""
    depth, end = 0, token.end
    current: Token | None = token
    while current is not None:
        if current.type == "_INDENT":
            depth += 1
        elif current.type == "_DEDENT":
            depth -= 1
            if depth == 0:
                return end
        elif current.type == "_NEWLINE" and depth == 0:
            return end
        else:
            end = current.end
        current = next(tokens, None)
    return end
