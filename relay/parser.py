"""Texts of Relay to modules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes.node import Span, replace
from rlx.grammar.read.parser import ParseError
from rlx.grammar.stack import recursion_room
from rlx.grammar.suggest import closest, did_you_mean
from rlx.relay.cursor import NESTING, SCOPES, TUPLES, Abandoned, Stopped
from rlx.relay.expression_reader import ExpressionReader
from rlx.relay.lexer import lex
from rlx.relay.nodes import (
    RelayExpr,
    RelayFunction,
    RelayGlobalVar,
    RelayIf,
    RelayLet,
    RelayModule,
    RelayTuple,
    RelayVar,
    operands,
)
from rlx.relay.scopes import Schedule
from rlx.spec.registry import refuted


def too_deep(function: RelayFunction) -> Diagnostic | None:
    """The diagnostic for a function whose nodes lead from scope to scope, or from tuple to tuple,
    more often than the limits allow.
    """
    schedule = Schedule(function.body)
    inner = schedule.inner.values()
    if max((scope.depth for scopes in inner for scope in scopes), default=0) > NESTING[SCOPES]:
        what, help = SCOPES, "bind inner parts by let"
    elif _of_tuples(schedule) > NESTING[TUPLES]:
        what, help = TUPLES, "use one tuple with more fields"
    else:
        return None
    words = (
        f"{what} are nested deeper than {NESTING[what]}, counted through the nodes that they use"
    )
    return Diagnostic("PARSE", "error", words, function.span, help=help)


def _of_tuples(schedule: Schedule) -> int:
    """The greatest depth of nested tuples."""
    depths: dict[RelayExpr, int] = {}
    for node, binds in schedule.order:
        match node:
            case RelayLet(var=var, value=value) if binds:
                depths[var] = depths.get(value, 0)
            case RelayLet(body=body):
                depths[node] = depths.get(body, 0)
            case RelayTuple(fields=fields):
                depths[node] = 1 + max((depths.get(field, 0) for field in fields), default=0)
            case RelayIf() | RelayFunction():
                depths[node] = max(depths.get(part, 0) for part in operands(node))
    return max(depths.values(), default=0)


_PYTHON = re.compile(
    r"^[ \t]*(@[RIT]\.\w+|@\w*script[\w.]*|from[ \t]+\w[\w.]*[ \t]+import\b|import[ \t]+\w+"
    r"|class[ \t]+\w+(?=[ \t]*[:(])|def[ \t]+\w+(?=[ \t]*\())",
    re.MULTILINE,
)
_RELAY = re.compile(r"^[ \t]*(?:def[ \t]+@|fn[ \t]*\(|#\[version|v0\.0\.)", re.MULTILINE)
_FRAMES = 500_000
"""How many functions of the reader may wait for each other in the deepest text."""


class RelayText(NamedTuple):
    """The content of a text: its module, None if it has errors; and the diagnostics."""

    module: RelayModule | None
    diagnostics: tuple[Diagnostic, ...]


def parse(text: str, path: str = "<text>") -> RelayModule:
    """Parse the module of a text of Relay.

    A text that is one expression is a module with the function ``@main``.

    Parameters
    ----------
    text
        In Relay's text format: `#[version = "0.0.5"] def @main(%x: Tensor[(2, 3), float32]) { … }`.
    path
        The path in messages.

    Raises
    ------
    TypeError
        If it is not a text.
    ParseError
        If it has errors: ``diagnostics`` has all of them.
    """
    if not isinstance(text, str):
        raise TypeError(f"expected a text, found {type(text).__name__}")
    found = read(text, path)
    if found.module is None:
        raise ParseError(found.diagnostics)
    return found.module


def read(text: str, path: str = "<text>") -> RelayText:
    """As :func:`parse`, with errors in the result."""
    source = Source(text, path)
    lexed = lex(" " + text[1:] if text.startswith("\ufeff") else text)
    wrong, module = lexed.diagnostics, None
    if not wrong:
        reader = ModuleReader(lexed.tokens)
        reader.metadata = lexed.metadata.strip()
        reader.types_said = lexed.types
        with recursion_room(_FRAMES):
            module = reader.module(text)
        wrong = reader.diagnostics
        if not wrong and reader.openings > min(NESTING[SCOPES], NESTING[TUPLES]):
            wrong += filter(None, map(too_deep, module.functions.values()))
    wrong = _other_language(text, wrong)
    for found in wrong:
        refuted(found.code)
    listed = sorted(wrong, key=lambda d: d.span or (0, 0))
    said = tuple(replace(found, source=source) for found in listed)
    return RelayText(None if said else module, said)


def _other_language(text: str, wrong: list[Diagnostic]) -> list[Diagnostic]:
    """The mistakes in a text; if it is a program of Python, this alone."""
    found = _PYTHON.search(text) if wrong else None
    if found is None or _RELAY.search(text):
        return wrong
    help = "check a program of Relax by `rlx check`"
    words = "expected a program of Relay, found Python"
    return [Diagnostic("PARSE", "error", words, found.span(1), help=help)]


class ModuleReader(ExpressionReader):
    """Reads the definitions of a module."""

    def module(self, text: str) -> RelayModule:
        """The module; what can't be read is reported and left out."""
        functions: dict[RelayGlobalVar, RelayFunction] = {}
        places: dict[str, Span] = {}
        try:
            while not self.sees("END"):
                try:
                    self._definition(functions, places)
                except Abandoned:
                    if not self._at_definition():
                        self.take()
                    while not self.sees("END") and not self._at_head():
                        self.take()
        except Stopped:
            pass
        else:
            for name, span in self.mentions.items():
                if name not in places:
                    near = did_you_mean(closest(name, places))
                    words = f"there is no function {name}"
                    self.error(words, span, near, code="RL-name-bound")
            if not functions and not self.diagnostics:
                self.error("expected a function: def @main(…) { … }", (0, min(1, len(text))))
        return RelayModule(functions, text)

    def _definition(
        self, functions: dict[RelayGlobalVar, RelayFunction], places: dict[str, Span]
    ) -> None:
        token = self.token
        if self.is_word("def"):
            self._function(functions, places)
        elif self.is_word("type", "extern"):
            name = self.peek().text
            words = f"{token.text} {name}: algebraic data types are not supported"
            self.error(words, token.span, code="RL-refused-adt")
            raise Abandoned
        elif self.is_word("import"):
            words = "import: imports are not supported"
            self.error(words, token.span, code="PARSE")
            raise Abandoned
        elif self._at_prim_func():
            words = f"{token.text} is a function of TIR: only a module that is not lowered is read"
            places.setdefault(token.text, token.span)
            self.error(words, token.span, code="PARSE")
            raise Abandoned
        elif functions or places:
            self.unexpected("a definition: def @name(…) { … }")
        else:
            self._expression_alone(functions, places)

    def _expression_alone(
        self, functions: dict[RelayGlobalVar, RelayFunction], places: dict[str, Span]
    ) -> None:
        """A text that is one expression: the function @main, or the body of one."""
        start = self.token.start
        free = tuple(self._free_variables())
        body = self.statements()
        if not self.sees("END"):
            self.unexpected("the end of the text")
        if free or not isinstance(body, RelayFunction):
            body = RelayFunction(free, body, None, {}, (start, self.token.end))
        functions[self.global_var("main")] = body
        places["@main"] = (start, start)

    def _free_variables(self) -> Iterator[RelayVar]:
        """``free_var %x: T;``, in front of an expression: a parameter of it."""
        while self.is_word("free_var"):
            self.take()
            yield self.parameter()
            self.accept(";")

    def _function(
        self, functions: dict[RelayGlobalVar, RelayFunction], places: dict[str, Span]
    ) -> None:
        """``def @f(%x: T) -> U { … }``"""
        start = self.take().start
        name = self.expect("GLOBAL")
        span = name.span
        if name.text in places:
            words = f"two functions have the name {name.text}"
            self.error(words, span, None, places[name.text], code="RL-name-once")
        places.setdefault(name.text, span)
        self.names.frames[:] = [{}]
        self.names.left.clear()
        self.depth = dict.fromkeys(NESTING, 0)
        self.type_params = frozenset()
        if self.sees("["):
            self._type_parameters()
        made = self.signature(start)
        var = self.global_var(name.text[1:])
        if var not in functions:
            functions[var] = made

    def _type_parameters(self) -> None:
        """``[A, B]``"""
        token = self.token
        words = "type parameters: polymorphic functions are not supported"
        self.error(words, token.span, code="RL-refused-polymorphic")
        first = self.at
        self.skip_brackets()
        named = self.tokens[first : self.at]
        self.type_params = frozenset(t.text for t in named if t.kind == "NAME")

    def _at_head(self) -> bool:
        """Whether a definition begins, of any kind."""
        head = self.is_word("def", "type", "extern") or self._at_prim_func()
        return head and self.token.fresh_line

    def _at_prim_func(self) -> bool:
        """Whether a function of TIR begins: ``@name = primfn(…)``."""
        return self.sees("GLOBAL") and self.peek(2).text == "primfn"
