"""Programs in one style, in any dialect.

A text is replaced only if what is printed reads back as the same program and keeps every comment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlx.grammar import ast
from rlx.grammar.dialects import CONSTANT_KEYS, DEFAULT, dialect
from rlx.grammar.node import Record, Span, replace
from rlx.grammar.outline import logical_lines

if TYPE_CHECKING:
    from rlx.grammar.parser import Parsed

SAME, CHANGED, FAILED = 0, 1, 2

_METADATA = re.compile(
    r"^metadata\s*=\s*[\w.]+\(\s*(?P<quote>\"\"\"|''').*?(?P=quote)\s*\)[ \t]*\n?",
    re.MULTILINE | re.DOTALL,
)
_TYPE_VAR = r"(?:\w+\.)?TypeVar\(\s*(?:name\s*=\s*)?[\"']\w+[\"']\s*,?\s*\)"
_DECLARES = rf"\w+(?:\s*,\s*\w+)*\s*=\s*{_TYPE_VAR}(?:\s*,\s*{_TYPE_VAR})*"
_SURROUNDING = re.compile(rf"@.*|{_DECLARES}(?:\s*;\s*{_DECLARES})*\s*;?", re.DOTALL)
_UNKEPT = re.compile(r"^[^#\n]*?\b(R\.DTensor|check_well_formed)[(=]", re.MULTILINE)
"""What a program may say and its tree does not: printing it would lose that."""
_IMPORT = re.compile(r"from\s+[\w.]+\s+import\b.*|import\s.*", re.DOTALL)


class Formatted(Record):
    """What became of one text.

    Attributes
    ----------
    text
        The formatted text; None where there is none.
    complaints
        Why not, one line each.
    status
        The exit status that follows from it.
    """

    text: str | None
    complaints: tuple[str, ...] = ()
    status: int = SAME


def format_text(text: str, path: str = "<text>", version: str = DEFAULT) -> Formatted:
    """Format the text of one or several modules.

    Parameters
    ----------
    text
        The source; CRLF is read as a line end.
    path
        What complaints call it; the name of a ``.py`` file says that imports are needed as they
        stand.
    version
        The dialect to write.
    """
    from rlx.grammar.parser import parse

    text = text.replace("\r\n", "\n")
    parsed = parse(text, path)
    errors = [d for d in parsed.diagnostics if d.severity == "error"]
    if errors:
        lines = [f"{_place(parsed, path, d.span)}: error[{d.code}]: {d.message}" for d in errors]
        return Formatted(None, tuple(lines), CHANGED)
    kept = _METADATA.search(text)
    reason = _left_alone(text, parsed.modules, kept, path, version)
    if reason is not None:
        return Formatted(None, (reason,), FAILED)
    return _written(text, path, version, parsed)


def _written(text: str, path: str, version: str, parsed: Parsed) -> Formatted:
    """The text as a dialect writes it, if that reads back as the same program."""
    from rlx.grammar.parser import parse

    printed = _printed(text, parsed.modules, _METADATA.search(text), version)
    again = parse(printed, path)
    lost = _lost(parsed, again)
    if lost is None:
        settled = _printed(printed, again.modules, _METADATA.search(printed), version)
        if settled != printed:  # other names than before: those of the second text stay
            lost = _lost(parsed, parse(settled, path))
        if lost is None:
            return Formatted(settled)
    opaque = [d.span for d in parsed.diagnostics if d.code == "PARSE-opaque" and d.span]
    reason = f"what {version} would print for this reads back as something else"
    if opaque:
        lost, reason = (
            opaque[0],
            "this part of a PrimFunc is not understood, and does not stay what it is",
        )
    reason = f"{_place(parsed, path, lost)}: left as it is: {reason}"
    return Formatted(None, (reason,), FAILED)


def translated(
    parsed: Parsed, modules: Sequence[ast.IRModule], path: str, version: str
) -> Formatted:
    """The text of modules that were made from those of a text, with its comments.

    Parameters
    ----------
    parsed
        The text.
    modules
        What its modules have become, in order.
    path, version
        As for :func:`format_text`.
    """
    from rlx.grammar.parser import parse

    text = parsed.source.text
    kept = _METADATA.search(text)
    reason = _left_alone(text, parsed.modules, kept, path, version)
    if reason is not None:
        return Formatted(None, (reason,), FAILED)
    printed = _printed(text, modules, kept, version)
    lost = _lost(replace(parsed, modules=tuple(modules)), parse(printed, path))
    if lost is None:
        return Formatted(printed)
    reason = f"what {version} would print for this reads back as something else"
    return Formatted(None, (f"{_place(parsed, path, lost)}: left as it is: {reason}",), FAILED)


def _place(parsed: Parsed, path: str, span: Span | None) -> str:
    line, column = parsed.source.position(0 if span is None else span[0])
    return f"{path}:{line}:{column}"


def _left_alone(
    text: str,
    modules: Sequence[ast.IRModule],
    kept: re.Match[str] | None,
    path: str,
    version: str,
) -> str | None:
    """Why a text that can be read is not formatted; None where it is."""
    if (line := _foreign_line(text, modules, kept, path.endswith(".py"))) is not None:
        where = text.count("\n", 0, line) + 1
        reason = "not formatted: the file contains Python code outside the Relax definitions"
        return f"{path}:{where}: {reason}"
    if (unkept := _UNKEPT.search(text)) is not None:
        where = text.count("\n", 0, unkept.start()) + 1
        return f"{path}:{where}: left as it is: {unkept[1]} is read, but its arguments are not kept"
    others = set(CONSTANT_KEYS) - {dialect(version).constant_key}
    around = "" if kept is None else text.replace(kept[0], "")
    if any(f'metadata["{key}"]' in around for key in others):
        return f"{path}: its constants are kept as metadata of another version than {version}"
    return None


def _printed(
    text: str, modules: Sequence[ast.IRModule], kept: re.Match[str] | None, version: str
) -> str:
    from rlx.grammar.comments import Remarks
    from rlx.grammar.printer import print_module

    remarks = Remarks(text)
    parts = [print_module(module, version, remarks) for module in modules]
    rest = remarks.before(len(text) + 1)
    if kept is not None:
        first = modules[0].span if modules else None
        at = 0 if first is not None and kept.start() < first[0] else len(parts)
        parts.insert(at, kept[0].rstrip("\n") + "\n")
    if rest:
        parts.append("\n".join(rest) + "\n")
    return "\n".join(parts)


def _lost(before: Parsed, again: Parsed) -> Span | None:
    """Where a program says what its printed text does not say;
    None where that reads back as the same program.
    """
    from rlx.grammar.equal import difference

    first = before.modules[0].span if before.modules else None
    if len(again.modules) != len(before.modules):
        return first or (0, 0)
    for one, other in zip(before.modules, again.modules, strict=True):
        found = difference(one, other, map_free_vars=True)
        if found is not None:
            return found.place(one) or one.span or (0, 0)
    if any(d.severity == "error" for d in again.diagnostics):
        return first or (0, 0)
    return None


def _foreign_line(
    text: str, modules: Sequence[ast.IRModule], kept: re.Match[str] | None, is_python: bool
) -> int | None:
    """The offset of the first line that belongs to no module and is no header either."""
    spans = [span for module in modules for span in _spans(module)]
    if kept is not None:
        spans.append(kept.span())
    at = 0
    for start, end in [*sorted(spans), (len(text), len(text))]:
        head = text.rfind("\n", 0, start) + 1 if start < len(text) else start
        between = text[at : max(at, head)]
        for first, last in logical_lines(between):
            line = between[first:last].partition("#")[0].rstrip()
            known = _SURROUNDING.fullmatch(line) or (not is_python and _IMPORT.fullmatch(line))
            if not known:
                return at + first
        at = max(at, end)
    return None


def _spans(module: ast.IRModule) -> list[tuple[int, int]]:
    if not module.bare:
        return [module.span] if module.span is not None else []
    return [f.span for f in module.functions.values() if f.span is not None]
