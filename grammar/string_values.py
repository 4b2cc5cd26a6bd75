"""What a string literal says."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:([\\'\"abfnrtv\n])|([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"
)
_SIMPLE = dict(zip("\\'\"abfnrtv\n", "\\'\"\a\b\f\n\r\t\v", strict=False)) | {"\n": ""}
_BYTES = re.compile(r"(?:\\x[89a-fA-F][0-9a-fA-F])+")


def unquote(text: str) -> str:
    """The value of a string literal;
    `\\x` escapes that spell UTF-8 bytes are joined to characters.
    """
    prefix = text[: len(text) - len(text.lstrip("rRbBuUfF"))].lower()
    body = text[len(prefix) :]
    body = body[3:-3] if body[:3] in ('"""', "'''") else body[1:-1]
    if "r" in prefix or "\\" not in body:
        return body
    body = _BYTES.sub(_decode_bytes, body)
    return _ESCAPE.sub(_unescape, body)


def _decode_bytes(match: re.Match[str]) -> str:
    try:
        return bytes.fromhex(match[0].replace("\\x", "")).decode("utf-8")
    except UnicodeDecodeError:
        return match[0]


def _unescape(match: re.Match[str]) -> str:
    simple, octal, *hexadecimal = match.groups()
    if simple is not None:
        return _SIMPLE[simple]
    if octal is not None:
        return chr(int(octal, 8))
    code = int(next(h for h in hexadecimal if h is not None), 16)
    return chr(code) if code < 0x110000 else "\ufffd"
