"""Tokens of a stretch of text, for edits; words in strings and comments are not tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest

from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Token, token, unquote
from rlx.grammar.read.lexer import OPENING, Lexer, words_of

_NAMED = frozenset(["NAME", "DOTTED", "HEAD", "INFO", "TARGET"])
_WHOLE = frozenset(["INFO", "OPAQUE"])
_VALUES = frozenset(["STRING", "INT", "FLOAT", "INTS"])
IMPORTS = frozenset(["import", "from"])
_OF_PYTHON = IMPORTS | {"global", "nonlocal", "del", "raise", "break", "continue"}
_OF_PYTHON |= {"try", "except", "finally", "async"}
_ALONE = frozenset(["HEAD", "RETURN", "ASSERT", "STRING", "PASS", "INT", "FLOAT"])
_ALONE |= {"FOR", "WHILE", "IF", "ELIF", "ELSE", "WITH"}
"""The first tokens of statements that bind no name."""
_LAMBDA = "lambda"


def statements(text: str, span: Span) -> Iterator[list[Token]]:
    """The tokens of a stretch of text, grouped by statement."""
    found: list[Token] = []
    for each in Lexer(text, *span, _ignore):
        if each.start < each.end:  # neither layout nor a `pass` under a head alone
            found.append(each)
        elif found:
            yield found
            found = []


def parts_of(text: str, span: Span) -> Iterator[Token]:
    """The tokens of a stretch of text; annotations and lambdas, which are one token each for the
    lexer, taken apart.
    """
    for found in words_of(text, span):
        if found.type not in _WHOLE:
            yield found
            continue
        head = _LAMBDA if found.value.startswith(_LAMBDA) else found.value.partition("(")[0]
        at = found.start + len(head)
        if head == _LAMBDA:
            yield token("LAMBDA", head, found.start, at)
        elif at == found.end:
            yield token("DOTTED", head, found.start, at)
        else:
            at += 1
            yield token("HEAD", f"{head}(", found.start, at)
        yield from parts_of(text, (at, found.end))


def on_one_line(text: str, span: Span) -> str:
    """A stretch of text between brackets without its line breaks, comments, and the commas in front
    of a closing bracket that a broken line has.
    """
    if "\n" not in text[slice(*span)]:
        return text[slice(*span)]
    shown, at, fields = "", span[0], [0]
    for found in parts_of(text, span):
        broken = "\n" in text[at : found.start]
        opens = OPENING.get(found.type, 0)
        if opens < 0 and broken:
            shown = shown.removesuffix(",") if fields[-1] > 0 else shown
        elif broken:
            shown += "" if shown.endswith(("(", "[", "{")) else " "
        else:
            shown += text[at : found.start]
        if found.type == "COMMA":
            fields[-1] += 1
        elif opens > 0:  # the comma of a tuple of one field is no such comma
            fields.append(-1 if found.type == "LPAR" else 0)
        elif opens < 0:
            del fields[max(1, len(fields) - 1) :]
        shown, at = shown + found.value, found.end
    return shown


def words_in(text: str, span: Span) -> Iterator[str]:
    """The words in a stretch of text, those of dotted names apart, keywords included."""
    for found in parts_of(text, span):
        if found.type == "DEF" or found.value == "is not":
            yield from found.value.replace("\\", " ").split()
        elif found.type not in _VALUES:
            word = found.value.removesuffix("(")
            yield from (part for part in word.split(".") if part.isidentifier())


def names_in(text: str, span: Span) -> Iterator[str]:
    """The names in a stretch of text, with dotted names as one."""
    for found in words_of(text, span):
        if found.type in _NAMED:
            yield found.value.partition("(")[0].rstrip(" \t=")


@lru_cache(maxsize=2)
def long_strings(text: str) -> tuple[Span, ...]:
    """The strings of a text that span several lines: what they hold is no line of the program."""
    if '"""' not in text and "'''" not in text and "\\\n" not in text:
        return ()
    tokens = words_of(text, (0, len(text)))
    return tuple(t.span for t in tokens if t.type == "STRING" and "\n" in t.value)


