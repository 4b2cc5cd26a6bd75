"""Each binding in both views: its struct info, and its type and shape by the rules of 2022."""

from __future__ import annotations

from collections.abc import Iterator

from rlx.checker.check import check_modules
from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import StructInfo, Var
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.visit import bindings, expressions
from rlx.grammar.print.pieces import struct_info_printer
from rlx.grammar.print.show import spelled
from rlx.grammar.read.parser import parse
from rlx.grammar.stack import recursion_room
from rlx.grammar.streams import visible
from rlx.old.annotations import has_older_words
from rlx.old.functions import derive
from rlx.old.shape_exprs import text as shape_text


class BindingViews(Record):
    """A parameter or a bound variable, in both views.

    Attributes
    ----------
    name, line, column
        What is bound, and where; line and column from 1.
    struct_info
        What today's rules know of it, as text.
    checked_type, shape
        Its ``checked_type_`` and its ``shape_`` as texts; None where 2022 has no word for it.
    """

    name: str
    line: int
    column: int
    struct_info: str
    checked_type: str | None
    shape: str | None


class Views(Record):
    """The bindings of a text in the order of their places, and what today's check found."""

    source: Source
    bindings: tuple[BindingViews, ...]
    diagnostics: tuple[Diagnostic, ...]


def views(text: str, path: str = "<text>") -> Views:
    """Check a text by both specifications, and say what each knows of every binding."""
    parsed = parse(text, path)
    olds = [derive(module, parsed.captured) for module in parsed.modules]
    report = check_modules(parsed.modules, parsed.source, parsed.diagnostics, parsed.captured)
    found: list[BindingViews] = []
    full = struct_info_printer()
    with recursion_room():
        for module, old in zip(parsed.modules, olds, strict=True):
            for var in _bound(module):
                info = report.info.get(var)
                if var.span is None or info is None:
                    continue
                line, column = parsed.source.position(var.span[0])
                said = _is_said(info) and var in old.types
                type = str(old.type(var)) if said else None
                shape = shape_text(old.shape(var)) if said else None
                today = spelled(info, full)
                found.append(BindingViews(var.name_hint, line, column, today, type, shape))
    found.sort(key=lambda each: (each.line, each.column))
    return Views(parsed.source, tuple(found), report.diagnostics)


def _bound(module: ast.IRModule) -> Iterator[Var]:
    for function in module.relax_functions.values():
        yield from _in(function)


def _in(function: ast.Function) -> Iterator[Var]:
    for expr in expressions(function):
        if isinstance(expr, ast.Function):
            yield from expr.params
    for binding in bindings(function.body):
        var = getattr(binding, "var", None)
        if var is not None and var.name_hint != "_":
            yield var


def _is_said(info: StructInfo) -> bool:
    """Whether types of 2022 have a word for the kind of a value."""
    return isinstance(info, (ast.ShapeStructInfo, ast.FuncStructInfo)) or has_older_words(
        info, lambda code, message: None
    )


def rendered(found: Views) -> str:
    """The source, with its bindings below their lines."""
    lines = found.source.text.removesuffix("\n").split("\n")
    width = len(str(len(lines)))
    by_line: dict[int, list[BindingViews]] = {}
    for each in found.bindings:
        by_line.setdefault(each.line, []).append(each)
    shown = [f"--> {visible(found.source.path)}"]
    for number, line in enumerate(lines, 1):
        shown.append(f"{number:>{width}} | {line}".rstrip())
        for each in by_line.get(number, ()):
            margin = f"{'':>{width}} = {visible(each.name)}: "
            shown.append(margin + visible(each.struct_info))
            shown.append(f"{'':>{len(margin)}}{visible(_older(each))}")
    return "\n".join(shown) + "\n"


def _older(each: BindingViews) -> str:
    if each.checked_type is None:
        return "not expressible in 2022"
    return f"checked_type_ {each.checked_type}, shape_ {each.shape}"


def as_json(found: Views) -> dict[str, object]:
    """The bindings of a file as JSON has them."""
    keys = ("name", "line", "column", "struct_info", "checked_type", "shape")
    rows = [{key: getattr(each, key) for key in keys} for each in found.bindings]
    return {"path": found.source.path, "bindings": rows}
