"""Formatting of programs in any dialect.

A text is replaced only if the printed text parses to the same program and keeps every comment.
"""

from __future__ import annotations

from ast import Import, ImportFrom
from ast import parse as parse_python
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlx.grammar.dialects import CONSTANT_KEYS, DEFAULT, dialect
from rlx.grammar.lines import a_text, line_start
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Record, Span, replace
from rlx.grammar.print.layout import WIDTH, lay_out, with_blank_lines
from rlx.grammar.print.translate import InexpressibleError, expressible, with_flags
from rlx.grammar.read.lexer import words_of
from rlx.grammar.read.outer_level import declares
from rlx.grammar.read.outline import logical_lines, metadata_statement
from rlx.grammar.stack import roomy

if TYPE_CHECKING:
    from rlx.grammar.read.entries import Token
    from rlx.grammar.read.parser import Parsed
    from rlx.grammar.read.reports import Metadata
    from rlx.grammar.read.versions import SpellingUse


SAME, CHANGED, FAILED = 0, 1, 2

_UNKEPT = frozenset(["check_well_formed"])
"""Constructs that the syntax tree does not represent, so printing would lose them."""


class Formatted(Record):
    """The result of formatting one text.

    Attributes
    ----------
    text
        The formatted text; None where there is none.
    complaints
        The reasons why it was not formatted, one line each.
    status
        The exit status of the command.
    """

    text: str | None
    complaints: tuple[str, ...] = ()
    status: int = SAME


@roomy
def format_text(
    text: str, path: str = "<text>", version: str = DEFAULT, width: int = WIDTH
) -> Formatted:
    """Format the text of one or several modules.

    Parameters
    ----------
    text
        The source; CRLF and CR are accepted as line ends, and a byte-order mark is dropped.
    path
        The name of the text in messages.
    version
        The dialect to write.
    width
        The columns of a line; longer statements are wrapped where they have brackets or operators.
    """
    try:
        plain = a_text(text).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        aside = _SetAside(plain)
        made = _format(aside.outside, path, version, width, aside.constants)
        return made if made.text is None else replace(made, text=aside.put_back(made.text))
    except RecursionError:
        return nested_too_deeply(path)


class _SetAside:
    """The JSON in a text's metadata. It may be nearly the whole text, so it is read once, and
    empty lines take its place while the text is formatted.

    Attributes
    ----------
    outside
        The text without it, on the same lines.
    constants
        What it says; None if there is none, or it cannot be read.
    """

    def __init__(self, text: str) -> None:
        self.outside = text
        self.constants: Metadata | None = None
        found = metadata_statement(text)
        if found is None or not found.callee.endswith("load_json"):
            return
        from rlx.grammar.read.metadata import read_metadata

        self.constants = read_metadata(text, found.json)
        if self.constants is not None:
            start, end = found.json
            self._json, self._lines = text[start:end], "\n" * text.count("\n", start, end)
            self.outside = f"{text[:start]}{self._lines}{text[end:]}"

    def put_back(self, text: str) -> str:
        """A formatted text with the JSON."""
        if self.constants is None:
            return text
        found = metadata_statement(text)
        assert found is not None
        start, end = found.json
        assert text[start:end] == self._lines
        return f"{text[:start]}{self._json}{text[end:]}"


def _format(
    text: str, path: str, version: str, width: int, constants: Metadata | None
) -> Formatted:
    from rlx.grammar.read.parser import parse

    parsed = parse(text, path, constants)
    errors = [d for d in parsed.diagnostics if d.is_error]
    if errors:
        places = [_place(parsed, path, d.span[0] if d.span else 0) for d in errors]
        lines = [
            f"{at}: error[{d.code}]: {d.message}" for at, d in zip(places, errors, strict=True)
        ]
        return Formatted(None, tuple(lines), CHANGED)
    kept = _metadata(text)
    if parsed.modules and _foreign_line(text, parsed.modules, kept) is not None:
        return _within_python(text, path, version, parsed, width, constants)
    reason = _left_alone(text, parsed.modules, kept, path, version)
    if reason is not None:
        return Formatted(None, (reason,), FAILED)
    infos = [node for node in parsed.captured if isinstance(node, ast.StructInfo)]
    unknown = min((getattr(info, "span", None) or (0, 0) for info in infos), default=None)
    if unknown is not None:
        where = _place(parsed, path, unknown[0])
        reason = f"{where}: not formatted: this annotation is known only when the program is built"
        return Formatted(None, (reason,), FAILED)
    return _written(text, path, version, parsed, width, constants)


