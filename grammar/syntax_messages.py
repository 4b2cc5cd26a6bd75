"""A syntax error in words: what was expected where, and what stood there."""

from __future__ import annotations

from rlx.grammar.lexer import Token

_WORDS = {
    "NEWLINE": "the end of the line",
    "INDENT": "an indented block",
    "DEDENT": "the end of the block",
    "END": "the end of the text",
    "ARROW": "'->'",
    "DEF": "a function definition",
    "STRING": "a string",
}
_EXPRESSION = {"NAME", "HEAD", "INT"}
_OPERATOR = {"OP", "SIGN"}
_HIDDEN = {
    *(
        "DOTTED",
        "FLOAT",
        "INFO",
        "INTS",
        "OPAQUE",
        "STRING",
        "TARGET",
        "AUGMENTED",
        "NOT",
        "~",
        "{",
    ),
    *("OP", "SIGN", "NAME", "HEAD", "INT"),
}
_STATEMENT = {"RETURN", "PASS", "IF", "WITH"}


def explain_unexpected(token: Token, expected: frozenset[str]) -> tuple[str, str | None]:
    """A sentence for a token that can't stand where it does, and a hint where one is clear."""
    if token[0] == "DEF" and expected >= _STATEMENT:
        name = token[1][3:].strip()
        return (
            f"the function {name!r} has no decorator",
            "write @R.function or @T.prim_func above it",
        )
    found = _found(token)
    wanted = _wanted(expected)
    message = f"expected {wanted}, found {found}" if wanted else f"unexpected {found}"
    return message, _hint(token, expected)


def _found(token: Token) -> str:
    kind, value, _, _ = token
    if kind in ("NEWLINE", "INDENT", "DEDENT", "END"):
        return _WORDS[kind]
    if kind == "TARGET":
        value += " ="
    shown = value if len(value) <= 40 else value[:37] + "…"
    return f"'{shown}'"


def _wanted(expected: frozenset[str]) -> str:
    if expected >= _STATEMENT:
        return "a statement"
    words: list[str] = []
    if expected >= _EXPRESSION:
        words.append("an expression")
    elif "NAME" in expected:
        words.append("a name")
    rest = sorted(expected - _HIDDEN)
    if "NEWLINE" in rest and len(rest) > 1 and not words:
        rest = [r for r in rest if r in ("NEWLINE", ")", "]", ",", "=", ":")]
    words.extend(_WORDS.get(kind, f"'{kind.lower()}'") for kind in rest if kind not in ("(", "["))
    if not words and expected >= _OPERATOR:
        words.append("an operator")
    if (not words and "[" in expected) or (not words and "(" in expected):
        words.extend(f"'{k}'" for k in sorted(expected & {"(", "["}))
    if len(words) > 5:
        words = [*words[:4], "…"]
    return (
        words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1] if words else ""
    )


def _hint(token: Token, expected: frozenset[str]) -> str | None:
    kind = token[0]
    if kind in ("NEWLINE", "INDENT") and ")" in expected:
        return "a bracket is not closed"
    if kind == "NEWLINE" and ":" in expected and "NEWLINE" not in expected:
        return "a block starts with ':' at the end of the line"
    if kind == "=" and "NEWLINE" in expected:
        return "to compare, write =="
    return None
