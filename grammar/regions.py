"""Where the Relax definitions of a text are: among imports, comments, metadata, or other Python."""

from __future__ import annotations

import re
from collections.abc import Generator

from rlx.grammar.lexer import MAX_LINE
from rlx.grammar.node import Span

DECORATOR = (
    r"@[ \t]*+(?:I\.ir_module|R\.function|R\.func|T\.prim_func|tvm\.script\.ir_module|"
    r"script\.ir_module|ir_module|relax\.function|tir\.prim_func|tirx\.prim_func)\b"
)

_OUTER = re.compile(
    rf"""
      (?P<decorator>^[ \t]*+{DECORATOR})
    | (?P<string>\"\"\"(?:[^"\\]|\\.|"(?!""))*+(?:\"\"\"|\Z)|'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)
        |"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?)
    | (?P<comment>\#[^\n]*+)
    | (?P<typevar>^[A-Za-z_]\w*+[ \t]*+=[ \t]*+TypeVar\([^\n]*+)
    | (?P<line>^[^\s\#"'][^\n"'\#]*+)
    | [^"'\#\n]++
    | \n
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)

_HARMLESS = re.compile(
    r"(?:from|import)\b|metadata[ \t]*=|[A-Za-z_]\w*[ \t]*=[ \t]*TypeVar\(|if[ \t]+__name__|[)\]}]|__\w+__\b"
)
_METADATA = re.compile(
    r"^metadata\s*=\s*[\w.]*load_json\(\s*(?:r|f)?\"\"\"(.*?)\"\"\"\)", re.DOTALL | re.MULTILINE
)


def regions(text: str) -> Generator[tuple[str, int, int], int | None, None]:
    """What stands at the outer level, as ``(kind, start, end)``.

    ``"definition"`` is the start of a decorated class or function; send its end back to go on behind
    it. ``"typevar"`` is a declaration, ``"stray"`` a line that has no place in a Relax text, ``"long"``
    a line past :data:`rlx.grammar.lexer.MAX_LINE`.
    """
    at = 0
    while at < len(text):
        found = _OUTER.match(text, at)
        if found is None:
            at += 1
            continue
        kind = found.lastgroup
        at = found.end()
        if kind == "decorator":
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            resumed = yield "definition", start, at
            if resumed is not None:
                at = resumed
        elif kind == "typevar":
            yield "typevar", found.start(), at
        elif kind == "line" and not _HARMLESS.match(found[0]):
            yield "stray", found.start(), at


def metadata_text(text: str) -> str | None:
    """The JSON of a printed ``metadata = tvm.ir.load_json(...)``, or None."""
    if "load_json" not in text:
        return None
    found = _METADATA.search(text)
    return None if found is None else found[1].replace('\\"', '"').replace("\\\\", "\\")


def long_lines(text: str) -> list[Span]:
    """The lines that are too long to read."""
    if len(text) <= MAX_LINE:
        return []
    found: list[Span] = []
    at = 0
    while at <= len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if end - at > MAX_LINE:
            found.append((at, end))
        at = end + 1
    return found
