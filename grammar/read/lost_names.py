"""Error nodes for an unreadable statement: they bind the names that it would have bound."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Token
from rlx.grammar.read.lexer import KEYWORDS, OPENING, VALUES
from rlx.grammar.read.reports import ReadContext
from rlx.grammar.read.source_tokens import (
    binds_nothing,
    end_of_target,
    identifiers_in,
    lacks_its_head,
    statements,
)

_LETTERS = frozenset("RTI")
_BEFORE = frozenset(["HEAD", "LPAR", "LSQB", "COMMA", "TARGET"])
_BEHIND = frozenset(["COMMA", "RPAR", "RSQB"])
"""The signs beside an operand that is a name."""
_NO_OPERANDS = VALUES | {"_"}
_CAST = "match_"
"""A part of the words for what binds shape variables."""


def lose(context: ReadContext, span: Span) -> list[ast.Binding]:
    """Bind the names of an unreadable statement, so that their uses are not errors.

    A statement whose name is doubtful may have bound another one, too.
    """
    scope = context.scope
    read = list(statements(context.text, span))
    names = {name for part in read for name in _targets(part) | _glued(part)}
    sign = end_of_target(context.text, read[0]) if len(read) == 1 else None
    if len(read) == 1 and binds_nothing(read[0]):
        sign = span[0]
    known = sign is not None and not context.reports.has_errors_in((span[0], sign - 1))
    if not known:
        scope.missing += 1
    casts = any(_CAST in token.value for statement in read for token in statement)
    for name in identifiers_in(context.text, span) if casts else ():
        if name not in scope.names:
            scope.shape_var(name, span)
    error = ast.ErrorExpr(casts or not known or any(map(lacks_its_head, read)), span)
    found: list[ast.Binding] = [ast.VarBinding(ast.Var("_", None, None, span), error, span, span)]
    for operand in _operands(read[0]) if known else ():
        name, where = operand.value, operand.span
        is_new = sign is not None and where[0] >= sign and scope.look_up(name) is None
        if is_new and name not in names and not context.is_around(name):
            unknown = scope.undefined(name, where)
            found.append(ast.VarBinding(ast.Var("_", None, None, where), unknown, where, where))
    for name in sorted(names):
        if name not in scope.modules and name not in _LETTERS:
            var = ast.Var(name, None, None, span)
            scope.lost.add(var)
            scope.bind(name, var)
            found.append(ast.VarBinding(var, error, span, span))
    return found


def _targets(statement: list[Token]) -> set[str]:
    """The names before `=` or `:`; in a damaged statement, the likely ones."""
    words: list[str] = []
    for token in statement:
        match token.type:
            case "NAME" | "DOTTED":
                words += token.value.split(".")
            case "DEF":
                return {token.value.split()[-1]}
            case "TARGET":
                words.append(token.value)
                return {*words, "".join(words)}
            case "COLON" | "EQUAL":
                return {*words, "".join(words)} - {""}
            case "HEAD" | "LPAR" | "INFO":
                break
            case word if token is statement[0] and word in KEYWORDS.values():
                break
    # `y R.exp(x)`: the sign between them is missing, or another stands there
    first, *rest = statement
    return {first.value} if first.type == "NAME" and rest else set()


def _operands(statement: list[Token]) -> Iterator[Token]:
    """The names among the operands of a statement that only lacks a bracket at its end."""
    kinds = [token.type for token in statement]
    opened = sum(OPENING.get(kind, 0) for kind in kinds)
    if opened <= 0 or "FOR" in kinds or "OPAQUE" in kinds:
        return
    for number, token in enumerate(statement):
        before, *after = kinds[max(0, number - 1) : number + 2 : 2]
        beside = before in _BEFORE and (not after or after[0] in _BEHIND)
        if number and token.type == "NAME" and beside and token.value not in _NO_OPERANDS:
            yield token


def _glued(statement: list[Token]) -> set[str]:
    """The names in front of a `:` or `=` further on, where the end of a line is missing."""
    pairs = pairwise(statement)
    names = {a.value for a, b in pairs if a.type == "NAME" and b.type == "COLON"}
    return names | {t.value for t in statement[1:] if t.type == "TARGET"}
