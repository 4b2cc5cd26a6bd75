"""Names that one logical line of Python binds, found in its tokens outside comments and strings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Token
from rlx.grammar.read.lexer import MAX_LINE, OPENING, words_of
from rlx.grammar.read.source_tokens import closing

MAX_VALUE = 400
"""The maximum length of a constant's text in characters."""
STAR = "*"
"""The name that denotes all names of a module."""
_BLOCKS = frozenset(["IF", "ELIF", "ELSE", "FOR", "WHILE", "WITH"])
_BLOCK_WORDS = {("NAME", word) for word in ("try", "except", "finally", "async", "match", "case")}
"""The beginnings of lines that may have a statement after a colon."""
_IMPORTS = {("NAME", "import"), ("NAME", "from")}
_NAMES = frozenset(["NAME", "TARGET"])
_ENDS = frozenset(["COMMA", "RPAR", "RSQB"])
"""The signs that may follow on a name that is bound."""
_LISTS = frozenset(["global", "nonlocal", "del"])
_CONSTANTS = frozenset(["_", "None", "True", "False"])
"""The names in a pattern that it does not bind."""
_DIMENSIONS = frozenset(["Var", "SizeVar", "TypeVar", "var", "dynamic", "int32", "int64"])
"""The functions that make shape variables."""


class PythonBinding(NamedTuple):
    """A bound name.

    Attributes
    ----------
    name
        The name.
    at
        The start of its statement.
    value
        The text of its value, if that may be a literal and the line has no condition.
    imported
        The path of the imported module, or of the imported name in it.
    among
        Its position in a tuple of targets.
    """

    name: str
    at: int
    value: str | None = None
    imported: str | None = None
    among: int | None = None


def bindings(text: str, span: Span) -> Iterator[PythonBinding]:
    """The bindings of a logical line that is not the head of a class or function."""
    tokens = list(words_of(text, (span[0], min(span[1], span[0] + MAX_LINE))))  # no weights
    head = _block_head(tokens, text)
    for name in _anywhere(tokens[:head], text):
        yield PythonBinding(name, span[0])
    start, part = span[0], list[Token]()
    for token in (*tokens[head:], None):
        if token is not None and token.type != "SEMICOLON":
            part.append(token)
            continue
        end = span[1] if token is None else token.start
        for found in _statement(part, text, (start, end)):
            yield found if not head else found._replace(value=None)
        start, part = end, []


def parameters(text: str, span: Span) -> Iterator[str]:
    """The parameters in the head of a function."""
    depth, begins = 0, False
    for token in words_of(text, span):
        if depth == 1 and begins and token.type in ("NAME", "TARGET"):
            yield token.value
        depth += OPENING.get(token.type, 0)
        if depth == 0 and token.type == "RPAR":
            return
        begins = token.type in ("LPAR", "COMMA") or (begins and token.value in ("*", "**"))


def makes_dimension(value: str) -> bool:
    """Whether the text of a value makes a shape variable."""
    first = next(words_of(value, (0, len(value))), None)
    if first is None or first.type != "HEAD":
        return False
    return first.value[:-1].rpartition(".")[2] in _DIMENSIONS


def _block_head(tokens: Sequence[Token], text: str) -> int:
    """The number of tokens in the head of a block; 0 if the line begins none."""
    if not tokens:
        return 0
    first = tokens[0]
    if first.type not in _BLOCKS and (first.type, first.value) not in _BLOCK_WORDS:
        return 0
    depth = 0
    for at, token in enumerate(tokens):
        depth += OPENING.get(token.type, 0)
        if not depth and token.type == "COLON" and not text.startswith(":=", token.start):
            return at + 1
    return len(tokens)


def _statement(tokens: Sequence[Token], text: str, span: Span) -> Iterator[PythonBinding]:
    if not tokens:
        return
    if (tokens[0].type, tokens[0].value) in _IMPORTS:
        yield from _imported(tokens, span[0])
        return
    targets, behind = _plain_assignment(tokens)
    if not targets:
        for name in _anywhere(tokens, text):
            yield PythonBinding(name, span[0])
        return
    value = _value(text, (behind, span[1]), tokens[-1].end)
    for names in targets:
        several = any(token.type == "COMMA" for token in names)
        named = [token.value for token in names if token.type in ("NAME", "TARGET")]
        for index, name in enumerate(named):
            yield PythonBinding(name, span[0], value, None, index if several else None)
    for word, sign in pairwise(tokens):
        if word.type == "NAME" and text.startswith(":=", sign.start):
            yield PythonBinding(word.value, span[0])


def _value(text: str, span: Span, last: int) -> str | None:
    """The value behind the sign of an assignment, without a comment behind its last token."""
    if span[1] - span[0] > MAX_LINE:
        return None
    rest = text[max(span[0], last) : span[1]].lstrip(" \t\n\\")
    found = text[span[0] : last if rest.startswith("#") else span[1]].strip()
    return found if len(found) <= MAX_VALUE else None


