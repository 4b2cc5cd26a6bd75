"""The statements of a long function. After an edit, only those around it are read again."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from itertools import accumulate
from zlib import crc32

from rlx.grammar.lines import next_line
from rlx.grammar.nodes.node import Record, Span
from rlx.lsp.cut import words
from rlx.lsp.texts import difference


class BodyStatement(Record):
    """One statement of a body.

    Attributes
    ----------
    text
        Its lines, with the blank ones behind it.
    names
        What it may bind.
    is_frame
        Whether all others may depend on it: a declaration, a block, what is returned.
    is_call
        Whether it binds one name to the result of an operator, of which nothing is known but its
        struct info.
    is_annotated
        Whether that name has an annotation.
    binds_more
        Whether it says something of shape variables to those behind it.
    is_strange
        Whether it says something that lets statements depend on each other in other ways.
    is_border
        Whether a long function may be read in parts that meet in front of it: which statements
        these are depends on nothing but their own texts.
    """

    text: str
    names: frozenset[str]
    is_frame: bool
    is_call: bool
    is_annotated: bool
    binds_more: bool
    is_strange: bool
    is_border: bool


_TOKEN = re.compile(r"#.*|\"(?:\\.|[^\"\\])*(?:\"|$)|'(?:\\.|[^'\\])*(?:'|$)|[()\[\]{}]")
_START = re.compile(r" *\w+ *(?::|=(?!=))")
_FRAME = re.compile(
    r" *(?:with\b|return\b|#|R\.output\b|R\.func_attr\b|cls *=|\w+ *= *(?:T\.|TypeVar\b|I\.))"
)
_DECLARED = re.compile(r"^ *(\w+) *= *(?:T\.|TypeVar\b)")
_BINDS = re.compile(r" *\w+ *=")
_CALL = re.compile(r" *(\w+)( *:.*?)? = R\.([\w.]+)\(", re.DOTALL)
_TARGETS = re.compile(r"^\s*(?:def +)?(\w[\w, ]*?)\s*(?::|=(?!=)|\()", re.MULTILINE)
_FIRST = re.compile(r"\s*(\w+)")
_KEPT = frozenset(
    [
        "match_cast",
        "match_shape",
        "shape_of",
        "shape_to_tensor",
        "tensor_to_shape",
        "const",
        "shape",
        "prim_value",
        "str",
        "dtype",
        "tuple",
        "null_value",
        "to_vdevice",
        "hint_on_device",
        "ExternFunc",
        "call_inplace_packed",
        "call_tir_inplace",
        "make_closure",
        "assert_op",
        "nonzero",
        "unique",
        "dynamic_strided_slice",
    ]
)
"""Operators of which more is known than the struct info of their result."""
_STRANGE = re.compile(
    r"\"\"\"|'''|\\\n|\t|\f|force_pure|vdevice|_storage|alloc_|inplace|meta_var|match_shape"
)
"""Words of a function that make its statements depend on each other in other ways."""
_KEYWORDS = frozenset(
    [
        "R",
        "T",
        "I",
        "if",
        "else",
        "for",
        "while",
        "with",
        "def",
        "return",
        "cls",
        "pass",
        "True",
        "False",
        "None",
    ]
)


SMALL = 20_000
"""Texts and functions of fewer characters are read and checked at once: that takes no time."""

PARTS = 32
"""How many statements the parts of a long function have on average."""


@lru_cache(maxsize=16_384)
def _statement(text: str) -> BodyStatement:
    call = _CALL.match(text)
    more = (
        "match_cast" in text or "assert_op" in text,
        _STRANGE.search(text) is not None,
        crc32(text.encode("utf-8", "surrogatepass")) % PARTS == 0,
    )
    if call is not None and call[3] not in _KEPT:
        names = frozenset([call[1]])
        return BodyStatement(text, names, False, True, call[2] is not None, *more)
    if _FRAME.match(text) is not None:
        return BodyStatement(text, frozenset(), True, False, False, *more)
    found = {n.strip() for part in _TARGETS.findall(text) for n in part.split(",")}
    first = _FIRST.match(text)
    found |= {first[1]} if first else set()
    names = frozenset(name for name in found - _KEYWORDS if name.isidentifier())
    return BodyStatement(text, names, not text.strip(), False, False, *more)


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


@lru_cache(maxsize=16_384)
def opened_in(line: str) -> int:
    """The number of brackets that a line opens, minus those that it closes."""
    found = [t for t in _TOKEN.findall(line) if len(t) == 1]
    return sum(1 if t in "([{" else -1 for t in found if t in "()[]{}")


def split(body: str) -> Statements:
    """The statements of a body, all of its text; none if it has more than bindings and dataflow
    blocks show.
    """
    return Statements(tuple(_read(body)))


def _read(
    body: str,
    at: int = 0,
    base: int | None = None,
    level: int | None = None,
    is_known: Callable[[int], bool] = lambda _: False,
) -> Iterator[BodyStatement]:
    """The statements of a text from an offset on, up to the first that begins at a known one.

    Parameters
    ----------
    base, level
        The indentation of the body, and of the block that the offset is in, if they are known.
    """
    begun: list[str] = []
    opened = 0
    while at < len(body):
        line = body[at : next_line(body, at)]
        indent = indent_of(line)
        blank = line.isspace()
        if base is None and not blank and begun:
            base = level = indent
        if base is not None and not blank:
            if level is None:
                level = max(base, indent)
            if indent <= base:
                level = base
            text = "".join(begun)
            starts = indent == level and (opened <= 0 or _START.match(line) is not None)
            goes_on = line.lstrip().startswith(("else:", "elif ")) or (
                text.lstrip().startswith("@") and "def " not in text
            )
            if starts and not goes_on:
                if begun:
                    yield _statement(text)
                if is_known(at):
                    return
                begun, opened = [], 0
                if indent == base and line.lstrip().startswith("with R.dataflow():"):
                    level = None
        begun.append(line)
        at += len(line)
        opened += opened_in(line)
    if begun:
        yield _statement("".join(begun))


class Statements:
    """The statements of a body, in order.

    Parameters
    ----------
    items
        All of its text.
    """

    def __init__(self, items: tuple[BodyStatement, ...]) -> None:
        self.items = items
        texts = [each.text for each in items]
        self.text = "".join(texts)
        self._spoiled: dict[object, AbstractSet[str]] = {}
        *self.starts, self.length = accumulate(map(len, texts), initial=0)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return Statements, (self.items,)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, number: int) -> BodyStatement:
        return self.items[number]

    def __iter__(self) -> Iterator[BodyStatement]:
        return iter(self.items)

    # ------------------------------------------------------------ what is known of all

    @cached_property
    def binders(self) -> dict[str, list[int]]:
        """The statements that bind names."""
        found: dict[str, list[int]] = {}
        for number, each in enumerate(self.items):
            for name in each.names:
                found.setdefault(name, []).append(number)
        return found

    @cached_property
    def users(self) -> dict[str, list[int]]:
        """The statements that say words."""
        found: dict[str, list[int]] = {}
        for number, each in enumerate(self.items):
            for word in words(each.text):
                found.setdefault(word, []).append(number)
        return found

    @cached_property
    def bound_often(self) -> frozenset[str]:
        """The names that several statements may bind."""
        return frozenset(name for name, places in self.binders.items() if len(places) > 1)

    @cached_property
    def declared(self) -> frozenset[str]:
        """The shape variables that statements declare."""
        texts = (self.items[n].text for n in self.frames)
        return frozenset(name for text in texts for name in _DECLARED.findall(text))

    @cached_property
    def frames(self) -> frozenset[int]:
        """The statements on which all others may depend."""
        return frozenset(n for n, each in enumerate(self.items) if each.is_frame)

    @cached_property
    def always_whole(self) -> frozenset[int]:
        """The statements that are checked as they are."""
        return self.frames.union(n for n, each in enumerate(self.items) if each.binds_more)

    @cached_property
    def is_strange(self) -> bool:
        """Whether they depend on each other in ways that are not looked at."""
        return any(each.is_strange for each in self.items)

    @cached_property
    def borders(self) -> list[int]:
        """The statements with which the parts of a long function begin, but for the first part."""
        return [n for n, each in enumerate(self.items) if each.is_border and n > 1]

    @cached_property
    def is_plain(self) -> bool:
        """Whether the function can be read in parts: what else its frames declare is told by the
        first part.
        """
        if self.is_strange or not self.borders:
            return False
        later = (n for n in self.frames if n >= self.borders[0])
        return not any(_BINDS.match(self.items[n].text) for n in later)

    def mention(self, names: Iterable[str]) -> set[int]:
        """The statements that say one of some names."""
        found = {number for name in names for number in self.users.get(name, ())}
        return found - self.frames

    def spoiled(self, wrong: AbstractSet[str], sound: AbstractSet[str]) -> AbstractSet[str]:
        """The names that are wrong, and those that depend on them."""
        key = frozenset(wrong), frozenset(sound)
        if key not in self._spoiled:
            self._spoiled[key] = self._reached(*key)
        return self._spoiled[key]

    def _reached(self, wrong: frozenset[str], sound: frozenset[str]) -> set[str]:
        found = set(wrong)
        items, users = self.items, self.users
        touched = bytearray(len(items))
        for number in (n for name in wrong for n in users.get(name, ())):
            touched[number] = 1
        number = touched.find(1)
        while number >= 0:
            each = items[number]
            if not each.is_frame and not each.is_annotated:
                for name in each.names:
                    if name not in found and name not in sound:
                        found.add(name)
                        for other in users[name]:
                            touched[other] = 1
            number = touched.find(1, number + 1)
        return found

    # ------------------------------------------------------------ after an edit

    def after(self, text: str) -> Statements:
        """The statements of the next version of the body."""
        if text == self.text:
            return self
        begin, end = difference(self.text, text)
        shift = len(text) - self.length
        first = bisect_right(self.starts, begin) - 2  # the next line may belong to it now
        last = bisect_left(self.starts, end - shift)
        if first < 1:
            return split(text)

        def number(at: int) -> int:
            """The first statement behind the edit that begins at an offset or behind it."""
            return bisect_left(self.starts, at - shift, last)

        def is_known(at: int) -> bool:
            return self.starts[number(at) : number(at) + 1] == [at - shift]

        start, base = self.starts[first], indent_of(self.items[1].text)
        level = indent_of(self.items[first].text)
        middle = tuple(_read(text, start, base, level, is_known))
        behind = number(start + sum(len(each.text) for each in middle))
        made = Statements((*self.items[:first], *middle, *self.items[behind:]))
        made._take_over(self, (first, behind), first + len(middle))
        return made

    def _take_over(self, old: Statements, gone: Span, end: int) -> None:
        """Replace some of the statements, and update the facts about the rest."""
        first, behind = gone
        shift = end - behind
        for name, of in (("binders", lambda s: s.names), ("users", lambda s: words(s.text))):
            if name not in old.__dict__:
                continue
            self.__dict__[name] = index = old.__dict__[name].copy()
            for number in range(first, behind):
                for word in of(old.items[number]):
                    index[word] = places = index[word].copy()
                    del places[bisect_left(places, number)]
                    if not places:
                        del index[word]
            for word, places in index.items() if shift else ():
                if places[-1] >= behind:
                    index[word] = [n + shift if n >= behind else n for n in places]
            for number in range(first, end):
                for word in of(self.items[number]):
                    index[word] = [*index.get(word, ())]
                    insort(index[word], number)
