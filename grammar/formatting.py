"""Programs in one style, in any dialect.

A text is replaced only if what is printed reads back as the same program and keeps every comment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rlx.grammar import ast
from rlx.grammar.dialects import CONSTANT_KEYS, DEFAULT, dialect
from rlx.grammar.node import Record

SAME, CHANGED, FAILED = 0, 1, 2

_METADATA = re.compile(
    r"^metadata\s*=\s*[\w.]+\(\s*(?P<quote>\"\"\"|''').*?(?P=quote)\s*\)[ \t]*\n?",
    re.MULTILINE | re.DOTALL,
)
_SURROUNDING = re.compile(
    r'\s*(#.*|@.*|\w+\s*=\s*(\w+\.)?TypeVar\(\s*["\']\w+["\']\s*\)\s*(#.*)?)?\s*'
)
_UNKEPT = re.compile(r"^[^#\n]*?\b(R\.DTensor|check_well_formed)[(=]", re.MULTILINE)
"""What a program may say and its tree does not: printing it would lose that."""
_IMPORT = re.compile(r"\s*(from\s+[\w.]+\s+import\s.*|import\s.*)\s*")


class Outcome(Record):
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


def format_text(text: str, path: str = "<text>", version: str = DEFAULT) -> Outcome:
    """Format the text of one or several modules.

    Parameters
    ----------
    text
        The source; CRLF is read as a line end.
    path
        What complaints call it; the name of a ``.py`` file says that imports are needed as they stand.
    version
        The dialect to write.
    """
    from rlx.grammar.parser import parse

    text = text.replace("\r\n", "\n")
    parsed = parse(text, path)
    errors = [d for d in parsed.diagnostics if d.severity == "error"]
    if errors:
        places = [parsed.source.position(d.span[0] if d.span else 0) for d in errors]
        lines = [
            f"{path}:{line}:{column}: {d.severity}[{d.code}]: {d.message}"
            for d, (line, column) in zip(errors, places, strict=True)
        ]
        return Outcome(None, tuple(lines), CHANGED)
    kept = _METADATA.search(text)
    if (line := _foreign_line(text, parsed.modules, kept, path.endswith(".py"))) is not None:
        where = text.count("\n", 0, line) + 1
        reason = "other Python stands around the program; only texts of modules alone are formatted"
        return Outcome(None, (f"{path}:{where}: {reason}",), FAILED)
    if (lost := _UNKEPT.search(text)) is not None:
        where = text.count("\n", 0, lost.start()) + 1
        reason = f"left as it is: {lost[1]} is read, but its arguments are not kept"
        return Outcome(None, (f"{path}:{where}: {reason}",), FAILED)
    others = set(CONSTANT_KEYS) - {dialect(version).constant_key}
    around = "" if kept is None else text.replace(kept[0], "")
    if any(f'metadata["{key}"]' in around for key in others):
        reason = f"its constants are kept as metadata of another version than {version}"
        return Outcome(None, (f"{path}: {reason}",), FAILED)
    return _printed(text, parsed.modules, kept, path, version)


def _printed(
    text: str,
    modules: Sequence[ast.IRModule],
    kept: re.Match[str] | None,
    path: str,
    version: str,
) -> Outcome:
    from rlx.grammar.comments import Remarks
    from rlx.grammar.equal import first_difference
    from rlx.grammar.parser import parse
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
    printed = "\n".join(parts)
    again = parse(printed, path).modules
    if len(again) != len(modules):
        return Outcome(None, (f"{path}: left as it is, {version} can't say it all",), FAILED)
    for before, after in zip(modules, again, strict=True):
        found = first_difference(before, after, map_free_vars=True)
        if found is not None:
            return Outcome(
                None, (f"{path}: left as it is, {version} can't say it all: {found}",), FAILED
            )
    return Outcome(printed)


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
        offset = at
        for line in text[at : max(at, head)].splitlines(keepends=True):
            known = _SURROUNDING.fullmatch(line) or (not is_python and _IMPORT.fullmatch(line))
            if not known:
                return offset
            offset += len(line)
        at = max(at, end)
    return None


def _spans(module: ast.IRModule) -> list[tuple[int, int]]:
    if not module.bare:
        return [module.span] if module.span is not None else []
    return [f.span for f in module.functions.values() if f.span is not None]
