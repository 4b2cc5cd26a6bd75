"""Messages for syntax errors: the expected and the actual token."""

from __future__ import annotations

import re
from collections.abc import Collection

from rlx.grammar.lines import line_start
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import END, Token
from rlx.grammar.read.lexer import PUNCTUATION
from rlx.grammar.suggest import closest, did_you_mean
from rlx.grammar.wording import shortened

_LAYOUT = {
    "_NEWLINE": "the end of the line",
    "_INDENT": "an indented block",
    "_DEDENT": "the end of the block",
    END: "the end of the text",
}
_SPELLED = {name: f"'{spelling}'" for spelling, name in PUNCTUATION.items()}
_WORDS = {
    **_LAYOUT,
    **_SPELLED,
    "ARROW": "'->'",
    "DEF": "a function definition",
    "STRING": "a string",
}
_EXPRESSION = {"NAME", "HEAD", "INT"}
_OPERATOR = {"OP", "SIGN"}
_HIDDEN = {
    *("DOTTED", "FLOAT", "INFO", "INTS", "OPAQUE", "STRING", "TARGET", "AUGMENTED"),
    *("NOT", "TILDE", "LBRACE", "OP", "SIGN", "AT", "IF", "DOT", "NAME", "HEAD", "INT"),
}
_STATEMENT = {"RETURN", "PASS", "IF", "WITH"}


def explain_unexpected(token: Token, expected: frozenset[str]) -> tuple[str, str | None]:
    """A sentence for an unexpected token, and a hint if there is a clear one."""
    if token.type == "DEF" and expected >= _STATEMENT:
        name = token.value.split()[-1]
        return (
            f"the function {name!r} has no decorator",
            "write @R.function or @T.prim_func above it",
        )
    if token.type == "TARGET" and {"NAME", "RPAR"} <= expected and "INT" not in expected:
        return (
            f"the parameter {token.value!r} has no annotation",
            "write one, and no value, since every call gives all arguments",
        )
    found = _found(token)
    wanted = _wanted(expected)
    message = f"expected {wanted}, found {found}" if wanted else f"unexpected {found}"
    return message, _hint(token, expected)


_STATEMENTS = re.compile(
    r"\s*(async|del|except|finally|from|global|import|match|nonlocal|raise|try|yield)\b(?!\s*[=.(\[,])"
)


def python_statement(text: str, at: int) -> tuple[str, Span] | None:
    """The message for a statement of Python that TVM does not read, and the place of its word; None
    for any other.
    """
    if text.startswith(":=", at):
        return "TVM does not read `:=`", (at, at + 2)
    found = _STATEMENTS.match(text, line_start(text, at), at)
    return found and (f"TVM does not read `{found[1]}` statements", found.span(1))


_FIRST_WORD = re.compile(r"[ \t]*([a-z]{2,})[ \t]*[\w:]")
_KEYWORDS = ("return", "with", "if", "else", "def", "class", "while", "for", "assert")


def misspelt_keyword(
    text: str, at: int, known: Collection[str] = _KEYWORDS
) -> tuple[str, Span, str] | None:
    """A message if the first word of the line at an offset is no keyword, but similar to one: its
    place, and help.
    """
    found = _FIRST_WORD.match(text, line_start(text, at))
    if found is None or found[1] in known:
        return None
    help = did_you_mean(closest(found[1], known), "`")
    return None if help is None else (f"unknown statement `{found[1]}`", found.span(1), help)


def _found(token: Token) -> str:
    if token.type in _LAYOUT:
        return _LAYOUT[token.type]
    value = f"{token.value} =" if token.type == "TARGET" else token.value
    return f"'{shortened(value, 40)}'"


def _wanted(expected: frozenset[str]) -> str:
    if expected >= _STATEMENT:
        return "a statement"
    words: list[str] = []
    if expected >= _EXPRESSION:
        words.append("an expression")
    elif "NAME" in expected:
        words.append("a name")
    rest = expected - _HIDDEN
    if "_NEWLINE" in rest and len(rest) > 1 and not words:
        rest &= {"_NEWLINE", "RPAR", "RSQB", "COMMA", "EQUAL", "COLON"}
    brackets = rest & {"LPAR", "LSQB"}
    # Spellings come before descriptions.
    words += sorted(map(_word, rest - brackets), key=lambda word: (word[0] != "'", word))
    if not words and expected >= _OPERATOR:
        words.append("an operator")
    if not words:
        words += sorted(map(_word, brackets))
    if len(words) > 5:
        words = [*words[:4], "…"]
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _word(terminal: str) -> str:
    return _WORDS.get(terminal, f"'{terminal.lower()}'")


def _hint(token: Token, expected: frozenset[str]) -> str | None:
    kind = token.type
    if kind in ("_NEWLINE", "_INDENT") and "RPAR" in expected:
        return "a bracket is not closed"
    if kind == "_NEWLINE" and "COLON" in expected and "_NEWLINE" not in expected:
        return "end the line with ':' to start a block"
    if kind == "IF":
        return "Relax has no conditional expression: write an `if` statement with two branches"
    if kind == "FOR":
        return "Relax has no comprehension: write the values one by one"
    if kind == "EQUAL" and "_NEWLINE" in expected:
        return "write == to compare"
    return None
