"""Text to syntax tree: :func:`parse` for whole texts, ``parse_…`` for pieces. Reading never evaluates."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from rlx.grammar import ast, tir
from rlx.grammar.cascade import LAYOUT, Cascade
from rlx.grammar.definitions import Definitions
from rlx.grammar.diagnostic import Diagnostic, Label, Source
from rlx.grammar.lalr import Action, Entry, Rejected, run
from rlx.grammar.lexer import Lexer, Token
from rlx.grammar.node import Node, Record, Span
from rlx.grammar.partial_nodes import Defined, Open
from rlx.grammar.prim_statements import NOT_UNDERSTOOD
from rlx.grammar.recursion import recursion_room
from rlx.grammar.regions import long_lines, metadata_text, regions
from rlx.grammar.scope import Scope
from rlx.grammar.syntax_messages import explain_unexpected

if TYPE_CHECKING:
    from rlx.grammar.surroundings import Surroundings

_ASSIGNED = re.compile(r"^\s*(?:([^=\n:(]{1,60})(?::|=(?!=))|(\w+)(?=[ \t]+\w))", re.MULTILINE)
_NOT_NAMES = frozenset(
    ["R", "T", "I", "cls", "def", "else", "for", "if", "return", "while", "with"]
)
T = TypeVar("T")
MAX_ERRORS = 200
"""After so many syntax errors the rest of a text is not read."""


class Parsed(Record):
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
    captured
        Variables, shape variables and annotations that stand for what Python around the program gives.
    """

    modules: tuple[ast.IRModule, ...]
    diagnostics: tuple[Diagnostic, ...]
    source: Source
    holes: frozenset[Node]
    captured: frozenset[Node] = frozenset()