def _within_python(
    text: str, path: str, version: str, parsed: Parsed, width: int, constants: Metadata | None
) -> Formatted:
    """A text with Python around its definitions, each of which is formatted where it stands."""
    from rlx.grammar.print.within_python import UnformattedError, format_within
    from rlx.grammar.read.parser import parse
    from rlx.grammar.read.versions import uses

    def write(part: str) -> tuple[str | None, str | None]:
        made = _format(part, "", version, width, None)
        reasons = [each.partition("not formatted: ")[2] for each in made.complaints]
        return made.text, next(filter(None, reasons), None)

    try:
        made = format_within(text, parsed.modules, dialect(version), write)
    except UnformattedError as error:
        where = _place(parsed, path, error.at)
        reason = error.reason or "it depends on the Python code around it"
        return Formatted(None, (f"{where}: not formatted: {reason}",), FAILED)
    modules = _in_dialect(text, parsed, version, uses(text, parsed.modules))
    lost = lost_at(replace(parsed, modules=tuple(modules)), parse(made, path, constants))
    if lost is None:
        return Formatted(made)
    reason = "not formatted: it depends on the Python code around it"
    return Formatted(None, (f"{_place(parsed, path, lost)}: {reason}",), FAILED)


def _written(
    text: str, path: str, version: str, parsed: Parsed, width: int, constants: Metadata | None
) -> Formatted:
    """The text as a dialect writes it, if that reads back as the same program."""
    from rlx.grammar.read.parser import parse
    from rlx.grammar.read.versions import uses

    found = uses(text, parsed.modules)
    try:
        modules = _in_dialect(text, parsed, version, found)
    except InexpressibleError as error:
        where = _place(parsed, path, error.span[0] if error.span else 0)
        return Formatted(None, (f"{where}: not formatted: {error.words}",), FAILED)
    printed = _printed(text, modules, _metadata(text), version, width)
    there = replace(parsed, modules=tuple(modules))
    again = parsed if printed == text else parse(printed, path, constants)
    lost = lost_at(there, again)
    if lost is None:
        settled = printed
        if again is not parsed:
            settled = _printed(printed, again.modules, _metadata(printed), version, width)
        if settled != printed:  # other names than before: those of the second text stay
            again = parse(settled, path, constants)
            lost = lost_at(there, again)
        if lost is None:
            found = found if settled == text else uses(settled, again.modules)
            return _read_there(settled, again, path, version, found)
    opaque = [d.span for d in parsed.diagnostics if d.code == "PARSE-opaque" and d.span]
    reason = _misread(again, version)
    if opaque:
        lost, reason = (
            opaque[0][0],
            "rlx does not understand this part of a PrimFunc, and formatting would change it",
        )
    reason = f"{_place(parsed, path, lost)}: not formatted: {reason}"
    return Formatted(None, (reason,), FAILED)


def _in_dialect(
    text: str, parsed: Parsed, version: str, found: Sequence[SpellingUse]
) -> list[ast.IRModule]:
    """The modules of a text, of which the spellings were ``found``, as a dialect can write them."""
    from rlx.grammar.read.prim_scalars import assigns_lets
    from rlx.grammar.read.versions import is_old

    modules = parsed.modules
    if dialect(version).function_flag and assigns_lets(text):
        modules = tuple(map(with_flags, modules))
    old = is_old(found)
    return [expressible(module, dialect(version), text, old) for module in modules]


def _read_there(
    text: str, parsed: Parsed, path: str, version: str, found: Sequence[SpellingUse]
) -> Formatted:
    """A text, unless it has a spelling or an operator that its version does not have."""
    from rlx.grammar.read.versions import lost_words, missing_operators

    for call, why, _ in missing_operators(parsed.modules, version):
        where = _place(parsed, path, call.span[0] if call.span else 0)
        return Formatted(None, (f"{where}: not formatted: dialect {version} {why}",), FAILED)
    for lost in lost_words(text, parsed.modules, version):
        where = _place(parsed, path, lost.span[0] if lost.span else 0)
        words = lost.message.replace("TVM", "dialect")
        return Formatted(None, (f"{where}: not formatted: {words}",), FAILED)
    for use in found:
        if not use.readers.reads(version):
            return Formatted(
                None, (f"{path}: not formatted: dialect {version} has no `{use.form}`",), FAILED
            )
    return Formatted(text)


def translated(
    parsed: Parsed, modules: Sequence[ast.IRModule], path: str, version: str
) -> Formatted:
    """The text of modules that were derived from the modules of a text, with its comments.

    Parameters
    ----------
    parsed
        The parsed text.
    modules
        The new modules, in order.
    path, version
        As for :func:`format_text`.
    """
    from rlx.grammar.read.parser import parse

    text = parsed.source.text
    kept = _metadata(text)
    reason = _left_alone(text, parsed.modules, kept, path, version)
    if reason is not None:
        return Formatted(None, (reason,), FAILED)
    printed = _printed(text, modules, kept, version)
    again = parse(printed, path)
    lost = lost_at(replace(parsed, modules=tuple(modules)), again)
    if lost is None:
        return Formatted(printed)
    reason = _misread(again, version)
    return Formatted(None, (f"{_place(parsed, path, lost)}: not formatted: {reason}",), FAILED)


