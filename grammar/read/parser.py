"""The parser: :func:`parse` for whole texts, ``parse_…`` for pieces.

Parsing never evaluates code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.lines import a_text, line_end, line_start
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node, Record, Span, replace
from rlx.grammar.read.coerce import Coerce
from rlx.grammar.read.entries import Entry
from rlx.grammar.read.function_bodies import add_function, with_errors
from rlx.grammar.read.lexer import MEMBER
from rlx.grammar.read.outline import (
    HEAD,
    class_at,
    declared_names,
    definition_end,
    long_lines,
    metadata_span,
    metadata_statement,
    methods,
    outline,
    regions,
    stretches,
    without_weights,
)
from rlx.grammar.read.partial_nodes import Defined
from rlx.grammar.read.reports import MAX_ERRORS, Metadata
from rlx.grammar.read.scope import Scope
from rlx.grammar.read.source_tokens import words_in
from rlx.grammar.read.stretch_reader import StretchReader
from rlx.grammar.stack import recursion_room, roomy

if TYPE_CHECKING:
    from rlx.grammar.read.surroundings import Surroundings


class Parsed(Record):
    """The result of parsing a text.

    Attributes
    ----------
    modules
        The modules, in the order of the text. Functions without a class form one ``bare`` module.
    diagnostics
        Syntax errors (code ``PARSE``) and notes, in the order of the text.
    source
        The text, to convert spans to lines.
    captured
        Variables, shape variables and annotations whose values the surrounding Python code gives.
    """

    modules: tuple[ast.IRModule, ...]
    diagnostics: tuple[Diagnostic, ...]
    source: Source
    captured: frozenset[Node] = frozenset()


class TextReader:
    """Parses one text."""

    def __init__(self, text: str, path: str, metadata: Metadata | None) -> None:
        self.text = text
        self.path = path
        self.source = Source(text, path)
        self.python = path.endswith(".py")
        self.diagnostics: list[Diagnostic] = []
        self.modules: list[ast.IRModule] = []
        self.bare: dict[int, list[Defined]] = {}
        self.bare_scopes: dict[int, Scope] = {}
        self.around = _around(text) if self.python else None
        self.captured: set[Node] = set()
        self.known, self.metadata = metadata is not None, metadata or {}
        self.type_vars: list[str] = []
        self.undeclared: list[Diagnostic] = []
        self.lost_classes: set[str] = set()

    def read(self) -> Parsed:
        """Parse the whole text."""
        for start, end in long_lines(self.text):
            words = f"this line of {end - start} characters is too long to be read"
            self._error(words, (start, start + 1))
            self.text = self.text[:start] + " " * (end - start) + self.text[end:]
        outside = without_weights(self.text)
        if "pyfunc" in outside:
            from rlx.grammar.read.undecorated import without_python_functions

            self.text = without_python_functions(self.text)
        if not self.known:
            self._read_metadata()
        read, stray = self._regions()
        for group in self.bare.items():
            self._bare_module(*group)
        if self.around is None:
            self._strays(bool(read), stray)
            self._beside(read)
        else:
            self._python(self.around, read)
        if self._declarations_are_read(read) or "TypeVar" not in outside:
            self.diagnostics += self.undeclared[:MAX_ERRORS]
            self._late_errors([found.span for found in self.undeclared])
        if "tvm.script" in outside:
            from rlx.grammar.read.outer_level import imports

            self.diagnostics += imports(self.text)
        self.diagnostics.sort(key=lambda d: d.span or (0, 0))
        modules = sorted(self.modules, key=lambda module: module.span or (0, 0))
        lost = lost_functions(self.text, self.diagnostics)
        if lost:
            modules = [replace(module, lost=lost) for module in modules]
        return Parsed(
            tuple(modules), tuple(self.diagnostics), self.source, frozenset(self.captured)
        )

    def _regions(self) -> tuple[list[Span], list[Span]]:
        """Read what stands at the outer level;
        where definitions are, and lines that have no place there.
        """
        stray: list[Span] = []
        read: list[Span] = []
        items = regions(self.text, self.around.canonical if self.around is not None else None)
        resume: int | None = None
        while True:
            try:
                kind, start, end = items.send(resume) if resume is not None else next(items)
            except StopIteration:
                return read, stray
            resume = None
            if kind == "definition":
                resume = max(self._definition(start), end)
                read.append((start, resume))
            elif kind == "typevar":
                self.type_vars += declared_names(self.text[start:end])
            else:
                stray.append((start, end))
                self._lose_class(start, end)

    def _error(self, message: str, span: Span | None) -> None:
        self.diagnostics.append(Diagnostic("PARSE", "error", message, span))

    def _read_metadata(self) -> None:
        found = metadata_span(self.text)
        if found is not None:
            from rlx.grammar.read.metadata import read_metadata

            read = read_metadata(self.text, found)
            if read is None:
                at = self.text.index("metadata")
                self._error("this metadata is not valid JSON", (at, at + len("metadata")))
            else:
                self.metadata = read

    def _late_errors(self, places: list[Span | None]) -> None:
        """Note in the functions the errors that were found when they had been read."""
        for at, module in enumerate(self.modules) if places else ():
            functions = {gv: with_errors(f, places) for gv, f in module.functions.items()}
            self.modules[at] = replace(module, functions=functions)

    # ------------------------------------------------------------ definitions

    def _definition(self, start: int) -> int:
        """Read the definition that starts at an offset; return where it ends."""
        around = None if self.around is None else self.around.view(start)
        group = 0 if around is None else around.scope.start
        reader = StretchReader(self.text, self._scope(start, group))
        reader.context.metadata = self.metadata
        reader.context.around = around
        try:
            value, end = reader.read_definition(start)
            if value is None:
                end = definition_end(self.text, start)
                if not any(d.is_error for d in reader.reports.diagnostics):
                    reader.reports.error("this definition cannot be read", (start, end))
                reader.excuse((start, end))
            self.undeclared += reader.undeclared(self.type_vars, self.around is not None)
            if any(d.is_error for d in reader.reports.diagnostics):
                behind = _BEHIND_HEAD.search(self.text, start + 1)
                head = len(self.text) if behind is None else behind.start()
                if "ir_module" in self.text[start:head]:
                    self._lose_class(start, head)
        finally:
            self.diagnostics.extend(reader.reports.diagnostics)
            self._captures(reader)
        if isinstance(value, ast.IRModule):
            declared = tuple(self.type_vars)
            self.modules.append(replace(value, type_vars=declared) if declared else value)
        elif isinstance(value, Defined):
            self.bare.setdefault(group, []).append(value)
        return end

    def _lose_class(self, start: int, end: int) -> None:
        """Take the words of a text for the name of a class that was not read, and the empty name
        for one that is missing: those of its functions that are read for themselves use it.
        """
        self.lost_classes.update({*words_in(self.text, (start, end)), ""} - {"R", "T", "I"})

    def _scope(self, start: int, group: int) -> Scope:
        """The names for a definition: its own for a class, those of the group for a function."""
        owner = class_at(self.text, start)
        if owner is not None:
            scope = Scope()
            scope.expect(lambda: methods(self.text, start, owner))
            return scope
        if group not in self.bare_scopes:
            scope = self.bare_scopes[group] = Scope()
            scope.expect(lambda: (f.name for f in outline(self.text, start) if f.owner is None))
        scope = self.bare_scopes[group]
        scope.modules |= self.lost_classes
        return scope

    def _captures(self, reader: StretchReader) -> None:
        """Note what a definition takes from the Python around it."""
        captured = reader.context.coerce.captured
        self.captured |= captured
        around = reader.context.around
        if around is None or not around.used:
            return
        names = [repr(name) for name in around.used if name]
        first = min(around.used.values())
        message = f"names of the surrounding Python, values not known here: {', '.join(names)}"
        if not names:
            message = "this statement depends on the surrounding Python code; it is not read"
        self.diagnostics.append(Diagnostic("PARSE-captured", "note", message, first))

    def _bare_module(self, group: int, items: list[Defined]) -> None:
        """Functions of one scope form a module; in Python a name given again starts another."""
        reader = StretchReader(self.text, self.bare_scopes[group])
        while items:
            functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
            names: set[str] = set()
            taken = 0
            for item in items:
                if self.python and item.name in names:
                    break
                names.add(item.name)
                add_function(reader.context, functions, item)
                taken += 1
            span = (items[0].span[0], items[taken - 1].span[1])
            declared = tuple(self.type_vars)
            self.modules.append(
                ast.IRModule(functions, name="Module", bare=True, type_vars=declared, span=span)
            )
            items = items[taken:]
        self.diagnostics.extend(reader.reports.diagnostics)

    # ------------------------------------------------------------ what is no definition

    def _python(self, around: Surroundings, read: list[Span]) -> None:
        """Report what a Python file lacks: decorators, names, or any Relax."""
        from rlx.grammar.read.python_names import unknown_names
        from rlx.grammar.read.undecorated import missing, nothing, unread

        self.diagnostics += unknown_names(self.text, read, around)
        self.diagnostics += missing(self.text, around.canonical, around.language, read)
        if not read and not self.diagnostics:
            self.diagnostics += unread(self.text, around.language)
        if not read and not self.diagnostics:
            self.diagnostics.append(nothing(self.text))

    def _beside(self, read: list[Span]) -> None:
        """Report errors outside of the definitions, if the definitions have none."""
        if self._has_errors():
            return
        kept = metadata_statement(self.text)
        held = kept.span if kept is not None and kept.callee.endswith("load_json") else None
        between = stretches(self.text, read, held)
        if not between:
            return
        from rlx.grammar.read.outer_level import declarations

        found = (each for span in between for each in declarations(self.text, span))
        self.diagnostics += [each for each in found if isinstance(each, Diagnostic)][:MAX_ERRORS]

    def _declarations_are_read(self, read: list[Span]) -> bool:
        """Whether all errors stand in definitions, so that no declaration beside them is missing."""
        starts = [start for start, _ in read]
        for span in (d.span for d in self.diagnostics if d.is_error):
            before = 0 if span is None else bisect_right(starts, span[0])
            if span is None or before == 0 or span[0] >= read[before - 1][1]:
                return False
        return True

    def _has_errors(self) -> bool:
        return any(d.is_error for d in self.diagnostics)

    def _strays(self, found_any: bool, stray: list[Span]) -> None:
        if self._has_errors():
            # The head of a class that is out of place explains no error but those of its functions.
            heads = (span for span in stray if HEAD.match(self.text, span[0]))
            head = next(heads, None)
            if head is not None and not any(d.span and d.span < head for d in self.diagnostics):
                from rlx.grammar.read.undecorated import misplaced

                self.diagnostics.append(misplaced(self.text, head))
            return
        if found_any and not stray:
            return
        from rlx.grammar.read.pasted_text import pasted

        copied = pasted(self.text)
        if copied is not None:
            self.diagnostics.append(copied)
        elif stray:
            from rlx.grammar.read.undecorated import misplaced

            self.diagnostics.append(misplaced(self.text, stray[0]))
        else:
            self._error(
                "no Relax program: expected a class under @I.ir_module or a function "
                "under @R.function",
                None,
            )


def lost_functions(text: str, found: Iterable[Diagnostic]) -> frozenset[str]:
    """The names of functions that modules may lack because of syntax errors: of all functions of
    the text, and the words in the lines of the errors, one of which may have been a head. The empty
    name stands for any where no head follows a decorator, or where a head has the name of another.
    """
    spans = [each.span for each in found if each.is_error]
    heads = {each.span("name"): each["name"] for each in _DEFINED.finditer(text)} if spans else {}
    names = {*heads.values()}
    for (_, end), name in heads.items():
        if not text.startswith(("(", "["), end):  # it may begin with the name: `def fx: R.Tensor`
            names.update(accumulate(name))
    if not heads.keys().isdisjoint(spans) or (spans and _NO_HEAD.search(text)):
        names.add("")
    for span in spans:
        if span is not None:
            names.update(_WORD.findall(text[line_start(text, span[0]) : line_end(text, span[1])]))
    return frozenset(names)


def _around(text: str) -> Surroundings:
    from rlx.grammar.read.surroundings import Surroundings

    return Surroundings(text)


T = TypeVar("T")
_DEFINED = re.compile(rf"def[ \t]+(?P<name>{MEMBER})")  # begins with a word, which is found fast
_NO_HEAD = re.compile(
    r"^[ \t]*@[RT]\.\w+(?:\([^()\n]*\))?[ \t]*\n"
    rf"(?![ \t]*(?:[@#\n]|class\b|[^\n]*\bdef[ \t]+{MEMBER}[ \t]*[(\[]))",
    re.MULTILINE,
)
"""A decorator of a function without a head that can be read."""
_BEHIND_HEAD = re.compile(r"^[ \t]*(?:@|def\b)", re.MULTILINE)
_WORD = re.compile(r"\w+")
_LONE_RETURN = re.compile(r"\r(?!\n)")


class ParseError(SyntaxError):
    """A text has syntax errors, which are in ``diagnostics``."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        first = diagnostics[0]
        super().__init__(first.message)
        self.diagnostics = diagnostics
        if first.source is not None and first.span is not None:  # where Python says it
            self.filename = first.source.path
            self.lineno, self.offset = first.source.position(first.span[0])
            self.text = first.source.line(self.lineno)