class ParseError(SyntaxError):
    """A piece of text is not what it was read as; ``diagnostics`` says why."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        first = diagnostics[0]
        super().__init__(first.message)
        self.diagnostics = diagnostics
        if first.source is not None and first.span is not None:  # where Python says it
            self.filename = first.source.path
            self.lineno, self.offset = first.source.position(first.span[0])
            self.text = first.source.line(self.lineno)


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
        self.cascade = Cascade(text)

    @property
    def actions(self) -> list[Action | None]:
        """The actions of this parser, by production."""
        if self._actions is None:
            self._actions = self.table()
        return self._actions

    # ------------------------------------------------------------ reading

    def _lexer(self, start: int, end: int, layout: bool = True) -> Lexer:
        lexer = Lexer(self.text, start, end, self.lexical_error, layout)
        if self.around is not None and self.around.renames:
            lexer.canonical = self.around.canonical
        return lexer

    def read_definition(self, start: int) -> tuple[Any, int]:
        """Read the decorated definition at ``start``; return it and where it ends."""
        lexer = self._lexer(start, self.end)
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
        lexer = self._lexer(start, end, layout=False)
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
        if message in LAYOUT or not self._line_has_error(start):
            self.error(message, (start, end), layout=message in LAYOUT)

    def error(
        self,
        message: str,
        span: Span | None,
        help: str | None = None,
        related: Span | None = None,
        layout: bool = False,
    ) -> None:
        """Report a syntax error; one of the layout only if it does not follow from one before it."""
        labels = () if related is None else (Label(related, "here first"),)
        follows = layout and span is not None and self.cascade.follows(span[0])
        if not follows:
            self.diagnostics.append(
                Diagnostic("PARSE", "error", message, span, related=labels, help=help)
            )
        if span is not None:
            self.cascade.note(span[0], layout)
            if layout:
                self.excuse_dataflow()
            self._error_starts.insert(bisect_left(self._error_starts, span[0]), span[0])
        if len(self.diagnostics) >= MAX_ERRORS:
            raise TooManyErrors

    def note(self, message: str, span: Span, code: str = "PARSE-opaque") -> None:
        """Report something worth knowing, once for all places."""
        if not any(d.message == message for d in self.diagnostics):
            self.diagnostics.append(Diagnostic(code, "note", message, span))

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

    def unexpected(self, token: Token, expected: frozenset[str], start: int | None = None) -> None:
        """Report a token that does not fit, unless something was wrong with its statement before."""
        # Wrong indentation is no Python, so that no version can read it.
        layout = token[0] in ("INDENT", "DEDENT") or "INDENT" in expected
        in_body = self.scope.frame.kind in ("prim_func", "block") and not self.in_head
        if in_body and not layout:
            self.note(NOT_UNDERSTOOD, (token[2], max(token[3], token[2] + 1)))
            return
        if self._line_has_error(token[2]) or self._is_known(token, start):
            return
        message, help = explain_unexpected(token, expected)
        end = token[3] if token[3] > token[2] else token[2] + 1
        layout = layout or token[0] in (")", "]", "}")
        self.error(message, (token[2], min(end, max(len(self.text), 1))), help, layout=layout)

    def rejected(self, error: Rejected) -> None:
        """Report what an action refused."""
        if self.scope.frame.kind in ("prim_func", "block") and not error.certain:
            self.note(NOT_UNDERSTOOD, error.span)
        elif error.message and not self._line_has_error(error.span[0]):
            self.error(error.message, error.span, error.help, layout=error.layout)

    def _is_known(self, token: Token, start: int | None) -> bool:
        """Whether a mistake was reported in the same statement, or in the line of the decorator above."""
        at = token[2]
        if token[0] == "DEF":
            line = self.text.rfind("\n", 0, at)
            return line > 0 and self._line_has_error(line)
        return start is not None and start < at and self.has_errors_in((start, at))

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
        self.excuse(start, end)
        self.in_head = False
        opened = next((e[0] for e in given_up if isinstance(e[0], Open)), None)
        self.scope.close_to(depth)
        if opened is not None and hasattr(opened.value, "__getitem__"):
            self._lost_function(opened.value[0], (start, end))
        if self.scope.frame.kind in ("prim_func", "block"):
            return self.opaque(start, end)
        if self.scope.frame.kind == "dataflow" and self.text.startswith("R.output", start):
            self.export_all()
        if self.scope.frame.kind != "module":
            self.lose(start, end)
        return None

    def lose(self, start: int, end: int) -> None:
        """Let the names that a lost statement would have bound stand for something."""
        text = self.text[start:end]
        for name in _assigned(text):
            self.scope.bind(name, self.hole(name, (start, end)))
        if "match_" in text:  # a cast would have bound shape variables
            for name in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text)):
                if name not in self.scope.names:
                    self.holes.add(self.scope.shape_var(name, (start, end)))

    def excuse(self, start: int, end: int) -> None:
        """Take back the errors in a statement that only running the Python around could read.

        That something is amiss there stays known, so that nothing is reported because of it.
        """
        around = self.around
        if around is None or not self.has_errors_in((start, end)):
            return
        from rlx.grammar.literals import needs_python

        column = start - (self.text.rfind("\n", 0, start) + 1)
        if not needs_python(" " * column + self.text[start:end], around.gives):
            return
        self.diagnostics[:] = [
            d for d in self.diagnostics if d.span is None or not start <= d.span[0] <= end
        ]
        around.used.setdefault("", (start, end))

    def _lost_function(self, signature: Any, span: Span) -> None:
        name = getattr(signature, "name", None)
        if name is None:
            return
        if signature.kind == "prim_func" and not self.has_errors_in(span):
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


def _around(text: str) -> Surroundings:
    from rlx.grammar.surroundings import Surroundings

    return Surroundings(text)


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
        self.bare: dict[int, list[Defined]] = {}
        self.bare_scopes: dict[int, Scope] = {}
        self.around = _around(text) if self.python else None
        self.captured: set[Node] = set()
        self.metadata: Mapping[str, Sequence[ast.Literal | None]] = {}
        self.type_vars: list[str] = []

    def read(self) -> Parsed:
        """Read everything."""
        found_any = False
        stray: list[Span] = []
        read: list[Span] = []
        try:
            self._refuse_long_lines()
            if "pyfunc" in self.text:
                from rlx.grammar.undecorated import without_python_functions

                self.text = without_python_functions(self.text)
            self._read_metadata()
            items = regions(self.text, self.around)
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
                    read.append((start, resume))
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
        for group in self.bare.items():
            self._bare_module(*group)
        if self.around is None:
            self._strays(found_any, stray)
        else:
            self._python(self.around, read)
        self.diagnostics.sort(key=lambda d: d.span or (0, 0))
        return Parsed(
            tuple(sorted(self.modules, key=lambda module: module.span or (0, 0))),
            tuple(self.diagnostics),
            self.source,
            frozenset(self.holes),
            frozenset(self.captured),
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

            read = read_metadata(found)
            if read is None:
                at = self.text.index("metadata")
                self.diagnostics.append(
                    Diagnostic(
                        "PARSE", "error", "this metadata is no JSON", (at, at + len("metadata"))
                    )
                )
            else:
                self.metadata = read

    def _definition(self, start: int) -> int:
        parser = Parser(self.text, Scope(), start, len(self.text))
        parser.metadata = self.metadata
        group = 0
        if self.around is not None:
            parser.around = self.around.view(start)
            group = parser.around.scope.start
        is_class, names = self._global_names(start)
        if not is_class:
            shared = self.bare_scopes.setdefault(group, Scope())
            parser.scope = parser.coerce.scope = shared
        parser.scope.global_names = parser.scope.global_names | names
        try:
            value, end = parser.read_definition(start)
            if value is None and not any(d.severity == "error" for d in parser.diagnostics):
                parser.error("this definition can't be read", (start, end))
            if value is None:
                parser.excuse(start, end)
        finally:
            self.diagnostics.extend(parser.diagnostics)
            self.holes.update(parser.holes)
            self._captures(parser)
        if isinstance(value, ast.IRModule):
            from rlx.grammar.node import replace

            declared = tuple(self.type_vars)
            self.modules.append(replace(value, type_vars=declared) if declared else value)
        elif isinstance(value, Defined):
            self.bare.setdefault(group, []).append(value)
        return end

    def _captures(self, parser: Parser) -> None:
        """Note what a definition takes from the Python around it."""
        captured = parser.coerce.captured
        self.captured |= captured
        self.holes.update(captured)
        if parser.around is None or not parser.around.used:
            return
        names = [repr(name) for name in parser.around.used if name]
        first = min(parser.around.used.values())
        message = f"captured from the Python around, values not known here: {', '.join(names)}"
        if not names:
            message = "this statement needs the Python around; it is not read"
        self.diagnostics.append(Diagnostic("PARSE-captured", "note", message, first))

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

    def _bare_module(self, group: int, items: list[Defined]) -> None:
        """Functions of one scope form a module; in Python a name given again starts another."""
        parser = Parser(self.text, self.bare_scopes[group], 0, len(self.text))
        with suppress(TooManyErrors):
            while items:
                functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
                names: set[str] = set()
                taken = 0
                for item in items:
                    if self.python and item.name in names:
                        break
                    names.add(item.name)
                    parser.add_function(functions, item)
                    taken += 1
                span = (items[0].span[0], items[taken - 1].span[1])
                declared = tuple(self.type_vars)
                self.modules.append(
                    ast.IRModule(functions, name="Module", bare=True, type_vars=declared, span=span)
                )
                items = items[taken:]
        self.diagnostics.extend(parser.diagnostics)

    def _python(self, around: Surroundings, read: list[Span]) -> None:
        """What a Python file lacks: decorators, or any Relax."""
        from rlx.grammar.undecorated import missing

        self.diagnostics += missing(self.text, around.canonical, read)
        if not read and not self.diagnostics:
            self.diagnostics.append(
                Diagnostic("PARSE-nothing", "note", "no Relax program found", None)
            )

    def _strays(self, found_any: bool, stray: list[Span]) -> None:
        if self.diagnostics:
            return
        if stray:
            from rlx.grammar.undecorated import misplaced

            self.diagnostics.append(misplaced(self.text, stray[0]))
        elif not found_any:
            self.diagnostics.append(
                Diagnostic(
                    "PARSE",
                    "error",
                    "no Relax program: expected a class under @I.ir_module or a function under @R.function",
                    None,
                )
            )