def _misread(again: Parsed, version: str) -> str:
    """The reason why a printed text does not say the same."""
    printed = f"the text that dialect {version} prints for this"
    error = next((d for d in again.diagnostics if d.is_error), None)
    if error is not None:
        return f"{printed} cannot be read: {error.message}"
    return f"{printed} is read back as a different program"


def nested_too_deeply(path: str) -> Formatted:
    """The answer for a program too deep for any text, such as a sum of 20,000 tensors."""
    reason = "expressions are nested too deeply to be written as text"
    return Formatted(None, (f"{path}: not formatted: {reason}",), FAILED)


def _place(parsed: Parsed, path: str, at: int) -> str:
    line, column = parsed.source.position(at)
    return f"{path}:{line}:{column}"


def _left_alone(
    text: str, modules: Sequence[ast.IRModule], kept: Span | None, path: str, version: str
) -> str | None:
    """Why a text that can be read is not formatted; None where it is."""
    if (line := _foreign_line(text, modules, kept)) is not None:
        where = text.count("\n", 0, line) + 1
        reason = "not formatted: the file contains Python code outside the Relax definitions"
        return f"{path}:{where}: {reason}"
    if (unkept := _unkept(text)) is not None:
        where = text.count("\n", 0, unkept.start) + 1
        name = unkept.value.partition("(")[0]
        return f"{path}:{where}: not formatted: rlx reads {name}, but does not keep its arguments"
    others = set(CONSTANT_KEYS) - {dialect(version).constant_key}
    around = "" if kept is None else text[: kept[0]] + text[kept[1] :]
    if any(f'metadata["{key}"]' in around for key in others):
        return (
            f"{path}: not formatted: its constants are metadata of another version than {version}"
        )
    return None


def _printed(
    text: str, modules: Sequence[ast.IRModule], kept: Span | None, version: str, width: int = WIDTH
) -> str:
    from rlx.grammar.print.printer import print_module
    from rlx.grammar.read.comments import BLANK, Remarks

    remarks = Remarks(text)
    printed = [print_module(module, version, remarks) for module in modules]
    parts = [lay_out(part, remarks.inner, width) for part in printed]
    rest = [each for each in remarks.before(len(text) + 1) if not each.startswith(BLANK)]
    if kept is not None:
        first = modules[0].span if modules else None
        at = 0 if first is not None and kept[0] < first[0] else len(parts)
        parts.insert(at, text[slice(*kept)] + "\n")
    if rest:
        parts.append("\n".join(rest) + "\n")
    return with_blank_lines("\n".join(parts))


def lost_at(before: Parsed, again: Parsed) -> int | None:
    """The offset at which a program says what its printed text does not say;
    None where that reads back as the same program.
    """
    from rlx.grammar.nodes.equal import difference

    start = min((module.span[0] for module in before.modules if module.span), default=0)
    if len(again.modules) != len(before.modules):
        return start
    for one, other in zip(before.modules, again.modules, strict=True):
        found = difference(one, other, map_free_vars=True)
        if found is not None:
            place = found.place(one) or one.span
            return start if place is None else place[0]
    return start if any(d.is_error for d in again.diagnostics) else None


def _foreign_line(text: str, modules: Sequence[ast.IRModule], kept: Span | None) -> int | None:
    """The offset of the first line that belongs to no module and is no header either."""
    spans = [span for module in modules for span in _spans(module)]
    if kept is not None:
        spans.append(kept)
    at = 0
    for start, end in [*sorted(spans), (len(text), len(text))]:
        head = line_start(text, start) if start < len(text) else start
        between = text[at : max(at, head)]
        for first, last in logical_lines(between):
            if not _is_header(between[first:last]):
                return at + first
        at = max(at, end)
    return None


def _spans(module: ast.IRModule) -> list[tuple[int, int]]:
    if not module.bare:
        return [module.span] if module.span is not None else []
    return [f.span for f in module.functions.values() if f.span is not None]


def _is_header(line: str) -> bool:
    """Whether a line may stand around modules: a decorator, declarations of shape variables, an
    import.
    """
    if line.startswith("@"):
        return True
    try:
        statements = parse_python(line).body
    except (SyntaxError, ValueError):
        return False
    return all(isinstance(each, Import | ImportFrom) or declares(each) for each in statements)


def _metadata(text: str) -> Span | None:
    found = metadata_statement(text)
    return None if found is None else found.span


def _unkept(text: str) -> Token | None:
    """The first word of a text that its tree does not keep."""
    if not any(word in text for word in _UNKEPT):
        return None
    for found in words_of(text, (0, len(text))):
        name, opened, _ = found.value.partition("(")
        if name in _UNKEPT and (opened or found.type == "TARGET"):
            return found
    return None
