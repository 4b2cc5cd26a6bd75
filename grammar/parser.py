"""Text to syntax tree: :func:`parse` for whole texts, ``parse_…`` for pieces. Reading never evaluates."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from rlx.grammar import ast, tir
from rlx.grammar.definitions import Definitions
from rlx.grammar.diagnostic import Diagnostic, Label, Source
from rlx.grammar.expected import explain_unexpected
from rlx.grammar.lalr import Action, Entry, Rejected, run
from rlx.grammar.lexer import Lexer, Token
from rlx.grammar.node import Node, Span
from rlx.grammar.pieces import Defined, Open
from rlx.grammar.recursion import recursion_room
from rlx.grammar.regions import long_lines, metadata_text, regions
from rlx.grammar.scope import Scope

NOT_UNDERSTOOD = "this part of a PrimFunc is not understood; it is kept as text"
_ASSIGNED = re.compile(r"^\s*(?:([^=\n:(]{1,60})(?::|=(?!=))|(\w+)(?=[ \t]+\w))", re.MULTILINE)
_NOT_NAMES = frozenset(
    ["R", "T", "I", "cls", "def", "else", "for", "if", "return", "while", "with"]
)
T = TypeVar("T")
MAX_ERRORS = 200
"""After so many syntax errors the rest of a text is not read."""


class Parsed(Node):
    """What a text says.

    Attributes
    ----------
    modules
        The modules, in the order of the text. Functions without a class form one, ``bare``.
    diagnostics
        Syntax errors (code ``PARSE``) and notes, in the order of the text.
    source
        The text, for turning spans into lines.
    holes
        Variables whose definition could not be read. Nothing binds them and nothing more should be said of them.
    """

    modules: tuple[ast.IRModule, ...]
    diagnostics: tuple[Diagnostic, ...]
    source: Source
    holes: frozenset[ast.Expr]


class ParseError(SyntaxError):
    """A piece of text is not what it was read as; ``diagnostics`` says why."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(diagnostics[0].message)
        self.diagnostics = diagnostics


class TooManyErrors(Exception):
    """More errors than anybody reads."""


def parse(text: str, path: str = "<text>") -> Parsed:
    """Read a Relax text, or the decorated classes and functions of a Python file.

    Errors are in the result, never raised; what could be read besides them is there too. In a file
    named ``*.py`` other code is passed over.
    """
    with recursion_room():
        # A byte-order mark is no part of the text; a space keeps the offsets.
        return _Reader(" " + text[1:] if text.startswith("\ufeff") else text, path).read()


def parse_expr(text: str) -> ast.Expr:
    """Read one Relax expression.

    Raises
    ------
    ParseError
        If it is none.
    """
    parser, entry = _piece(text)
    return parser.finish(lambda: parser.coerce.expr(entry))


def parse_struct_info(text: str) -> ast.StructInfo:
    """Read one annotation; its free dimension names become shape variables, equal names the same one.

    Raises
    ------
    ParseError
        If it is none.
    """
    parser, entry = _piece(text)
    return parser.finish(lambda: parser.coerce.info(entry))


def parse_prim_expr(text: str, scope: dict[str, tir.Var] | None = None) -> tir.PrimExpr:
    """Read one scalar expression, such as a dimension.

    Parameters
    ----------
    scope
        Variables by name; those that the text adds are put into it.

    Raises
    ------
    ParseError
        If it is none.
    """
    parser, entry = _piece(text, scope)
    found = parser.finish(lambda: parser.coerce.prim(entry))
    if scope is not None:
        scope.update(parser.scope.shapes)
    return found


def _piece(text: str, scope: dict[str, tir.Var] | None = None) -> tuple[Parser, Entry]:
    names = Scope()
    if scope:
        names.shapes.update(scope)
    parser = Parser(text, names, 0, len(text))
    with recursion_room():
        entry = parser.read_expression(0, len(text))
    return parser, (None, 0, len(text)) if entry is None else entry


