"""Edits that mend what a diagnostic reports: one small function for each code.

An edit is a proposal. `relax-check --fix` keeps it only if the mended program checks better: see :mod:`rlx.checker.fixing`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rlx.grammar import ast
from rlx.grammar.ast import IRModule
from rlx.grammar.diagnostic import Diagnostic, Edit, Source
from rlx.grammar.node import Record, Span, replace
from rlx.grammar.suggest import meant


class Place(Record):
    """What an edit is made from."""

    diagnostic: Diagnostic
    span: Span
    source: Source
    modules: Sequence[IRModule]

    @property
    def text(self) -> str:
        """The text that the diagnostic points at."""
        return self.source.text[slice(*self.span)]


Make = Callable[[Place], Edit | None]
EDITS: dict[str, Make] = {}
"""What mends the diagnostics of a code."""


def mends(*codes: str) -> Callable[[Make], Make]:
    """Register what mends these codes."""

    def register(make: Make) -> Make:
        EDITS.update(dict.fromkeys(codes, make))
        return make

    return register


def with_edits(
    diagnostics: Sequence[Diagnostic], source: Source, modules: Sequence[IRModule]
) -> list[Diagnostic]:
    """The diagnostics, each with an edit where there is a way to mend it."""
    return [_with_edit(found, source, modules) for found in diagnostics]


def _with_edit(found: Diagnostic, source: Source, modules: Sequence[IRModule]) -> Diagnostic:
    if found.edit is not None or found.span is None or found.span[1] > len(source.text):
        return found
    place = Place(found, found.span, source, modules)
    edit = suggested_word(place)
    if edit is None and found.code in EDITS:
        edit = EDITS[found.code](place)
    return found if edit is None else replace(found, edit=edit)


_WORD = re.compile(r"[\w.]+")
_QUOTED = re.compile(r"""(?P<quote>['"])[\w.]*(?P=quote)""")


def suggested_word(place: Place) -> Edit | None:
    """The word that the help suggests, in place of the one that is not known."""
    word = meant(place.diagnostic.help)
    if word is None:
        return None
    if _WORD.fullmatch(place.text):
        prefix, dot, _ = place.text.rpartition(".")
        _, _, rest = word.partition(".")
        if dot and not rest:  # the help names the last word alone
            word = f"{prefix}.{word}"
        elif dot and not word.startswith("@"):  # as the text calls that module
            word = f"{place.text.partition('.')[0]}.{rest}"
        return Edit(place.span, word.removeprefix("@"))
    quoted = _QUOTED.fullmatch(place.text)
    if quoted is not None:
        return Edit(place.span, f"{quoted['quote']}{word}{quoted['quote']}")
    return None


@mends("D14-impure")
def declare_impure(place: Place) -> Edit | None:
    """A function that has effects says so: ``@R.function(pure=False)``."""
    if not (place.diagnostic.help or "").startswith("declare the function impure"):
        return None
    head = _decorator(place.source.text, place.span[0])
    return None if head is None else _with_argument(place.source.text, head, "pure=False")


@mends("WF12-entry")
def let_it_be_entered(place: Place) -> Edit | None:
    """The function can be called from outside: without ``private=True``."""
    text = place.source.text
    head = _decorator(text, place.span[0])
    if head is None:
        return None
    private = re.compile(r",?\s*private\s*=\s*True").search(text, *head)
    if private is None:
        return None
    left = text[head[0] : private.start()] + text[private.end() : head[1]]
    return Edit(head, left.replace("(, ", "(").removesuffix("()"))


@mends("WF13-name")
def name_the_symbol(place: Place) -> Edit | None:
    """The global symbol becomes the function's name."""
    for module in place.modules:
        for name, function in module.functions.items():
            if function.name_span == place.span:
                symbol = re.escape(str(function.attrs.get("global_symbol")))
                written = re.compile(rf"""global_symbol(['"])\s*:\s*(['"])(?P<symbol>{symbol})\2""")
                found = written.search(place.source.text, place.span[1])
                return None if found is None else Edit(found.span("symbol"), name.name_hint)
    return None


@mends("WF01-escape")
def put_it_out(place: Place) -> Edit | None:
    """A variable that is used behind its dataflow block is one of the block's outputs."""
    name = place.text
    bound = place.diagnostic.related[0].span if place.diagnostic.related else None
    if bound is None or not name.isidentifier():
        return None
    text = place.source.text
    output = re.compile(r"^[ \t]*R\.output\((?P<names>[^)]*)\)", re.MULTILINE).search(
        text, bound[1], place.span[0]
    )
    if output is not None:
        at, names = output.end("names"), output["names"].strip()
        return Edit((at, at), f", {name}" if names else name)
    return _last_in_block(text, bound[0], f"R.output({name})")


@mends("WF08-annotation")
def annotate_result(place: Place) -> Edit | None:
    """A recursive function says what it returns."""
    for module in place.modules:
        for function in module.functions.values():
            if isinstance(function, ast.Function) and function.name_span == place.span:
                return _annotation(place.source.text, function)
    return None


def _annotation(text: str, function: ast.Function) -> Edit | None:
    """The annotation of the first parameter: what recursive functions mostly return. The check decides."""
    span = function.params[0].annotation_span if function.params else None
    colon = _end_of_signature(text, (function.name_span or (0, 0))[1])
    if span is None or colon is None:
        return None
    return Edit((colon, colon), f" -> {text[slice(*span)]}")


@mends("D15-result")
def cast_the_result(place: Place) -> Edit | None:
    """A result that is possibly wrong is checked when the function runs."""
    if place.diagnostic.severity != "warning" or not place.text.isidentifier():
        return None
    text = place.source.text
    line = text.rfind("\n", 0, place.span[0]) + 1
    head = re.compile(r"[ \t]*return[ \t]+").match(text, line, place.span[0])
    annotation = _result_annotation(place)
    if head is None or head.end() != place.span[0] or annotation is None:
        return None
    indent = text[line : line + len(head[0]) - len(head[0].lstrip())]
    name = f"{place.text}_checked"
    cast = f"{indent}{name} = R.match_cast({place.text}, {annotation})\n"
    return Edit((line, place.span[1]), f"{cast}{head[0]}{name}")


def _result_annotation(place: Place) -> str | None:
    """The text of the result's annotation of the function around a place."""
    for module in place.modules:
        for function in module.functions.values():
            spans = (function.span, getattr(function, "ret_span", None))
            if None in spans or not isinstance(function, ast.Function):
                continue
            whole, annotation = spans
            assert whole is not None and annotation is not None
            if whole[0] <= place.span[0] < whole[1]:
                return place.source.text[slice(*annotation)]
    return None


def _decorator(text: str, at: int) -> Span | None:
    """The decorator of the Relax function around a place: the nearest above it."""
    found = None
    for match in re.compile(
        r"^[ \t]*(?P<head>@\w+\.function\b(?:\([^()\n]*\))?)", re.MULTILINE
    ).finditer(text, 0, at):
        found = match.span("head")
    return found


def _with_argument(text: str, head: Span, argument: str) -> Edit | None:
    """A decorator with one more keyword."""
    shown = text[slice(*head)]
    name = argument.partition("=")[0]
    if re.search(rf"\b{name}\s*=", shown):
        return None
    if not shown.endswith(")"):
        return Edit((head[1], head[1]), f"({argument})")
    empty = shown.endswith("()")
    return Edit((head[1] - 1, head[1] - 1), argument if empty else f", {argument}")


def _last_in_block(text: str, inside: int, line: str) -> Edit | None:
    """A line behind the last one of the block that a place is in."""
    start = text.rfind("\n", 0, inside) + 1
    indent = re.compile(r"[ \t]*").match(text, start)
    assert indent is not None
    end = start
    for found in re.compile(r"^([ \t]*)\S.*\n?", re.MULTILINE).finditer(text, start):
        if not found[1].startswith(indent[0]):
            break
        end = found.end()
    newline = "" if text[:end].endswith("\n") else "\n"
    return Edit((end, end), f"{newline}{indent[0]}{line}\n")


def _end_of_signature(text: str, at: int) -> int | None:
    """Where the colon of a ``def`` without a result's annotation stands."""
    depth = 0
    for k in range(at, len(text)):
        if text[k] in "([{":
            depth += 1
        elif text[k] in ")]}":
            depth -= 1
        elif text[k] == ":" and depth == 0:
            return k
    return None
