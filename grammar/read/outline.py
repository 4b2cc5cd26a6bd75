"""The outline of a text without parsing it: its logical lines, definitions and functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, islice

from rlx.grammar.dialects import TIR_MODULES
from rlx.grammar.lines import line_end, line_start, next_line
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.read.entries import Token
from rlx.grammar.read.lexer import MAX_LINE, words_of
from rlx.grammar.read.misspelt import decorator

_LINE = re.compile(
    r"""
      (?P<skip>[ \t\f]++|\\\r?\n|\#[^\n]*+)
    | (?P<string>[rRbBuUfF]{0,2}(?:
        \"\"\"(?>[^"\\]++|\\.|"(?!""))*+(?:\"\"\"|\Z)|'''(?>[^'\\]++|\\.|'(?!''))*+(?:'''|\Z)
        |"(?>[^"\\\n]++|\\.)*+"?|'(?>[^'\\\n]++|\\.)*+'?))
    | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<newline>\n)
    | [^\n"'()\[\]{}\#\\]++ | .
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTE_IN_LINE = r"\"(?!\"\")[^\"\\\n]*+\"|'(?!'')[^'\\\n]*+'"
_IN_LINE = rf"(?>[^\n\"'()\[\]{{}}#\\]++|{_QUOTE_IN_LINE})*+"
for _ in range(4):
    _IN_LINE = rf"(?>[^\n\"'()\[\]{{}}#\\]++|{_QUOTE_IN_LINE}|[(\[{{]{_IN_LINE}[)\]}}])*+"
WHOLE_LINE = re.compile(rf"[ \t\f]*+({_IN_LINE})(?:#[^\n]*+)?\n")
"""A line with balanced brackets, nested at most four deep, which matches almost every line."""
_BLANK = re.compile(r"(?:[ \t\f]*+\n)++")

_WORD = r"[^\W\d]\w*"
_MEMBER = rf"(?:{_WORD}|<lambda>\w*)"


def indentation(text: str, at: int) -> int:
    """The indentation width of a line whose text starts at an offset."""
    return width(text[line_start(text, at) : at])


def width(lead: str) -> int:
    """The width of white space at the start of a line; a tab goes to the next multiple of 8."""
    return len(lead.expandtabs(8))


def logical_lines(text: str, at: int = 0) -> Iterator[tuple[int, int]]:
    """The start and end of each logical line from an offset on, without indentation and trailing
    text.
    """
    depth, start = 0, -1
    whole, match, size = WHOLE_LINE.match, _LINE.match, len(text)
    weights, behind_weights = _weights(text)
    while at < size:
        if at == weights and start >= 0:
            at = behind_weights
            continue
        if start < 0 and (line := whole(text, at)) is not None:
            at = line.end()
            if line[1]:
                yield line.start(1), at - 1
            elif (blank := _BLANK.match(text, at)) is not None:
                at = blank.end()  # there are thousands where an editor asks about one function
            continue
        found = match(text, at)
        assert found is not None
        kind, begin = found.lastgroup, at
        at = found.end()
        if kind == "skip":
            continue
        if kind == "newline":
            # A bracket that is never closed ends where something that can only be a new definition
            # starts.
            if start >= 0 and (not depth or NEW.match(text, at)):
                yield start, begin
                start, depth = -1, 0
            continue
        if start < 0:
            start = begin
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
    if start >= 0:
        yield start, size


_LONG = 100_000
"""The length of a text from which on it is worth while to look for weights in it."""
_METADATA = re.compile(
    r"metadata[ \t\f]*+=\s*+(?P<callee>[\w.]++)\(\s*+(?P<string>[rRbBuUfF]{0,2}(?P<quotes>\"{3}|'{3}))"
)


def without_weights(text: str) -> str:
    """A text without the string of its metadata if that is long, to look for words in it."""
    start, end = _weights(text)
    return text if start < 0 else text[:start] + text[end:]


def _weights(text: str) -> Span:
    """The string of a text's metadata, which may be nearly all of it and is read in its own way."""
    return _long_weights(text) if len(text) >= _LONG else (-1, -1)


@lru_cache(maxsize=2)
def _long_weights(text: str) -> Span:
    at = text.find("metadata")
    while at >= 0:
        if at == line_start(text, at) and (found := _METADATA.match(text, at)) is not None:
            end = _string_end(text, found)
            return (-1, -1) if end is None else (found.start("string"), end)
        at = text.find("metadata", at + 1)
    return -1, -1


def _known_end(text: str, begun: re.Match[str]) -> int | None:
    """The same as :func:`_string_end`, which reads weights once."""
    start, end = _weights(text)
    return end if start == begun.start("string") else _string_end(text, begun)


def _string_end(text: str, begun: re.Match[str]) -> int | None:
    """The end of the string that a match begins; None if it does not end."""
    end = text.find(begun["quotes"], begun.end())
    while end >= 0:
        first = end  # of the backslashes in front of it: an odd number escapes it
        while first > begun.end() and text[first - 1] == "\\":
            first -= 1
        if (end - first) % 2 == 0:
            return end + 3
        end = text.find(begun["quotes"], end + 1)
    return None


NEW = re.compile(
    rf"[ \t]+(?:@[RTI]\.\w|def[ \t]+{_MEMBER}[ \t]*\()"  # in a class
    rf"|(?:@|def[ \t]+{_MEMBER}[ \t]*\(|class[ \t]+{_WORD}|import[ \t]|from[ \t]+\S+[ \t]+import)"
)
"""A line that ends a bracket which is never closed."""


HEAD = re.compile(
    r"(?:async[ \t]+)?(?P<kind>class|def)(?:[ \t\f]|\\\r?\n)+(?P<name>\w+|<lambda>\w*)"
)
"""The start of a class or function statement."""


class FunctionOutline(Record):
    """A function at the top level of a text or of a class; its local functions are part of it.

    Attributes
    ----------
    start
        The start of the line of its first decorator.
    head, head_end
        The start of its ``def``, and the end of the logical line that begins there.
    end
        The end of its last line.
    owner
        The start of the enclosing ``class``, or None.
    """

    name: str
    start: int
    head: int
    head_end: int
    end: int
    owner: int | None


def outline(text: str, start: int = 0) -> Iterator[FunctionOutline]:
    """The functions from an offset on, until the end of the scope at the offset.

    Strings and comments are skipped.
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
        line = line_start(text, at)
        if text[at] == "@":
            decorated = line if decorated is None else decorated
            continue
        head = HEAD.match(text, at)
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
    # Behind a bracket that is never closed stand blanks.
    last = head_end + len(text[head_end:last].rstrip())
    return FunctionOutline(name, start, head, head_end, next_line(text, last), owner)


def definition_end(text: str, start: int) -> int:
    """The place where reading goes on after an unreadable decorated definition: behind the whole
    function, or behind the head of the class, because its functions may be readable.
    """
    column: int | None = None
    for at, end in logical_lines(text, start):
        if column is not None:
            if indentation(text, at) <= column:
                return line_start(text, at)
        elif text[at] != "@":
            head = HEAD.match(text, at)
            if head is None:
                return line_start(text, at)
            if head["kind"] == "class":
                return end
            column = indentation(text, at)
    return len(text)


def class_at(text: str, start: int) -> int | None:
    """The start of the ``class`` of the decorated definition at an offset; None if it is a
    function.
    """
    for at, _ in logical_lines(text, start):
        if text[at] != "@":
            head = HEAD.match(text, at)
            return at if head is not None and head["kind"] == "class" else None
    return None


def methods(text: str, start: int, owner: int) -> Iterator[str]:
    """The functions of the class at an offset; the first decorator is at another offset."""
    for function in outline(text, start):
        if function.owner != owner:
            return
        yield function.name


_DECORATORS = frozenset(
    [
        *("I.ir_module", "R.function", "R.func", "T.prim_func", "tvm.script.ir_module"),
        *("script.ir_module", "ir_module", "relax.function"),
        *(f"{module}.prim_func" for module in TIR_MODULES),
    ]
)
_DIMENSIONS = frozenset(["Var", "SizeVar", "var", "int64", "int32"])
_MODULES = frozenset(["T", *TIR_MODULES, *(f"tvm.{module}" for module in TIR_MODULES)])


def regions(
    text: str, canonical: Callable[[str], str] | None = None
) -> Generator[tuple[str, int, int], int | None, None]:
    """The regions at the top level, as ``(kind, start, end)``.

    ``"definition"`` is the start of a decorated class or function; send its end back to continue
    after it. ``canonical`` maps names of the surrounding Python code to those of Relax texts, so
    decorators under other names are found, too. ``"typevar"`` is a declaration, ``"stray"`` a line
    that does not belong in a Relax text.
    """
    resumed: int | None = 0
    while resumed is not None:
        begun = resumed
        resumed = None
        for at, end in logical_lines(text, begun):
            line = line_start(text, at)
            # A definition is given up in the middle of a line: the rest of it begins nothing.
            if text[line:at].strip():
                continue
            outer, mark = line == at, _MARK.match(text, at)
            word = "" if mark is None else _GAP.sub("", mark["word"])
            if mark is not None and _marks(word, outer, text, canonical):
                resumed = yield "definition", at, mark.end()
                if resumed is not None:
                    break
            elif not outer:
                pass
            elif mark is None and _declares(text, (at, end)):
                yield "typevar", at, end
            elif canonical is not None:
                pass
            elif mark is not None:
                yield "stray", at, mark.end()
            elif not _is_harmless(text, (at, end)):
                yield "stray", at, _plain_end(text, at, end)


_GAP = re.compile(r"(?:[ \t\f]|\\\n)+")
_MARK = re.compile(
    rf"@[ \t\f(\\\n]*+(?P<word>(?:[\w.]|{_GAP.pattern}(?=\.)|(?<=\.){_GAP.pattern})+)"
)
"""The word of a decorator, as misspelt as it may be."""


def _marks(word: str, outer: bool, text: str, canonical: Callable[[str], str] | None) -> bool:
    """Whether a decorator marks a definition of Relax, misspelt as it may be."""
    if word in _DECORATORS:
        return True
    if canonical is None:
        return outer and bool(decorator(word))
    if not _may_mark(word, text):
        return False
    word = canonical(word)
    return word in _DECORATORS or (word[1:2] == "." and bool(decorator(word)))


_HARMLESS = frozenset(["import", "from", *")]}"])
_DUNDER = re.compile(r"__.+__")


def _is_harmless(text: str, span: Span) -> bool:
    """Whether a line at the outer level says nothing that a Relax text must not say."""
    match [*islice(words_of(text, span), 2)]:
        case []:
            return text.startswith(('"', "'"), span[0])
        case [Token(type="TARGET", value="metadata"), *_]:
            return True
        case [Token(type="TARGET"), Token(type="HEAD", value=callee)]:
            module, _, word = callee.removesuffix("(").rpartition(".")
            return module in _MODULES and word in _DIMENSIONS
        case [Token(type="TARGET"), *_]:
            return False
        case [Token(type="IF"), Token(value="__name__")] | [Token(type="STRING"), *_]:
            return True
        case [Token(value=word), *_]:
            return word in _HARMLESS or _DUNDER.fullmatch(word) is not None
    raise AssertionError("no more than two tokens")


def _plain_end(text: str, at: int, end: int) -> int:
    """The end of the first line of a stretch, or the start of a string or comment in it."""
    places = (text.find(sign, at, end) for sign in "\n\"'#")
    return min((place for place in places if place >= 0), default=end)


def stretches(text: str, definitions: Sequence[Span], hidden: Span | None) -> list[Span]:
    """The nonempty stretches of whole lines between the definitions; hidden text counts as
    empty.
    """
    spans = sorted([*definitions, *([] if hidden is None else [hidden])])
    starts = [line_start(text, start) for start, _ in spans]
    ends = accumulate((next_line(text, end - 1) for _, end in spans), max, initial=0)
    between = zip(ends, [*starts, len(text)], strict=True)
    return [(at, stop) for at, stop in between if text[at:stop].strip()]


def declared_names(line: str) -> list[str]:
    names = []
    for token in words_of(line, (0, len(line))):
        if token.type in ("NAME", "TARGET"):
            names.append(token.value)
        if token.type == "TARGET":
            return names
    return []


def _declares(text: str, span: Span) -> bool:
    """Whether a line is ``n, m = TypeVar("n"), …``."""
    if text.find("TypeVar(", *span) < 0:
        return False
    tokens = words_of(text, span)
    last = next((token.type for token in tokens if token.type not in ("NAME", "COMMA")), "")
    behind = next((token.value for token in tokens if token.type != "LPAR"), "")
    return last == "TARGET" and behind in ("TypeVar(", "typing.TypeVar(")


def _may_mark(word: str, text: str) -> bool:
    """Whether a decorator may be one of Relax under another name:
    asking what Python imports reads the whole text.
    """
    head, _, _ = word.partition(".")
    return head in _LETTERS or word.rpartition(".")[2] in _MARKS or f" as {head}" in text


_MARKS = frozenset(["function", "func", "prim_func", "ir_module"])
_LETTERS = frozenset("RIT")


class MetadataStatement(Record):
    """A statement ``metadata = CALLEE(\"""JSON\""")``.

    Attributes
    ----------
    json
        The span of the JSON, without quotes.
    """

    span: Span
    callee: str
    json: Span


def metadata_statement(text: str) -> MetadataStatement | None:
    if "metadata" not in text:
        return None
    for start, _ in logical_lines(text):
        if not text.startswith("metadata", start) or start != line_start(text, start):
            continue
        found = _METADATA.match(text, start)
        stop = None if found is None else _known_end(text, found)
        closed = None if stop is None else _CLOSED.match(text, stop)
        if found is not None and stop is not None and closed is not None:
            json = (found.end(), stop - 3)
            return MetadataStatement((start, closed.end()), found["callee"], json)
    return None


_CLOSED = re.compile(r"\s*+,?\s*+\)")


def metadata_span(text: str) -> Span | None:
    """The span of the JSON in a printed ``metadata = tvm.ir.load_json(...)``, or None."""
    found = metadata_statement(text)
    return found.json if found is not None and found.callee.endswith("load_json") else None


def long_lines(text: str) -> list[Span]:
    """The lines that exceed the length limit, but those of weights."""
    found: list[Span] = []
    weights, behind_weights = _weights(text)
    at = 0
    while len(text) - at > MAX_LINE:
        last = text.rfind("\n", at, at + MAX_LINE + 1)
        if last < 0:
            last = line_end(text, at + MAX_LINE)
            held = min(last, behind_weights) - max(at, weights)
            if last - at - max(held, 0) > MAX_LINE:
                found.append((at, last))
        at = last + 1
    return found
