"""Error nodes for an unreadable statement: they bind the names that it would have bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise, takewhile

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Token
from rlx.grammar.read.lexer import KEYWORDS, VALUES
from rlx.grammar.read.python_syntax import names_bound
from rlx.grammar.read.reports import ReadContext
from rlx.grammar.read.scope import Scope
from rlx.grammar.read.source_tokens import (
    IMPORTS,
    binds_nothing,
    closes_too_much,
    end_of_target,
    identifiers_in,
    lacks_its_head,
    statements,
)

_LETTERS = frozenset("RTI")
_BEFORE = frozenset(["HEAD", "LPAR", "LSQB", "COMMA", "TARGET", "EQUAL", "AUGMENTED", "RETURN"])
_BEFORE |= {"ASSERT", "OP", "SIGN", "IF", "ELSE", "NOT"}
_BEHIND = frozenset(["COMMA", "RPAR", "RSQB", "OP", "SIGN", "IF", "ELSE", "FOR"])
"""The signs beside an operand that is a name."""
_NO_OPERANDS = VALUES | {"_"}
_CAST = "match_"
"""A part of the words for what binds shape variables."""


def lose(context: ReadContext, span: Span, is_begun: bool) -> list[ast.Binding]:
    """Bind the names of an unreadable statement, so that their uses are not errors.

    A statement whose name is doubtful may have bound another one, too. Unknown names are used in it
    if it ``is_begun``: the layout in front of it is right.
    """
    scope = context.scope
    read = list(statements(context.text, span))
    is_function = [each.type for part in read[:1] for each in part[:1]] == ["DEF"]
    bound = names_bound(context.text, span)
    names = {name for part in read for name in _targets(part) | _glued(part)} | (bound or set())
    if is_function:  # what else it binds is its own
        names, is_begun = _targets(read[0]), False
    sign = end_of_target(context.text, read[0]) if len(read) == 1 else None
    if len(read) == 1 and binds_nothing(read[0]):
        sign = span[0]
    if bound:
        _tell_comparison(context, read[0], bound, span)
    known = is_function or bound is not None
    if not known and sign is not None:
        known = not context.reports.has_errors_in((span[0], sign - 1))
    if not known:
        scope.missing += 1
    casts = any(_CAST in token.value for statement in read for token in statement)
    for name in identifiers_in(context.text, span) if casts else ():
        if name not in scope.names:
            scope.shape_var(name, span)
    error = ast.ErrorExpr(casts or not known or any(map(lacks_its_head, read)), span)
    found: list[ast.Binding] = [ast.VarBinding(ast.Var("_", None, None, span), error, span, span)]
    for operand in _operands(read[0], context) if known and is_begun else ():
        name, where = operand.value, operand.span
        is_new = (
            where[0] >= (sign or 0) and scope.look_up(name) is None and name not in scope.modules
        )
        if is_new and name not in names and not context.is_around(name):
            unknown = scope.undefined(name, where)
            found.append(ast.VarBinding(ast.Var("_", None, None, where), unknown, where, where))
    return found + bind_lost(scope, names - scope.modules - _LETTERS, error)


def _tell_comparison(
    context: ReadContext, statement: list[Token], bound: set[str], span: Span
) -> None:
    """Say of `y == value` with a new name, where that is an error, that `=` binds."""
    name, *behind = statement
    is_new = bound == {name.value} and context.scope.names.get(name.value) is None
    if is_new and [token.value for token in behind[:1]] == ["=="]:
        context.reports.take_back(span)
        value = context.text_of((behind[0].end, span[1])).strip()
        help = f"write `{name.value} = {value}`" if len(value) < 60 else "write `=`"
        context.reports.error("`==` compares, and binds no name", behind[0].span, help)


def bind_lost(scope: Scope, names: Iterable[str], error: ast.ErrorExpr) -> list[ast.Binding]:
    """Bind names to an error."""
    found: list[ast.Binding] = []
    for name in sorted(names):
        var = ast.Var(name, None, None, error.span)
        scope.lost.add(var)
        scope.bind(name, var)
        found.append(ast.VarBinding(var, error, error.span, error.span))
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


def _operands(statement: list[Token], context: ReadContext) -> Iterator[Token]:
    """The names among the operands of a statement, but those beside a mistake."""
    if closes_too_much(statement):
        return  # the bracket that is missing may stand in the middle of a name
    beside = zip(statement, statement[1:], [*statement[2:], None], strict=False)
    for before, found, after in beside:
        is_operand = before.type in _BEFORE and (after is None or after.type in _BEHIND)
        if not is_operand or found.type != "NAME" or found.value in _NO_OPERANDS:
            continue
        if not context.reports.has_errors_in((before.end, found.end - 1)):
            yield found


def _glued(statement: list[Token]) -> set[str]:
    """The names that are bound further on: in front of a `:` or `=` where the end of a line is
    missing, behind a `for`, and by an import.
    """
    if statement[0].value in IMPORTS:
        return {token.value for token in statement}
    pairs = pairwise(statement[:-1])
    names = {a.value for a, b in pairs if a.type == "NAME" and b.type == "COLON"}
    for at, found in enumerate(statement):
        if found.type == "FOR":
            names.update(t.value for t in takewhile(lambda t: t.type != "IN", statement[at:]))
        elif at and found.type == "TARGET":
            names.add(found.value)
    return names