class Parser(Definitions):
    """Reads stretches of one text with one scope."""

    def __init__(self, text: str, scope: Scope, start: int, end: int) -> None:
        super().__init__(text, scope)
        self.start = start
        self.end = end
        self.decorations: list[Entry] = []
        self.holes: set[Any] = set()
        self.diagnostics: list[Diagnostic] = []
        self._error_starts: list[int] = []
        self._actions: list[Action | None] | None = None

    @property
    def actions(self) -> list[Action | None]:
        """The actions of this parser, by production."""
        if self._actions is None:
            self._actions = self.table()
        return self._actions

    # ------------------------------------------------------------ reading

    def read_definition(self, start: int) -> tuple[Any, int]:
        """Read the decorated definition at ``start``; return it and where it ends."""
        lexer = Lexer(self.text, start, self.end, self.lexical_error)
        end = start

        def tokens() -> Iterator[Token]:
            """One definition's tokens: up to the dedent that closes its block."""
            nonlocal end
            depth = 0
            for token in lexer:
                kind = token[0]
                end = token[3]
                yield token
                if kind == "INDENT":
                    depth += 1
                elif kind == "DEDENT":
                    depth -= 1
                    if depth == 0:
                        yield "END", "", end, end
                        return

        return run("whole_definition", tokens(), self.actions, self), end

    def read_expression(self, start: int, end: int, info: bool = True) -> Entry | None:
        """Read an expression that fills a stretch of the text."""
        lexer = Lexer(self.text, start, end, self.lexical_error, layout=False)
        lexer.whole_info = info
        value = run("whole_expression", iter(lexer), self.actions, self)
        if value is None and self.diagnostics:
            return None
        return value, start, end

    def read_info(self, start: int, end: int) -> Entry | None:
        """Read the annotation that one INFO token covers, word by word."""
        return self.read_expression(start, end, info=False)

    def read_quoted(self, text: str, start: int) -> Entry | None:
        """Read a quoted dimension; its spans are those of the text inside of the quotes."""
        inner = Parser(text, self.scope, 0, len(text))
        entry = inner.read_expression(0, len(text))
        if inner.diagnostics:
            return None
        return entry

    # ------------------------------------------------------------ reporting

    def lexical_error(self, message: str, start: int, end: int) -> None:
        """Report what can't be a token."""
        self.error(message, (start, end))

    def error(
        self,
        message: str,
        span: Span | None,
        help: str | None = None,
        related: Span | None = None,
    ) -> None:
        """Report a syntax error."""
        labels = () if related is None else (Label(related, "here first"),)
        self.diagnostics.append(
            Diagnostic("PARSE", "error", message, span, related=labels, help=help)
        )
        if span is not None:
            self._error_starts.insert(bisect_left(self._error_starts, span[0]), span[0])
        if len(self.diagnostics) >= MAX_ERRORS:
            raise TooManyErrors

    def note(self, message: str, span: Span) -> None:
        """Report something worth knowing, once for all places."""
        if not any(d.message == message for d in self.diagnostics):
            self.diagnostics.append(Diagnostic("PARSE-opaque", "note", message, span))

    def has_errors_in(self, span: Span) -> bool:
        """Whether an error was reported inside a stretch of text."""
        at = bisect_left(self._error_starts, span[0])
        return at < len(self._error_starts) and self._error_starts[at] <= span[1]

    def hole(self, name: str, span: Span | None) -> ast.Var:
        """A variable that stands for what could not be read."""
        made = ast.Var(name, None, None, span)
        self.holes.add(made)
        return made

    # ------------------------------------------------------------ recovery

    def unexpected(self, token: Token, expected: frozenset[str]) -> None:
        """Report a token that does not fit."""
        if self.scope.frame.kind in ("prim_func", "block"):
            self.note(NOT_UNDERSTOOD, (token[2], max(token[3], token[2] + 1)))
            return
        if self._line_has_error(token[2]):
            return
        message, help = explain_unexpected(token, expected)
        end = token[3] if token[3] > token[2] else token[2] + 1
        self.error(message, (token[2], min(end, max(len(self.text), 1))), help)

    def rejected(self, error: Rejected) -> None:
        """Report what an action refused."""
        if self.scope.frame.kind in ("prim_func", "block"):
            self.note(NOT_UNDERSTOOD, error.span)
        elif error.message and not self._line_has_error(error.span[0]):
            self.error(error.message, error.span, error.help)

    def _line_has_error(self, at: int) -> bool:
        """Whether something is wrong in the line already: one mistake is one error."""
        return self.has_errors_in((self.text.rfind("\n", 0, at) + 1, at))

    def skipped(self, given_up: list[Entry], stack: list[Entry], start: int, end: int) -> Any:
        """What stands for a statement that was given up: its variable, so that later uses are known."""
        depth = 1
        for entry in reversed(stack):
            if isinstance(entry[0], Open):
                depth = entry[0].depth
                break
        opened = next((e[0] for e in given_up if isinstance(e[0], Open)), None)
        self.scope.close_to(depth)
        if opened is not None and hasattr(opened.value, "__getitem__"):
            self._lost_function(opened.value[0])
        if self.scope.frame.kind in ("prim_func", "block"):
            return self.opaque(start, end)
        if self.scope.frame.kind != "module":
            for name in _assigned(self.text[start:end]):
                self.scope.bind(name, self.hole(name, (start, end)))
        return None

    def _lost_function(self, signature: Any) -> None:
        name = getattr(signature, "name", None)
        if name is None:
            return
        if signature.kind == "prim_func":
            self.error(f"the head of the PrimFunc {name!r} can't be read", signature.name_span)
        if signature.var is None:
            self.holes.add(self.scope.global_var(name, signature.name_span))
        else:
            self.scope.bind(name, self.hole(name, signature.name_span))

    def finish(self, make: Callable[[], T]) -> T:
        """The value that ``make`` gives, unless something was wrong."""
        if not self.diagnostics:
            try:
                with recursion_room():
                    found = make()
            except Rejected as error:
                self.error(error.message, error.span, error.help)
            else:
                return found
        raise ParseError(tuple(self.diagnostics))