def _plain_assignment(tokens: Sequence[Token]) -> tuple[list[Sequence[Token]], int]:
    """The targets of ``a = b, c = …`` or ``a: int = …``, and where the value begins; no targets
    where a statement is none, or has others than names.
    """
    found: list[Sequence[Token]] = []
    begin, end, depth = 0, 0, 0
    annotated = [token.type for token in tokens[:2]] == ["NAME", "COLON"]
    for at, token in enumerate(tokens):
        if not depth and token.type in ("TARGET", "EQUAL"):
            if annotated:
                return [tokens[:1]], token.end
            targets = tokens[begin : at + (token.type == "TARGET")]
            if not _is_flat(targets):
                return [], 0
            found.append(targets)
            begin, end = at + 1, token.end
        depth += OPENING.get(token.type, 0)
    return found, end


def _is_flat(targets: Sequence[Token]) -> bool:
    """Whether targets are ``a, b`` or ``(a, b)``."""
    if len(targets) > 1 and (targets[0].type, targets[-1].type) == ("LPAR", "RPAR"):
        targets = targets[1:-1]
    return bool(targets) and all(
        token.type == "COMMA" if at % 2 else token.type in ("NAME", "TARGET")
        for at, token in enumerate(targets)
    )


def _anywhere(tokens: Sequence[Token], text: str) -> Iterator[str]:
    """The names that a statement or a head binds, wherever in it.

    In brackets only ``:=`` and ``as`` bind. But a bracket that is not closed may have swallowed the
    statements behind it.
    """
    swallowed = sum(OPENING.get(token.type, 0) for token in tokens) > 0
    first, depth = 0, 0
    pairs = zip(tokens, [*tokens[1:], None], strict=False)
    for at, (token, behind) in enumerate(pairs):
        sign = token.type in ("TARGET", "EQUAL")
        if token.type == "NAME" and behind is not None and not _is_attribute(tokens, at):
            yield from _by_name(tokens, at, first, text)
        elif token.type == "AS" and behind is not None:
            end = closing(tokens, at + 1)
            yield from _targets(tokens[at + 1 : len(tokens) if end is None else end + 1])
        elif token.type == "FOR" and (swallowed or not depth):
            ends = (n for n in range(at, len(tokens)) if tokens[n].type == "IN")
            yield from _targets(tokens[at + 1 : next(ends, at)])
        elif sign and not depth:
            yield from _targets(tokens[first : at + (token.type == "TARGET")])
        elif token.type == "TARGET" and swallowed:
            yield token.value
        depth += OPENING.get(token.type, 0)
        if not depth and sign:
            first = at + 1


def _is_attribute(tokens: Sequence[Token], at: int) -> bool:
    return at > 0 and tokens[at - 1].type == "DOT"


def _by_name(tokens: Sequence[Token], at: int, first: int, text: str) -> Iterator[str]:
    """The names bound where a name stands in front of a sign, or is a word of Python."""
    name, behind = tokens[at].value, tokens[at + 1]
    if behind.type == "AUGMENTED" or text.startswith(":=", behind.start):
        yield name
    elif name in _LISTS and at == first:
        yield from _targets(tokens[at + 1 :])
    elif name == "case" and not at:
        ends = (n for n in range(1, len(tokens)) if tokens[n].type == "IF")
        for token in tokens[1 : next(ends, len(tokens))]:
            if token.type == "NAME" and token.value not in _CONSTANTS:
                yield token.value


def _targets(tokens: Sequence[Token]) -> Iterator[str]:
    """The names among the targets of an assignment, a loop or the like; what a subscript or a call
    holds is none.
    """
    depth = passed = 0  # brackets; the depth of a subscript or call
    begins = True
    kinds = [token.type for token in tokens]
    for token, behind in zip(tokens, [*kinds[1:], "COMMA"], strict=False):
        change = OPENING.get(token.type, 0)
        depth += change
        if change > 0 and not passed and (not begins or token.type == "HEAD"):
            passed = depth
        elif change < 0 and depth < passed:
            passed = 0
        elif begins and not passed and token.type in _NAMES and behind in _ENDS:
            yield token.value
        begins = token.type == "COMMA" or change > 0 or token.value == "*"


def _imported(tokens: Sequence[Token], at: int) -> Iterator[PythonBinding]:
    words = [token.value.removesuffix("(") for token in tokens]
    behind = words.index("import") + 1 if "import" in words else len(words)
    module = "".join(words[1 : behind - 1]) if words[0] == "from" else None
    part: list[Token] = []
    for token in (*tokens[behind:], None):
        if token is not None and token.type in ("NAME", "DOTTED", "AS", "OP"):
            part.append(token)
        elif token is None or token.type in ("COMMA", "RPAR"):
            if part:
                yield from _import(part, module, at)
            part = []


def _import(part: Sequence[Token], module: str | None, at: int) -> Iterator[PythonBinding]:
    what, name = part[0].value, part[-1].value
    renamed = any(token.type == "AS" for token in part[:-1])
    if module is not None:
        if what == STAR or part[-1].type == "NAME":
            yield PythonBinding(name, at, None, f"{module}.{what}")
    elif renamed:
        yield PythonBinding(name, at, None, what)
    else:
        top = what.partition(".")[0]
        yield PythonBinding(top, at, None, top)
