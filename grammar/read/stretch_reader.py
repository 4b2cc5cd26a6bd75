"""Parsing of stretches of a text with one scope: the actions of the grammar, and error recovery at
the next statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, TypeVar

from rlx.grammar.diagnostic import Diagnostic, Edit
from rlx.grammar.lines import line_end, line_start, lines_above
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span
from rlx.grammar.read import (
    forms_call,  # noqa: F401
    forms_info,  # noqa: F401
    forms_lowered,  # noqa: F401
    forms_tir,  # noqa: F401
    forms_value,  # noqa: F401
)
from rlx.grammar.read.actions_atoms import AtomActions, NamesAround
from rlx.grammar.read.actions_calls import CallActions, SubscriptActions
from rlx.grammar.read.actions_definitions import DefinitionActions
from rlx.grammar.read.actions_statements import StatementActions
from rlx.grammar.read.automaton import Action, Callbacks, read
from rlx.grammar.read.coerce import BARE_INFOS
from rlx.grammar.read.entries import END, Entry, Rejected, Token, token
from rlx.grammar.read.function_bodies import FUNCTION_WORDS
from rlx.grammar.read.lexer import HEADS, OPENING, VALUES, Lexer
from rlx.grammar.read.module_statements import ModuleStatements
from rlx.grammar.read.partial_nodes import Form, Name, Open, Signature
from rlx.grammar.read.prim_statements import PrimStatements
from rlx.grammar.read.prototype import is_prototype
from rlx.grammar.read.python_names import postpones_annotations
from rlx.grammar.read.python_syntax import is_head_refused
from rlx.grammar.read.relax_statements import RelaxStatements
from rlx.grammar.read.reports import NOT_UNDERSTOOD, ReadContext, shown_span
from rlx.grammar.read.scope import Scope
from rlx.grammar.read.source_tokens import identifiers_in, parameters_in, parts_of
from rlx.grammar.read.syntax_messages import explain_unexpected, misspelt_keyword, python_statement
from rlx.grammar.stack import recursion_room
from rlx.grammar.suggest import closest_names, did_you_mean

if TYPE_CHECKING:
    from rlx.grammar.read.surroundings import PythonAround

OWNERS = (AtomActions, CallActions, SubscriptActions, StatementActions, DefinitionActions)


@cache
def _owner(name: str) -> int:
    """The object that has the action of a name."""
    (found,) = (at for at, owner in enumerate(OWNERS) if hasattr(owner, f"do_{name}"))
    return found


class Actions:
    """The objects with the actions for parts of the grammar, made on demand."""

    def __init__(self, context: ReadContext) -> None:
        relax = _once(RelaxStatements, context)
        prim = _once(PrimStatements, context)
        self.statements = StatementActions(
            context.scope,
            {
                "module": _once(ModuleStatements, context),
                **dict.fromkeys(["function", "branch", "dataflow"], relax),
                **dict.fromkeys(["prim_func", "block"], prim),
            },
        )
        self.definitions = DefinitionActions(context, self.statements)
        around = NamesAround(context)
        self.owners = (
            AtomActions(context, around),
            CallActions(context, around),
            SubscriptActions(context, around),
            self.statements,
            self.definitions,
        )

    def action(self, name: str) -> Action:
        """The action of a name in the grammar."""
        found: Action = getattr(self.owners[_owner(name)], f"do_{name}")
        return found


T = TypeVar("T")


def _once(kind: Callable[[ReadContext], T], context: ReadContext) -> Callable[[], T]:
    """Makes one object, when it is first asked for."""
    made: list[T] = []

    def get() -> T:
        if not made:
            made.append(kind(context))
        return made[0]

    return get


def _unbound(name: str) -> tuple[Action, int]:
    at = _owner(name)
    return getattr(OWNERS[at], f"do_{name}"), at


CALLBACKS = Callbacks(_unbound)
"""The automaton's callbacks for each production, the same for all texts."""