@roomy
def parse(text: str, path: str = "<text>", metadata: Metadata | None = None) -> Parsed:
    """Parse a Relax text, or the decorated classes and functions of a Python file.

    Errors are never raised; the result contains them, together with everything that could be
    parsed. In a file named ``*.py``, other code is skipped.

    Parameters
    ----------
    metadata
        The constants of the text, if they are known; its metadata is not read then.
    """
    text = a_text(text)
    # A byte-order mark is no part of the text; a form feed keeps the offsets. A carriage
    # return alone ends a line, too.
    text = "\f" + text[1:] if text.startswith("\ufeff") else text
    text = _LONE_RETURN.sub("\n", text) if "\r" in text else text
    return TextReader(text, path, metadata).read()


def parse_expr(text: str) -> ast.Expr:
    """Parse one Relax expression.

    Raises
    ------
    ParseError
        If the text has syntax errors.
    """
    return _piece(text, Scope(), Coerce.expr)


def parse_struct_info(text: str, scope: dict[str, tir.Var] | None = None) -> ast.StructInfo:
    """Parse one annotation; its free dimension names become shape variables, and equal names become
    the same variable.

    Parameters
    ----------
    scope
        Shape variables by name; new ones from the text are added.

    Raises
    ------
    ParseError
        If the text has syntax errors.
    """
    return _with_names(text, scope, Coerce.info)


def parse_prim_expr(text: str, scope: dict[str, tir.Var] | None = None) -> tir.PrimExpr:
    """Parse one scalar expression, such as a dimension.

    Parameters
    ----------
    scope
        Variables by name; new ones from the text are added.

    Raises
    ------
    ParseError
        If the text has syntax errors.
    """
    return _with_names(text, scope, Coerce.prim)


def _with_names(
    text: str, scope: dict[str, tir.Var] | None, make: Callable[[Coerce, Entry], T]
) -> T:
    """Read a text in which `scope` maps names to shape variables; names that are new are added to it."""
    names = Scope()
    names.shapes.update(scope or {})
    found = _piece(text, names, make)
    if scope is not None:
        scope.update(names.shapes)
    return found


def _piece(text: str, names: Scope, make: Callable[[Coerce, Entry], T]) -> T:
    """Read a text of one expression."""
    reader = StretchReader(a_text(text), names)
    with recursion_room():
        entry = reader.read_expression(0, len(text)) or Entry(None, 0, len(text))
    found = reader.finish(lambda: make(reader.context.coerce, entry))
    if found is None:
        raise ParseError(tuple(reader.reports.diagnostics))
    return found