def _assigned(text: str) -> Iterator[str]:
    """The names that lost statements would have bound; of a damaged one, what can be made of it."""
    for match in _ASSIGNED.finditer(text):
        words = re.findall(r"\w+", match[1] or match[2])
        for word in {*words, "".join(words)} - _NOT_NAMES:
            if word.isidentifier():
                yield word


class _Reader:
    """Reads a whole text: the definitions, and what may stand between them."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self.source = Source(text, path)
        self.python = path.endswith(".py")
        self.diagnostics: list[Diagnostic] = []
        self.modules: list[ast.IRModule] = []
        self.holes: set[Any] = set()
        self.bare: list[Defined] = []
        self.bare_scope = Scope()
        self.metadata: dict[str, list[ast.Literal]] = {}
        self.type_vars: list[str] = []

    def read(self) -> Parsed:
        """Read everything."""
        found_any = False
        stray: list[Span] = []
        try:
            self._refuse_long_lines()
            self._read_metadata()
            items = regions(self.text)
            resume: int | None = None
            while True:
                try:
                    kind, start, end = items.send(resume) if resume is not None else next(items)
                except StopIteration:
                    break
                resume = None
                if kind == "definition":
                    found_any = True
                    resume = max(self._definition(start), end)
                elif kind == "typevar":
                    self.type_vars.append(self.text[start:end].partition("=")[0].strip())
                else:
                    stray.append((start, end))
        except TooManyErrors:
            self.diagnostics.append(
                Diagnostic(
                    "PARSE",
                    "error",
                    f"more than {MAX_ERRORS} syntax errors; the rest is not read",
                    None,
                )
            )
        self._bare_module()
        self._strays(found_any, stray)
        self.diagnostics.sort(key=lambda d: d.span or (0, 0))
        return Parsed(
            tuple(self.modules), tuple(self.diagnostics), self.source, frozenset(self.holes)
        )

    def _refuse_long_lines(self) -> None:
        for start, end in long_lines(self.text):
            self.diagnostics.append(
                Diagnostic(
                    "PARSE",
                    "error",
                    f"this line of {end - start} characters is too long to be read",
                    (start, start + 1),
                )
            )
            self.text = self.text[:start] + " " * (end - start) + self.text[end:]

    def _read_metadata(self) -> None:
        found = metadata_text(self.text)
        if found is not None:
            from rlx.grammar.metadata import read_metadata

            self.metadata = read_metadata(found)

    def _definition(self, start: int) -> int:
        parser = Parser(self.text, Scope(), start, len(self.text))
        parser.metadata = self.metadata
        is_class, names = self._global_names(start)
        if not is_class:
            parser.scope = parser.coerce.scope = self.bare_scope
        parser.scope.global_names = parser.scope.global_names | names
        try:
            value, end = parser.read_definition(start)
            if value is None and not any(d.severity == "error" for d in parser.diagnostics):
                parser.error("this definition can't be read", (start, end))
        finally:
            self.diagnostics.extend(parser.diagnostics)
            self.holes.update(parser.holes)
        if isinstance(value, ast.IRModule):
            from rlx.grammar.node import replace

            declared = tuple(self.type_vars)
            self.modules.append(replace(value, type_vars=declared) if declared else value)
        elif isinstance(value, Defined):
            self.bare.append(value)
        return end

    def _global_names(self, start: int) -> tuple[bool, frozenset[str]]:
        """Whether a class starts here, and the functions on the outer level of the definition."""
        line = self.text.rfind("\n", 0, start) + 1
        column = start - line
        head = re.compile(r"[ \t]*(?:@[^\n]*\n\s*(?:#[^\n]*\n\s*)*)+class\b").match(self.text, line)
        found = re.compile(r"^([ \t]*)def[ \t]+(\w+)", re.MULTILINE)
        names: list[str] = []
        inner: int | None = None
        for match in found.finditer(self.text, line):
            width = len(match[1])
            if head is not None:
                if width <= column:
                    break
                inner = width if inner is None else min(inner, width)
                if width == inner:
                    names.append(match[2])
            elif width == column:
                names.append(match[2])
        return head is not None, frozenset(names)

    def _bare_module(self) -> None:
        if not self.bare:
            return
        parser = Parser(self.text, self.bare_scope, 0, len(self.text))
        functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
        with suppress(TooManyErrors):
            for item in self.bare:
                parser.add_function(functions, item)
        self.diagnostics.extend(parser.diagnostics)
        span = (self.bare[0].span[0], self.bare[-1].span[1])
        self.modules.append(
            ast.IRModule(
                functions, name="Module", bare=True, type_vars=tuple(self.type_vars), span=span
            )
        )

    def _strays(self, found_any: bool, stray: list[Span]) -> None:
        if stray and not self.python and not self.diagnostics:
            self.diagnostics.extend(
                Diagnostic(
                    "PARSE",
                    "error",
                    "expected a decorated class or function: @I.ir_module, @R.function or @T.prim_func",
                    span,
                )
                for span in stray[:1]
            )
        elif not found_any and not self.diagnostics and not self.python:
            self.diagnostics.append(
                Diagnostic(
                    "PARSE",
                    "error",
                    "no Relax program: expected a class under @I.ir_module or a function under @R.function",
                    None,
                )
            )