class StretchReader:
    """Parses definitions and expressions of one text, and reports syntax errors."""

    def __init__(self, text: str, scope: Scope) -> None:
        self.text = text
        self.scope = scope
        self.context = ReadContext(text, scope, self)
        self.reports = self.context.reports
        self.actions = Actions(self.context)
        self._annotation = 0
        self._unexpected = -1  # the last token that did not fit
        self._contained = 0  # up to here, a mistake is one of an annotation and of nothing else

    # ------------------------------------------------------------ reading

    def _lexer(self, start: int, end: int, layout: bool = True) -> Lexer:
        lexer = Lexer(self.text, start, end, self.reports.lexical_error, layout)
        around = self.context.around
        if around is not None and around.renames:
            lexer.canonical = around.canonical
        return lexer

    def read_definition(self, start: int) -> tuple[Any, int]:
        """Parse the decorated definition at ``start``; return it and its end."""
        lexer = self._lexer(start, len(self.text))
        end = start

        def tokens() -> Iterator[Token]:
            """The tokens of one definition: up to the dedent that closes its block, or to the end
            of the line that holds its whole body.
            """
            nonlocal end
            depth = 0
            first = last = ""  # token of this line
            inline = False
            for found in lexer:
                if inline and found.type != "_INDENT" and not self._goes_on(found.start):
                    yield token(END, "", end, end)
                    return
                inline = False
                end = found.end
                yield found
                match found.type:
                    case "_INDENT":
                        depth += 1
                    case "_DEDENT":
                        depth -= 1
                        if depth == 0 and not self._goes_on(found.start):
                            yield token(END, "", end, end)
                            return
                    case "_NEWLINE":
                        inline = not depth and first in ("DEF", "CLASS") and last != "COLON"
                        first = ""
                    case kind:
                        first, last = first or kind, kind

        found = read("definition", tokens(), CALLBACKS, self.actions.owners, self)
        if found is None and self.scope.in_head:
            self._rest_of_head(end, len(self.text))
        return found, end

    def _goes_on(self, at: int) -> bool:
        """Whether a line begins with what ends a head: a bracket above is closed too early."""
        return self.text.startswith((")", "]", "->"), at)

    def read_expression(self, start: int, end: int, info: bool = True) -> Entry | None:
        """Parse an expression that fills a stretch of the text."""
        lexer = self._lexer(start, end, layout=False)
        lexer.whole_info = info
        value = read("expr", iter(lexer), CALLBACKS, self.actions.owners, self)
        if value is None and self.reports.diagnostics:
            return None
        return Entry(value, start, end)

    def read_info(self, start: int, end: int) -> Entry | None:
        """Parse the annotation that one INFO token covers."""
        outside, self._annotation = self._annotation, start
        try:
            return self.read_expression(start, end, info=False)
        finally:
            self._annotation = outside

    def read_quoted(self, text: str) -> Entry | None:
        """Parse a quoted dimension; its spans are those of the text inside the quotes."""
        if iskeyword(text.strip()) and text.strip() not in VALUES:
            return None
        inner = StretchReader(text, self.scope)
        entry = inner.read_name() if text.isidentifier() else inner.read_expression(0, len(text))
        return None if inner.reports.diagnostics else entry

    def read_name(self) -> Entry | None:
        """Read a text that is an identifier, as :meth:`read_expression` would."""
        span = (0, len(self.text))
        try:
            return Entry(self.actions.action("name")(span, Entry(self.text, *span)), *span)
        except Rejected as error:
            self.rejected(error)
            return None

    def finish(self, make: Callable[[], T]) -> T | None:
        """The value returned by ``make``, or None after an error."""
        if self.reports.diagnostics:
            return None
        try:
            with recursion_room():
                return make()
        except Rejected as error:
            self.reports.error(error.message, error.span, error.help)
            return None

    # ------------------------------------------------------------ recovery

    def unexpected(self, token: Token, expected: frozenset[str], start: int | None = None) -> None:
        """Report an unexpected token, unless its statement already has an error."""
        self._unexpected = token.start
        # Wrong indentation is no Python, so that no version can read it.
        layout = token.type in ("_INDENT", "_DEDENT") or "_INDENT" in expected
        lacks_its_condition = token.type == "COLON" and expected >= {"NAME", "INT"}
        no_python = layout or lacks_its_condition
        if self.scope.in_prim_body() and not self.scope.in_head and not no_python:
            self.reports.not_understood(token, expected)
            return
        if lacks_its_condition:  # what is wrong above is another clause
            is_told = self._is_told(token, None)
        else:
            is_told = self._is_told(token, start) or self._lacks_its_if(token)
        if is_told:
            return
        message, help = explain_unexpected(token, expected)
        start, end = shown_span(token)
        statement = python_statement(self.text, token.start)
        misspelt = misspelt_keyword(self.text, token.start)
        if statement is not None:
            (message, (start, end)), help = statement, None
        elif misspelt is not None and token.type in ("NAME", "HEAD", "COLON", "DOTTED"):
            message, (start, end), help = misspelt
        layout = layout or token.type in ("RPAR", "RSQB", "RBRACE")
        span = (start, min(end, max(len(self.text), 1)))
        self.reports.error(message, span, help, layout=layout)

    def rejected(self, error: Rejected) -> None:
        """Report the rejection of an action."""
        kept = error.kept or (self.context.around is not None and not error.certain)
        if error.settled:
            self.reports.kept.add(error.span)
        if kept and self.scope.in_prim_body():
            self.reports.note(NOT_UNDERSTOOD, error.span)
        elif error.message and not self._is_wrong(error):
            self.reports.error(error.message, error.span, error.help, layout=error.layout)

    def unread_info(self, error: Rejected, span: Span) -> ast.StructInfo:
        """Report what is wrong with an annotation. In its place stands one of which nothing is
        known, so that the rest of the function is read; all that it mentions may be a dimension.
        """
        self.rejected(error)
        return self._unknown_info(span)

    def _unknown_info(self, span: Span) -> ast.StructInfo:
        self.excuse(span)
        if span[0] <= self._unexpected <= span[1] and not self.scope.in_prim_func():
            self.scope.doubtful = span  # a dimension may be lost
        if self._closes_its_brackets(span):
            self._contained = max(self._contained, span[1])
        found = ast.ObjectStructInfo(span)
        mentioned = [
            name
            for name in identifiers_in(self.text, span)
            if name not in self.scope.names and name not in BARE_INFOS and name != "_"
        ]
        self.context.coerce.captured |= {
            found,
            *(self.scope.shape_var(name, span) for name in mentioned),
        }
        return found

    def _closes_its_brackets(self, annotation: Span) -> bool:
        """Whether a whole annotation has no mistake that reaches beyond it."""
        start, end = annotation
        before = self.text[max(0, start - 99) : start].rstrip()[-1:]
        behind = _BEHIND_ANNOTATION.get(before)
        if behind is None or behind.match(self.text, end) is None:
            return False
        return not sum(OPENING.get(part.type, 0) for part in parts_of(self.text, annotation))

    def _is_wrong(self, error: Rejected) -> bool:
        """Whether an error was reported in the first line of what is rejected; in an annotation,
        within it.
        """
        end = min(error.span[1], line_end(self.text, error.span[0]))
        start = max(self._annotation, self._contained, error.within, line_start(self.text, end))
        return self.reports.has_errors_in((start, end))

    def _lacks_its_if(self, token: Token) -> bool:
        """Whether a token stands behind an `else` (or `except`) in a function with an error above,
        which may be that of its `if` (or `try`).
        """
        if not _GOES_ON.match(self.text, line_start(self.text, token.start)):
            return False
        around = self.reports.function_around(token.span)
        return around is not None and self.reports.has_errors_in((around[0], token.start))

    def _is_told(self, token: Token, start: int | None) -> bool:
        """Whether an error was reported in front of a token: in its line or its statement, which
        begins at ``start``; in an annotation, within it; at a definition, in the decorator above.
        """
        first = max(self._annotation, line_start(self.text, token.start))
        if token.type == "DEF":
            above = lines_above(self.text, token.start)
            written = (a for a, b in above if self.text[a:b].lstrip()[:1] not in ("", "#"))
            first = next(written, first)
        elif start is not None:
            first = max(min(first, start), self._contained)
        return self.reports.has_errors_in((first, token.start))

    def instead_of(self, goal: str, given_up: list[Entry], start: int, end: int) -> Any:
        """An annotation of which nothing is known, so that what stands beside it is read; a decorator
        without arguments; a condition of which nothing is known; the head of a function with the parameters that it seems to have, so that the body is read.
        """
        if goal == "decorator":
            word = _DECORATOR.match(self.text, start)
            if word is None:
                return None
            flags = {}
            # It may say that the function has effects.
            if word[1] in FUNCTION_WORDS and _FLAG.search(self.text, start, end):
                flags["pure"] = Entry(False, start, end)
            return Entry(Form(word[1], [], flags) if flags else Name(word[1]), *word.span(1))
        if goal == "expr":
            in_kernel = self.scope.in_prim_func()
            return (
                tir.OpaqueExpr("", (start, end))
                if in_kernel
                else ast.ErrorExpr(False, (start, end))
            )
        if goal == "annotation":
            is_read = self.scope.in_head or self.scope.frame.kind in (
                "function",
                "branch",
                "dataflow",
            )
            return self._unknown_info((start, end)) if is_read else None
        opened = next((e for e in given_up if isinstance(e.value, Open)), None)
        if opened is None:
            opened = self._open_without_bracket(given_up)
        if opened is None or opened.value.kind == "module":
            return None
        if opened.value.kind == "function":
            self.scope.doubtful = (start, end)
        if not self.scope.in_head:  # what is wrong stands behind the head
            return opened.value
        self._rest_of_head(given_up[-1].end, end)
        self.reports.read_on()
        self._unknown_info((start, end))
        listed = next((e for e in given_up if _are_variables(e.value)), None)
        behind = (opened if listed is None else listed).end
        found, lacks_names = parameters_in(self.text, (behind, end))
        self.scope.missing += lacks_names
        if lacks_names:
            self.scope.doubtful = (start, end)
        return self.actions.definitions.unread_head(opened, listed, found, (behind, end))

    def _open_without_bracket(self, given_up: list[Entry]) -> Entry | None:
        """The beginning of a head in which no bracket follows the name of the function."""
        definition = next((e for e in given_up if isinstance(e, Token) and e.type == "DEF"), None)
        if definition is None:
            return None
        # Of `def fx: …` the name may be `f`, which a function around it uses.
        self.scope.missing += self.text.startswith(":", definition.end)
        try:
            opened = self.actions.definitions.do_def_open(definition.span, definition, None)
        except Rejected:
            return None
        return Entry(opened, *definition.span)

    def is_whole(self, given_up: list[Entry]) -> bool:
        """Whether a statement is one of a module, a definition, a variable whose annotation may go
        on in the next line, or one of a PrimFunc with a head that Python reads.
        """
        if self.scope.frame.kind == "module" or self.scope.in_head:
            return True
        if self.scope.in_prim_func():
            is_begun = len(given_up) > 1  # an `else` goes on with what is above
            return not (is_begun and is_head_refused(self.text, given_up[0].start))
        kinds = [e.type if isinstance(e, Token) else "" for e in given_up]
        is_variable = kinds[:2] == ["NAME", "COLON"] and not iskeyword(given_up[0].value)
        return is_variable or not {"DEF", "CLASS"}.isdisjoint(kinds)

    def skipped(self, given_up: list[Entry], stack: list[Entry], start: int, end: int) -> Any:
        """The replacement of an abandoned statement: its variable, so that later uses are known."""
        depth = 1
        for entry in reversed(stack):
            if isinstance(entry.value, Open):
                depth = entry.value.depth
                break
        self.excuse((start, end))
        if self.scope.in_head and given_up:
            self._rest_of_head(given_up[-1].end, end)
        self.scope.in_head = False
        opened = next((e.value for e in given_up if isinstance(e.value, Open)), None)
        self.scope.close_to(depth)
        if opened is not None and isinstance(opened.value, tuple):
            self._lost_function(opened.value[0], (start, end))
        return self.actions.statements.reader.lost(given_up, (start, end))

    def _rest_of_head(self, start: int, end: int) -> None:
        """Read the annotations behind a mistake in a signature for the mistakes in them."""
        depth, read_annotation = 1, self.actions.action("info")
        for found in self._lexer(start, end, layout=False):
            depth += OPENING.get(found.type, 0)
            if (not depth and found.type == "COLON") or found.type in HEADS:
                break
            if found.type == "INFO":
                try:
                    read_annotation(found.span, found)
                except Rejected as error:
                    self.rejected(error)

    def undeclared(self, type_vars: Sequence[str], in_python: bool) -> Iterator[Diagnostic]:
        """Report data types without quotes, and, in a definition without other errors, undeclared
        dimensions and quoted dimensions in bodies.

        A cast binds only declared variables. A signature declares its names implicitly, but not in
        a text with explicit declarations.
        """
        wrong = {
            self.reports.function_around(d.span) for d in self.reports.diagnostics if d.is_error
        }
        if not is_prototype(self.text):
            yield from self._unquoted(type_vars)
        if None in wrong:
            return
        for found in self._undeclared(type_vars, in_python):
            if self.reports.function_around(found.span) not in wrong:
                yield found

    def _undeclared(self, type_vars: Sequence[str], in_python: bool) -> Iterator[Diagnostic]:
        coerce = self.context.coerce
        names = {var.name: span for var, span in reversed(coerce.implicit.items())}
        definitions = self.actions.definitions
        dimensions = {*type_vars, *self.scope.declared}
        if type_vars and not in_python:
            declared = definitions.named | dimensions
            for name, span in names.items():
                if name not in declared:
                    yield _undeclared(name, span, f'{name} = TypeVar("{name}")', dimensions)
        if self.context.around is not None and not is_prototype(self.text):
            yield from self._unknown_to_python(self.context.around, type_vars, names)
        for var, span in coerce.cast_to.items():
            if var.name not in {*type_vars, *definitions.type_parameters}:
                yield _undeclared(var.name, span, f"{var.name} = T.int64()", dimensions)
        for span in coerce.quoted:
            words = "only a signature quotes dimensions: a body has them declared"
            help = "write it without quotes"
            yield Diagnostic("PARSE", "error", words, span, help=help)

    def _unquoted(self, declared: Collection[str]) -> Iterator[Diagnostic]:
        """Report data types that are written as names which nothing binds."""
        around = self.context.around
        for span, name in self.context.coerce.unquoted.items():
            first, written = name.partition(".")[0], f'"{name.rpartition(".")[2]}"'
            if around is None:
                code, words = "PARSE", f"{first!r} is not defined: a data type has quotes"
            elif first not in {*declared, *around.names()} and around.value(first) is ...:
                code, words = "PYTHON-name", f"the name {first!r} is not defined in this file"
            else:
                continue
            help, edit = f"write the data type in quotes: {written}", Edit(span, written)
            yield Diagnostic(code, "error", words, span, help=help, edit=edit)

    def _unknown_to_python(
        self, around: PythonAround, declared: Collection[str], names: Mapping[str, Span]
    ) -> Iterator[Diagnostic]:
        """Report names without quotes in annotations that the Python file does not bind: running it
        ends with a NameError.
        """
        bound = {*declared, *around.names()}
        later = self.context.coerce.postponed
        if later and postpones_annotations(self.text):
            later = {}
        for code, found in ("PYTHON-name", names), ("PYTHON-evaluated", later):
            for name, span in found.items():
                if name not in bound and around.value(name) is ...:
                    words = f"the dimension {name!r} is not defined in this file"
                    help = f'quote it, "{name}", or declare it above: `{name} = TypeVar("{name}")`'
                    yield Diagnostic(code, "error", words, span, help=help)

    def excuse(self, span: Span) -> None:
        """Remove the errors in a statement whose meaning depends on running the surrounding Python
        code.
        """
        around = self.context.around
        if around is None or not self.reports.has_errors_in(span):
            return
        column = span[0] - line_start(self.text, span[0])
        from rlx.grammar.read.literals import needs_python
        from rlx.grammar.read.python_syntax import refused_by_tvm

        def gives(name: str) -> bool:
            return name not in self.scope.names and around.gives(name)

        def is_value(name: str) -> bool:
            return name == "R" or isinstance(self.scope.names.get(name), ast.Expr)

        if needs_python(" " * column + self.context.text_of(span), gives):
            self.reports.take_back(span)
            around.used.setdefault("", span)
            if self.scope.in_prim_func():
                return
            refused = refused_by_tvm(self.text, span, is_value, self.scope.shapes)
            if refused is not None:
                words, help, where = refused
                self.reports.error(words, where, help)

    def _lost_function(self, signature: Any, span: Span) -> None:
        if not isinstance(signature, Signature):
            return
        name = signature.name
        if signature.kind == "prim_func" and not self.reports.has_errors_in(span):
            words = f"the signature of the PrimFunc {name!r} cannot be read"
            self.reports.error(words, signature.name_span)
        if signature.var is not None:
            self.scope.bind(name, ast.ErrorExpr(False, signature.name_span))


_GOES_ON = re.compile(r"[ \t]*(?:else|elif|except|finally)\b")
_FLAG = re.compile(r"\b(?:pure|False)\b")
_DECORATOR = re.compile(r"@[ \t]*((?:R|T|I)\.\w+)")
_BEHIND_ANNOTATION = {
    ":": re.compile(r"(?<=[)\]])\s*(?:,\s*\w+\s*:|,?\s*\)\s*(?:->|:)|=)"),
    ">": re.compile(r"(?<=[)\]])\s*:"),
}
"""The text behind an annotation whose brackets are all there, by the sign in front of it."""


def _are_variables(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, ast.Var | tir.Var) for each in value)


def _undeclared(name: str, span: Span, declaration: str, known: Iterable[str]) -> Diagnostic:
    help = (
        did_you_mean(closest_names(name, {*known} - {name})) or f"declare it above: `{declaration}`"
    )
    words = f"the dimension {name!r} is not declared"
    return Diagnostic("PARSE", "error", words, span, help=help)
