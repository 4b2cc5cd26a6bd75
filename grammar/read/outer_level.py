"""Imports and declarations between the definitions of a text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from rlx.grammar.diagnostic import Diagnostic, Edit
from rlx.grammar.dialects import TIR_MODULES
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.lexer import words_of
from rlx.grammar.read.outline import logical_lines
from rlx.grammar.suggest import closest, did_you_mean

if TYPE_CHECKING:
    from ast import AST, expr, stmt


_LANGUAGES = ("ir", "relax", *TIR_MODULES)
_EXPORTED = frozenset(
    [*_LANGUAGES, "ir_module", "parse", "parser", "printer", "from_source", "tile", "ty"]
)


def imports(text: str) -> Iterator[Diagnostic]:
    """Misspelt imports of TVMScript's languages."""
    for span in logical_lines(text):
        words = list(islice(words_of(text, span), 4)) if text.startswith("from", span[0]) else []
        if [word.value for word in words[:3]] != ["from", "tvm.script", "import"]:
            continue
        for name in words[3:]:
            meant = [] if name.value in _EXPORTED else closest(name.value, _LANGUAGES)
            if meant and name.type == "NAME":
                said = f"tvm.script has no {name.value!r}"
                yield Diagnostic("PARSE", "error", said, name.span, help=did_you_mean(meant))


def declarations(text: str, span: Span) -> Iterator[str | Diagnostic]:
    """The shape variables that a stretch between definitions declares, and its errors."""
    if next(logical_lines(text[slice(*span)]), None) is None:
        return  # comments

    import ast

    from rlx.grammar.read.python_syntax import Lines, python_refuses, tree_of

    refused = python_refuses(text, span, outer=True)
    if refused is not None:
        yield Diagnostic("PARSE", "error", *refused)
        return
    lines = Lines(text, span, outer=True)
    try:
        tree = tree_of(lines.read)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        yield _too_deep(text, span)
        return
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if _is_unpacked(target, statement.value):
                    words = "each shape variable needs a TypeVar of its own"
                    said = 'write `n, m = TypeVar("n"), TypeVar("m")`'
                    yield Diagnostic("PARSE", "error", words, lines.span(statement), help=said)
                for name, value in _pairs(target, statement.value):
                    if any(map(_is_type_var, ast.walk(value))):
                        alone = isinstance(target, ast.Name) and len(statement.targets) == 1
                        whole = lines.span(statement) if alone else None
                        yield from _called(name, value, lines.span(value), whole)


def _too_deep(text: str, span: Span) -> Diagnostic:
    """The error at the first line that is nested deeper than Python's parser follows."""
    from rlx.grammar.read.python_syntax import is_too_deep

    stretch = text[slice(*span)]
    starts = [start for start, end in logical_lines(stretch) if is_too_deep(stretch[start:end])]
    at = span[0] + min(starts, default=0)
    said = "this is nested deeper than Python reads; what is declared beside it is not known"
    return Diagnostic("PARSE", "error", said, (at, at + 1))


def _pairs(target: expr, value: expr) -> Iterator[tuple[str, expr]]:
    import ast

    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
            for inner, given in zip(names, values, strict=True):
                yield from _pairs(inner, given)


def _is_unpacked(target: expr, value: expr) -> bool:
    """Whether several names share a TypeVar, or there are more or fewer TypeVars than names."""
    import ast

    match target, value:
        case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
            return any(map(_is_unpacked, names, values))
        case ast.Tuple(), _:
            return any(map(_is_type_var, ast.walk(value)))
    return False


def declares(statement: stmt) -> bool:
    """Whether a statement declares shape variables, each by its own name."""
    import ast

    if not isinstance(statement, ast.Assign):
        return False
    value = statement.value
    values = value.elts if isinstance(value, ast.Tuple) else [value]
    return all(_given_name(each) is not None for each in values)


def _given_name(value: AST) -> str | None:
    """The name that a `TypeVar` is called with, if it is called with a name alone."""
    import ast

    match value if _is_type_var(value) else None:
        case (
            ast.Call(args=[ast.Constant(value=str(given))], keywords=[])
            | ast.Call(
                args=[], keywords=[ast.keyword(arg="name", value=ast.Constant(value=str(given)))]
            )
        ):
            return given
    return None


def _is_type_var(value: AST) -> bool:
    import ast

    called = value.func if isinstance(value, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)
    return name == "TypeVar"


def _called(
    name: str, value: AST, span: Span, statement: Span | None
) -> Iterator[str | Diagnostic]:
    """The name that a declaration gives, and what is wrong with it; ``statement`` is where it
    stands, if it declares nothing else.
    """
    yield name
    given = _given_name(value)
    if given == name:
        return
    right = f'{name} = TypeVar("{name}")'
    if given is None or not given.isidentifier() or statement is None:
        words = f"TypeVar takes only the name of the shape variable {name!r}"
        yield Diagnostic("PARSE", "error", words, span, help=f"write `{right}`")
        return
    yield Diagnostic(
        "PARSE",
        "error",
        f"the TypeVar {name!r} is declared with a different name, {given!r}",
        statement,
        help="TVM requires the same name on both sides",
        edit=Edit(statement, right),
    )