_OPENS = {"HEAD": "(", "LPAR": "(", "LSQB": "[", "LBRACE": "{"}
_CLOSES = {"RPAR": "(", "RSQB": "[", "RBRACE": "{"}
"""The kind of bracket that a token opens or closes."""


def end_of_target(text: str, statement: Sequence[Token]) -> int | None:
    """The end of the `=` of a statement if the bound name is certain, whatever follows: no second
    sign says that the end of a line is missing.
    """
    kinds = [token.type for token in statement]
    signs = [
        token.end
        for number, token in enumerate(statement)
        if token.type in ("EQUAL", "TARGET") and (number == 0 or _stands_apart(text, token.end))
    ]
    first = next((at for at, kind in enumerate(kinds) if kind in ("TARGET", "COLON")), 0)
    only_names = {"NAME", "COMMA", "OP"}.issuperset(kinds[:first]) and kinds[:1] != ["COMMA"]
    binds = (kinds[:1] == ["TARGET"] or first > 0) and only_names
    one = len(signs) == 1 or {*kinds[: len(signs)]} == {"TARGET"}  # `a = b = …`
    return signs[0] if binds and one else None


def binds_nothing(statement: Sequence[Token]) -> bool:
    """Whether a statement is one that binds no name, such as a call alone."""
    kinds = [token.type for token in statement]
    first = kinds[0] in _ALONE or statement[0].value in _OF_PYTHON
    behind = kinds[:-1] if kinds[-1] == "COLON" else kinds
    return (first and {"EQUAL", "COLON"}.isdisjoint(behind)) or "AUGMENTED" in kinds


def lacks_its_head(statement: Sequence[Token]) -> bool:
    """Whether the word in front of a value may be missing: its bracket is closed, but not opened."""
    behind = (t.type for t in statement[1:] if t.type in ("HEAD", "NAME", "LPAR", "LSQB"))
    if statement[0].type == "TARGET" and next(behind, "") == "HEAD":
        return False
    return closes_too_much(statement)


def closes_too_much(statement: Sequence[Token]) -> bool:
    """Whether a statement closes a bracket that it does not open."""
    opened = Counter(_OPENS[token.type] for token in statement if token.type in _OPENS)
    closed = Counter(_CLOSES[token.type] for token in statement if token.type in _CLOSES)
    return bool(closed - opened)


def _stands_apart(text: str, end: int) -> bool:
    """Whether the sign that ends here has a space on both sides."""
    return text.endswith(" =", None, end) and text.startswith(" ", end)


def closing(tokens: Sequence[Token], at: int) -> int | None:
    """The index of the token that closes an opening bracket; None if it is not closed."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += OPENING.get(tokens[place].type, 0)
        if depth == 0:
            return place
    return None


def _ignore(message: str, start: int, end: int) -> None:
    """Ignore a character that begins no token: it is reported when the text is read."""


def identifiers_in(text: str, span: Span) -> Iterator[str]:
    """The names in a text, quoted ones and those inside of annotations included."""
    for part in parts_of(text, span):
        word = unquote(part.value) if part.type == "STRING" else part.value
        if part.type in ("NAME", "STRING") and word.isidentifier():
            yield word


def parameters_in(text: str, span: Span) -> tuple[list[Token], bool]:
    """The names of parameters in a part of the head of a function, where it has a mistake: those in
    front of a `:`, of an annotation, or of a comma; and whether one may be missing.
    """
    depth, before, names, missing = 0, "COMMA", [], False
    found = list(parts_of(text, span))
    for part, after in zip_longest(found, found[1:]):
        kind = part.type
        if kind == "ARROW":
            break
        depth += OPENING.get(kind, 0)
        first = depth == 0 and before == "COMMA"
        annotated = after is not None and (
            after.type == "COLON" or after.value.startswith(("R.", "T."))
        )
        if (kind == "NAME" and (first or annotated)) or (kind == "TARGET" and first):
            names.append(part)
        is_bracket = after is not None and after.type == "LPAR"  # `def f: (x: …`
        missing = missing or (kind == "COLON" and first and not is_bracket)
        before = kind
    return names, missing
