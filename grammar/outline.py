"""What a text defines, before it is read: where the definitions are, and their functions."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from rlx.grammar.dialects import TIR_MODULES
from rlx.grammar.lexer import MAX_LINE
from rlx.grammar.logical_lines import indentation, logical_lines
from rlx.grammar.misspelt import decorator
from rlx.grammar.node import Record, Span

if TYPE_CHECKING:
    from rlx.grammar.surroundings import Surroundings


_HEAD = re.compile(r"(?P<kind>class|def)[ \t]+(?P<name>\w+)")


class FunctionOutline(Record):
    """A function at the top of a text or of a class; functions inside of it are part of it.

    Attributes
    ----------
    start
        Where the line of its first decorator starts.
    head, head_end
        Where its ``def`` stands, and where the logical line ends that begins there.
    end
        Behind its last line.
    owner
        Where the ``class`` around it stands; None where there is none.
    """

    name: str
    start: int
    head: int
    head_end: int
    end: int
    owner: int | None


def outline(text: str, start: int = 0) -> Iterator[FunctionOutline]:
    """The functions from an offset on, to where the scope ends that the offset is in.

    Strings and comments define none.
    """
    base = indentation(text, start) if start else 0
    opened: tuple[str, int, int, int, int | None] | None = None
    column_of_opened = last = 0
    decorated: int | None = None
    classes: list[tuple[int, int]] = []
    for at, end in logical_lines(text, start):
        column = indentation(text, at)
        if opened is not None and column > column_of_opened:
            last = end
            continue
        if opened is not None:
            yield _closed(text, opened, last)
            opened = None
        if column < base:
            return
        while classes and column <= classes[-1][0]:
            classes.pop()
        line = text.rfind("\n", 0, at) + 1
        if text[at] == "@":
            decorated = line if decorated is None else decorated
            continue
        head = _HEAD.match(text, at)
        if head is not None and head["kind"] == "class":
            classes.append((column, at))
        elif head is not None:
            begin = line if decorated is None else decorated
            owner = classes[-1][1] if classes else None
            opened, column_of_opened, last = (head["name"], begin, at, end, owner), column, end
        decorated = None
    if opened is not None:
        yield _closed(text, opened, last)


def _closed(text: str, opened: tuple[str, int, int, int, int | None], last: int) -> FunctionOutline:
    """A function whose last logical line ends at an offset."""
    name, start, head, head_end, owner = opened
    while last > head_end and text[last - 1].isspace():  # behind a bracket that is never closed
        last -= 1
    stop = text.find("\n", last)
    return FunctionOutline(name, start, head, head_end, len(text) if stop < 0 else stop + 1, owner)


def class_at(text: str, start: int) -> int | None:
    """Where the ``class`` stands of the decorated definition at an offset; None if it is a
    function.
    """
    for at, _ in logical_lines(text, start):
        if text[at] != "@":
            head = _HEAD.match(text, at)
            return at if head is not None and head["kind"] == "class" else None
    return None


def methods(text: str, start: int, owner: int) -> Iterator[str]:
    """The functions of the class at an offset, whose first decorator stands at another."""
    for function in outline(text, start):
        if function.owner != owner:
            return
        yield function.name


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
