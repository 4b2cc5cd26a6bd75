"""Text to syntax tree: :func:`parse` for whole texts, ``parse_…`` for pieces.

Reading never evaluates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rlx.grammar import ast, tir
from rlx.grammar.coerce import Coerce
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.entries import Entry
from rlx.grammar.scope import Scope
from rlx.grammar.stretch_reader import StretchReader
from rlx.grammar.text_reader import Parsed, TextReader
from rlx.grammar.visit import recursion_room

T = TypeVar("T")

__all__ = ["ParseError", "Parsed", "parse", "parse_expr", "parse_prim_expr", "parse_struct_info"]


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


def parse(text: str, path: str = "<text>") -> Parsed:
    """Read a Relax text, or the decorated classes and functions of a Python file.

    Errors are in the result, never raised; what could be read besides them is there too. In a file
    named ``*.py`` other code is passed over.
    """
    with recursion_room():
        # A byte-order mark is no part of the text; a space keeps the offsets.
        return TextReader(" " + text[1:] if text.startswith("\ufeff") else text, path).read()


def parse_expr(text: str) -> ast.Expr:
    """Read one Relax expression.

    Raises
    ------
    ParseError
        If it is none.
    """
    return _piece(text, Scope(), Coerce.expr)


def parse_struct_info(text: str, scope: dict[str, tir.Var] | None = None) -> ast.StructInfo:
    """Read one annotation; its free dimension names become shape variables, equal names the same
    one.

    Parameters
    ----------
    scope
        Shape variables by name; those that the text adds are put into it.

    Raises
    ------
    ParseError
        If it is none.
    """
    return _with_names(text, scope, Coerce.info)


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
    return _with_names(text, scope, Coerce.prim)


def _with_names(
    text: str, scope: dict[str, tir.Var] | None, make: Callable[[Coerce, Entry], T]
) -> T:
    """What a text is in which shape variables have names; those that it adds are put to them."""
    names = Scope()
    names.shapes.update(scope or {})
    found = _piece(text, names, make)
    if scope is not None:
        scope.update(names.shapes)
    return found


def _piece(text: str, names: Scope, make: Callable[[Coerce, Entry], T]) -> T:
    """What a text is that holds one expression."""
    reader = StretchReader(text, names)
    with recursion_room():
        entry = reader.read_expression(0, len(text)) or Entry(None, 0, len(text))
    found = reader.finish(lambda: make(reader.context.coerce, entry))
    if found is None:
        raise ParseError(tuple(reader.reports.diagnostics))
    return found
