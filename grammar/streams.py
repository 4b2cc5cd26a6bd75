"""The only place that writes to standard output and standard error.

A program, a file name or an error of the system may contain characters that steer a terminal, and
lines that a service of continuous integration obeys. :func:`say` and :func:`complain` print text
for people and show both escaped. :func:`write_data` prints JSON and other formats for programs,
which have escapes of their own. :func:`write_program` prints programs.
"""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import suppress
from typing import Any, TextIO

HIDDEN = (
    *((0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F)),  # control characters
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x600, 0x605), (0x61C, 0x61C), (0x6DD, 0x6DD)),
    *((0x70F, 0x70F), (0x890, 0x891), (0x8E2, 0x8E2), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F)),  # zero width, marks of direction
    *((0x2028, 0x202E), (0x2060, 0x206F)),  # separators of lines, overrides and isolates
    *((0x3164, 0x3164), (0xD800, 0xDFFF), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB)),
    *((0x110BD, 0x110BD), (0x110CD, 0x110CD), (0x13430, 0x1343F), (0x1BCA0, 0x1BCA3)),
    *((0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),  # tags, and selectors of variants
)
"""First and last characters of the ranges that are shown escaped.

They are the control characters except tab and newline, the format characters, the lone surrogates,
the separators of lines and paragraphs, and what Unicode lets programs ignore (invisible letters).
The sixteen selectors of emoji and text variants stay, because ordinary emoji contain them.
"""

_CLASS = "".join(f"{re.escape(chr(a))}-{re.escape(chr(b))}" for a, b in HIDDEN)
_HIDDEN = re.compile(f"[{_CLASS}]")
_HIDDEN_IN_LINE = re.compile(f"[\n{_CLASS}]")
_NAMED = {"\n": "\\n", "\r": "\\r"}

_MARK = f"\x1b{os.urandom(12).hex()}"
"""How :func:`own` begins. A program cannot contain it, because each process draws another one."""

CARRIAGE_RETURN, CLEAR_LINE, CLEAR, HOME = "\r", "K", "2J", "H"
"""Control sequences that commands themselves send to a terminal, through :func:`own`."""

_OWN = re.compile(f"{_MARK}(?P<code>\r|[0-9;]*[A-Za-z])")

_GITHUB = re.compile(r"^(?P<indent>[^\S\n]*)::", re.MULTILINE)
"""A workflow command of GitHub: the runner skips white space in front of it."""

_BRACKETED = re.compile(r"(?<=#)#(?=[\w.]*\[)")
"""A command of Azure Pipelines, TeamCity or an older runner of GitHub, anywhere in a line:
``##vso[``, ``##[error]``, ``##teamcity[``.
"""


def escaped(character: str) -> str:
    r"""Python's ASCII escape of a character: ``\x1b``, ``\u202e``, ``\U000e0041``."""
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape(found: re.Match[str]) -> str:
    return escaped(found[0])


def visible(text: str) -> str:
    """The text in one line, with nothing hidden in it."""
    if text.isascii() and text.isprintable() and "##" not in text:
        return text
    return unbracketed(_HIDDEN_IN_LINE.sub(_escape, text))


def unbracketed(text: str) -> str:
    r"""The text with ``#\x23vso[`` for ``##vso[``, which means the same in a literal."""
    return _BRACKETED.sub(r"\\x23", text) if "##" in text else text


def json_compact(record: Any) -> str:
    """JSON without spaces, with letters as they are."""
    return json_text(record, separators=(",", ":"), letters=True)


