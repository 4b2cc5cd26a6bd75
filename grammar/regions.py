"""Where the Relax definitions of a text are: among imports, comments, metadata, or other Python."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TYPE_CHECKING

from rlx.grammar.dialects import TIR_MODULES
from rlx.grammar.lexer import MAX_LINE
from rlx.grammar.misspelt import decorator
from rlx.grammar.node import Span

if TYPE_CHECKING:
    from rlx.grammar.surroundings import Surroundings

DECORATOR = (
    r"@[ \t]*+(?:I\.ir_module|R\.function|R\.func|T\.prim_func|tvm\.script\.ir_module|"
    rf"script\.ir_module|ir_module|relax\.function|(?:{'|'.join(TIR_MODULES)})\.prim_func)\b"
)

_OUTER = re.compile(
    rf"""
      (?P<decorator>^[ \t]*+{DECORATOR})
    | (?P<other>^[ \t]*+@[ \t]*+[\w.]++)
    | (?P<string>\"\"\"(?:[^"\\]|\\.|"(?!""))*+(?:\"\"\"|\Z)|'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)
        |"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?)
    | (?P<comment>\#[^\n]*+)
    | (?P<typevar>^[A-Za-z_][\w,\ \t]*+=[ \t]*+\(?(?:typing\.)?TypeVar\([^\n]*+)
    | (?P<line>^[^\s\#"'][^\n"'\#]*+)
    | [^"'\#\n]++
    | \n
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)

_HARMLESS = re.compile(
    r"(?:from|import)\b|metadata[ \t]*=|if[ \t]+__name__|[)\]}]|__\w+__\b"
    r"|\w+[ \t]*=[ \t]*(?:T|tirx?|tvm\.tirx?)\.(?:Var|SizeVar|var|int64|int32)\("
)
_TYPE_VARS = re.compile(r"([A-Za-z_][\w, \t]*?)[ \t]*=[ \t]*\(?(?:typing\.)?TypeVar\(")
_METADATA = re.compile(
    r"^metadata\s*=\s*[\w.]*load_json\(\s*(?:r|f)?\"\"\"(.*?)\"\"\"\)", re.DOTALL | re.MULTILINE
)


def regions(
    text: str, around: Surroundings | None = None
) -> Generator[tuple[str, int, int], int | None, None]:
    """What stands at the outer level, as ``(kind, start, end)``.

    ``"definition"`` is the start of a decorated class or function; send its end back to go on
    behind it; with ``around``, decorators under the names that Python imports count, too.
    ``"typevar"`` is a declaration, ``"stray"`` a line that has no place in a Relax text, ``"long"``
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
        if kind == "other":
            word = found[0].lstrip().removeprefix("@").lstrip()
            if around is None:
                outer = text[found.start()] == "@"
                if outer and decorator(word):
                    kind = "decorator"
                elif outer:
                    yield "stray", found.start(), at
            elif _may_mark(word, text):
                word = around.canonical(word)
                if re.fullmatch(DECORATOR, f"@{word}") or (word[1:2] == "." and decorator(word)):
                    kind = "decorator"
        if kind == "decorator":
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            resumed = yield "definition", start, at
            if resumed is not None:
                at = resumed
        elif kind == "typevar":
            yield "typevar", found.start(), at
        elif kind == "line" and not _HARMLESS.match(found[0]):
            yield "stray", found.start(), at


def declared_names(line: str) -> list[str]:
    """The names that the ``"typevar"`` lines of a text declare."""
    return [name.strip() for names in _TYPE_VARS.findall(line) for name in names.split(",")]


def metadata_span(text: str) -> Span | None:
    """Where the JSON of the metadata is, quotes excluded, or None."""
    found = _METADATA.search(text) if "load_json" in text else None
    return None if found is None else found.span(1)


def _may_mark(word: str, text: str) -> bool:
    """Whether a decorator may be one of Relax under another name:
    asking what Python imports reads the whole text.
    """
    head, _, _ = word.partition(".")
    return head in _LETTERS or word.rpartition(".")[2] in _MARKS or f" as {head}" in text


_MARKS = frozenset(["function", "func", "prim_func", "ir_module"])
_LETTERS = frozenset("RIT")


def metadata_statement(text: str) -> Span | None:
    """Where the whole statement of the metadata is, or None."""
    found = _METADATA.search(text) if "load_json" in text else None
    return None if found is None else found.span()


def metadata_text(text: str) -> str | None:
    """The JSON of a printed ``metadata = tvm.ir.load_json(...)``, or None."""
    found = metadata_span(text)
    if found is None:
        return None
    return text[found[0] : found[1]].replace('\\"', '"').replace("\\\\", "\\")


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
