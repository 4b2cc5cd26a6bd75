"""What stands around the definitions of a text: imports, declarations, names of the Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rlx.grammar.diagnostic import Diagnostic, Edit
from rlx.grammar.dialects import TIR_MODULES
from rlx.grammar.node import Span
from rlx.grammar.outline import logical_lines
from rlx.grammar.suggest import closest, did_you_mean

if TYPE_CHECKING:
    from ast import AST, expr
from typing import Any

from rlx.grammar import partial_nodes
from rlx.grammar.entries import Entry
from rlx.grammar.partial_nodes import Captured, CapturedName, KnownInteger, Name
from rlx.grammar.reports import ReadContext

DECLARED = re.compile(r"([A-Za-z_]\w*)[ \t]*=[ \t]*TypeVar\([ \t]*([\"'])([A-Za-z_]\w*)\2[ \t]*\)")
_PLAIN = re.compile(
    r"from[ \t]+[\w.]+[ \t]+import[ \t]+"
    r"(?:\*|\w+(?:[ \t]+as[ \t]+\w+)?(?:,[ \t]*\w+(?:[ \t]+as[ \t]+\w+)?)*)"
    r"|import[ \t]+[\w.]+(?:[ \t]+as[ \t]+\w+)?"
)


_SCRIPT = re.compile(r"^[ \t]*from[ \t]+tvm\.script[ \t]+import[ \t]+(\w+)", re.MULTILINE)
_LANGUAGES = ("ir", "relax", *TIR_MODULES)
_EXPORTED = frozenset(
    [*_LANGUAGES, "ir_module", "parse", "parser", "printer", "from_source", "tile", "ty"]
)


def imports(text: str) -> Iterator[Diagnostic]:
    """Languages of TVMScript that are imported under a misspelt name."""
    for found in _SCRIPT.finditer(text):
        meant = [] if found[1] in _EXPORTED else closest(found[1], _LANGUAGES)
        if meant:
            words = f"tvm.script has no {found[1]!r}"
            yield Diagnostic("PARSE", "error", words, found.span(1), help=did_you_mean(meant))


def stretches(text: str, definitions: Sequence[Span], hidden: Span | None) -> list[Span]:
    """The stretches of whole lines between the definitions that hold something;
    what is hidden counts as nothing.
    """
    found: list[Span] = []
    at = 0
    for start, end in [
        *sorted([*definitions, *([] if hidden is None else [hidden])]),
        (len(text),) * 2,
    ]:
        stop = text.rfind("\n", 0, start) + 1 if start < len(text) else start
        if text[at:stop].strip():
            found.append((at, stop))
        at = max(at, text.find("\n", end) + 1 or len(text)) if text[end - 1 : end] != "\n" else end
    return found


def declarations(text: str, span: Span) -> Iterator[str | Diagnostic]:
    """The names that a stretch between definitions declares as shape variables,
    and what is wrong with it.
    """
    lines = list(_lines(text, span))
    if all(_is_plain(line) and text[start - 1 : start] in ("", "\n") for start, line in lines):
        for start, line in lines:
            declared = DECLARED.fullmatch(line)
            if declared is not None:
                yield from _declared(declared[1], declared[3], (start, start + len(line)))
        return
    yield from _as_python(text, span)


def _lines(text: str, span: Span) -> Iterator[tuple[int, str]]:
    piece = text[slice(*span)]
    for start, end in logical_lines(piece):
        yield span[0] + start, piece[start:end].partition("#")[0].rstrip()


def _is_plain(line: str) -> bool:
    return _PLAIN.fullmatch(line) is not None or DECLARED.fullmatch(line) is not None


def _declared(name: str, given: str, span: Span) -> Iterator[str | Diagnostic]:
    yield name
    if given != name:
        yield Diagnostic(
            "PARSE",
            "error",
            f"the TypeVar {name!r} is declared with another name, {given!r}",
            span,
            help="TVM asks that both are the same",
            edit=Edit(span, f'{name} = TypeVar("{name}")'),
        )


def _as_python(text: str, span: Span) -> Iterator[str | Diagnostic]:
    """Read lines that are written in unusual ways."""
    import ast

    from rlx.grammar.python_syntax import Lines, python_refuses

    refused = python_refuses(text, span, outer=True)
    if refused is not None:
        yield Diagnostic("PARSE", "error", *refused)
        return
    lines = Lines(text, span, outer=True)
    for statement in ast.parse(lines.read).body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name, value in _pairs(target, statement.value):
                    if any(map(_is_type_var, ast.walk(value))):
                        start = lines.offset(value.lineno, value.col_offset)
                        end = lines.offset(value.end_lineno or 1, (value.end_col_offset or 1) - 1)
                        yield from _called(name, value, (start, end + 1))


def _pairs(target: expr, value: expr) -> Iterator[tuple[str, expr]]:
    import ast

    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
            for inner, given in zip(names, values, strict=True):
                yield from _pairs(inner, given)


def _is_type_var(value: AST) -> bool:
    import ast

    match value:
        case ast.Call(func=ast.Name(id="TypeVar") | ast.Attribute(attr="TypeVar")):
            return True
    return False


def _called(name: str, value: AST, span: Span) -> Iterator[str | Diagnostic]:
    import ast

    yield name
    match value if _is_type_var(value) else None:
        case (
            ast.Call(args=[ast.Constant(value=str(given))], keywords=[])
            | ast.Call(
                args=[], keywords=[ast.keyword(arg="name", value=ast.Constant(value=str(given)))]
            )
        ):
            if given == name:
                return
    words = f"the shape variable {name!r} is declared by TypeVar with its name alone"
    yield Diagnostic("PARSE", "error", words, span, help=f'write `{name} = TypeVar("{name}")`')


class NamesAround:
    """The meaning of names outside of the program."""

    def __init__(self, context: ReadContext) -> None:
        self.context = context
        self.scope = context.scope

    def value(self, text: str, span: Span) -> Any:
        """A name that the program does not bind."""
        around = self.context.around
        if around is None or text in self.scope.modules:
            return Name(text)
        value = around.value(text)
        if value is ...:
            return Name(text)
        if isinstance(value, Captured):
            return self.captured(text, text, span)
        return _as_written(value, *span)

    def captured(self, name: str, text: str, span: Span) -> CapturedName:
        """An expression with a name at its head to which the Python around gives a value."""
        around = self.context.around
        assert around is not None
        if not self.scope.in_prim_func() and self.scope.frame.kind != "module":
            around.used.setdefault(name, span)
        return CapturedName(text)

    def holds(self, word: str) -> bool:
        """Whether Python around binds the word at the head of a dotted name,
        for a place outside of PrimFuncs.
        """
        around = self.context.around
        return (
            around is not None
            and word not in ("R", "T", "I")
            and word not in self.scope.modules
            and not self.scope.in_prim_func()
            and self.scope.look_up(word) is None
            and around.holds(word)
        )

    def part_of(self, owner: Entry, part: str) -> CapturedName | None:
        """An attribute or a call of a captured value, which is captured as well."""
        value = owner.value
        return CapturedName(f"{value.text}.{part}") if isinstance(value, CapturedName) else None

    def means_nothing(self, name: str) -> bool:
        """Whether neither the program nor what may stand around it gives a name a meaning."""
        inside = self.scope.in_prim_func() or self.scope.look_up(name) is not None
        return self.context.around is None and not inside

    def unknown_module(self, word: str, start: int) -> None:
        """Report, once, what is no name of the module in front of a name that the module has."""
        known = sorted(self.scope.modules - {"self", "Module"})
        help = did_you_mean(closest(word, known) or known[:1])
        span = (start, start + len(word))
        self.context.reports.error(f"{word!r} is not defined", span, help)
        self.scope.modules.add(word)


class ExpressionActions:
    """Base of actions of expressions: what they work with."""

    def __init__(self, context: ReadContext, around: NamesAround) -> None:
        self.context = context
        self.scope = context.scope
        self.coerce = context.coerce
        self.around = around


def _as_written(value: object, start: int, end: int) -> Any:
    """A constant as if it were written where its name stands."""
    if isinstance(value, tuple):
        return partial_nodes.Sequence(
            [Entry(_as_written(item, start, end), start, end) for item in value], "("
        )
    return KnownInteger(value) if type(value) is int else value