def fenced(language: str, text: str) -> str:
    """A block of code in Markdown, which nothing in the text can end."""
    longest = max(map(len, re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def code_span(text: str) -> str:
    """Code inside of a line of Markdown, which nothing in the text can end."""
    inside = visible(text)
    marks = "`" * (1 + max(map(len, re.findall("`+", inside)), default=0))
    room = " " if inside.startswith("`") or inside.endswith("`") else ""
    return f"{marks}{room}{inside}{room}{marks}"


_LINKED = re.compile(r"(?<!\\)\[(?=[^\[\]]*\]\()")


def without_links(text: str) -> str:
    r"""The text for SARIF or Markdown, where ``\[words](address)`` is not a link."""
    return _LINKED.sub(r"\\[", text)


def inline_markdown(text: str) -> str:
    """The text in one line of Markdown, without links and HTML."""
    return without_links(visible(text)).replace("<", "&lt;")


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends; unlike `str.splitlines`, only a newline ends a line."""
    return list(io.StringIO(text))


def own(code: str) -> str:
    """A control sequence of ours, such as ``1;31m``, that :func:`harmless` lets through."""
    return f"{_MARK}{code}"


def without_own(text: str) -> str:
    """The text without our control sequences."""
    return _OWN.sub("", text)


def harmless(text: str) -> str:
    """Several lines as they are printed for people.

    Hidden characters are shown escaped, our control sequences become real ones, and no line is a
    command to a service that reads the log.
    """
    return _harmless(text, _HIDDEN)


def _harmless(text: str, hidden: re.Pattern[str]) -> str:
    pieces = _OWN.split(text)  # every second piece is the code of a sequence of ours
    for at, piece in enumerate(pieces):
        if at % 2 == 0:
            pieces[at] = hidden.sub(_escape, unbracketed(piece))
        else:
            pieces[at] = piece if piece == CARRIAGE_RETURN else f"\x1b[{piece}"
    made = "".join(pieces)
    return _GITHUB.sub(r"\g<indent>:\\x3a", made) if "::" in made else made


class HarmlessStream(io.TextIOBase):
    """Standard error while a command runs: whatever others print there (warnings, logs, tracebacks)
    is made harmless.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Print text of others."""
        return self.stream.write(harmless(text))

    def flush(self) -> None:
        self.stream.flush()

    def isatty(self) -> bool:
        """Whether people read it."""
        return self.stream.isatty()

    def fileno(self) -> int:
        """The file that the stream writes to."""
        return self.stream.fileno()

    def writable(self) -> bool:
        """Whether it can be written to."""
        return True


def _stderr() -> TextIO:
    """Standard error as it was: what is written to it from here is harmless already."""
    return sys.stderr.stream if isinstance(sys.stderr, HarmlessStream) else sys.stderr


def say(text: str) -> None:
    """Print text for people."""
    sys.stdout.write(harmless(text))


def complain(text: str) -> None:
    """Print text for people on standard error."""
    _complain(harmless(text))


def _complain(text: str) -> None:
    """Write to standard error. Text that it cannot take (a full disk) is lost, without another exit
    status.
    """
    with suppress(OSError):
        _stderr().write(text)


def say_line(text: str) -> None:
    """Print one line for people, whatever it contains."""
    sys.stdout.write(f"{_harmless(text, _HIDDEN_IN_LINE)}\n")


def complain_line(text: str) -> None:
    """Print one line for people on standard error, whatever it contains."""
    _complain(f"{_harmless(text, _HIDDEN_IN_LINE)}\n")


def write_data(text: str) -> None:
    """Print JSON, SARIF or workflow commands, which have been made harmless by their own rules."""
    sys.stdout.write(text)


def write_program(text: str, exactly: bool = False) -> None:
    """Print a program that reads back as the same program.

    The printer escapes what is hidden in literals. What is left are comments, which are shown
    escaped, and identifiers with invisible letters, which a terminal shows escaped.

    Parameters
    ----------
    exactly
        Whether comments stay as they are in a file or a pipe: for what formats or mends a text.
    """
    if sys.stdout.isatty():
        say(text)
    else:
        sys.stdout.write(text if exactly else _with_visible_comments(text))


_COMMENTED = re.compile(
    r"""^((?:[^"'#\n]|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')*)(#.*)$""", re.MULTILINE
)


def _with_visible_comments(text: str) -> str:
    if "##" not in text and not _HIDDEN.search(text):
        return text
    return _COMMENTED.sub(lambda found: found[1] + visible(found[2]), text)


def json_text(
    record: Any,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    letters: bool = False,
) -> str:
    """JSON that reads back as the same record, with nothing hidden in it.

    A lone surrogate is written as ``\\udcff`` and read back as the same lone surrogate. The command
    lines of services are broken by an escape that JSON reads back as ``#``.

    Parameters
    ----------
    letters
        Whether letters outside of ASCII stay as they are.
    """
    import json

    text = json.dumps(record, indent=indent, separators=separators, ensure_ascii=not letters)
    if letters:
        text = _HIDDEN.sub(_json_escape, text)  # JSON itself has newlines between its lines
    text = text.replace("\x7f", "\\u007f")
    return _BRACKETED.sub(r"\\u0023", text) if "##" in text else text


def _json_escape(found: re.Match[str]) -> str:
    import json

    return json.dumps(found[0])[1:-1]


def preformatted(text: str) -> str:
    from html import escape  # its table of names takes a millisecond

    return f'<pre style="font-family: monospace; line-height: 1.35">{escape(harmless(text.rstrip()))}</pre>'
