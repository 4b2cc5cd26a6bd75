"""Damage as tools, merges and careless people make it: :data:`KINDS` has each kind, by its name.

A kind takes a text, another text to borrow from, and a random source, and returns the damaged text, or bytes where the damage
is none that text can show. :mod:`tests.hostile.damage` has the accidents with one token.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

from rlx.grammar.read.outline import metadata_span
from rlx.operators.registry import every_name

from .damage import Place, damaged, damaged_metadata
from .damage import tokens as tokens_of_relax
from .words import (
    ATTRIBUTES,
    DTYPES,
    EXTENTS,
    LOOKALIKES,
    NAMES,
    NESTS,
    NUMBERS,
    ODD,
    PAYLOADS,
    SAID,
    STRINGS,
)

Kind = Callable[[str, str, random.Random], str | bytes]

OPENING, CLOSING = "([{", ")]}"


def tokens(text: str) -> list[Place]:
    """The words, numbers, strings and signs of a text in any language; metadata is no text."""
    found: list[Place] = []
    held = metadata_span(text) or (len(text), len(text))
    at = 0
    while at < len(text):
        if held[0] <= at < held[1]:
            at = held[1]
            continue
        end = _end_of_token(text, at)
        if not text[at].isspace():
            found.append((at, end))
        at = end
    return found


def _end_of_token(text: str, at: int) -> int:
    first, end = text[at], at + 1
    if first in "\"'":
        line = text.find("\n", at)
        close = text.find(first, end, line if line >= 0 else len(text))
        return close + 1 if close >= 0 else end
    if first.isalnum() or first == "_":
        more = "_." if first.isdigit() else "_"
        while end < len(text) and (text[end].isalnum() or text[end] in more):
            end += 1
    return end


def _put(text: str, place: Place, made: str) -> str:
    return text[: place[0]] + made + text[place[1] :]


def _one(text: str, rng: random.Random, fits: Callable[[str], bool]) -> Place | None:
    """A token that fits, at random."""
    found = [place for place in tokens(text) if fits(text[place[0] : place[1]])]
    return rng.choice(found) if found else None


def _instead(fits: Callable[[str], bool], made: tuple[str, ...]) -> Kind:
    """Puts one of some texts in the place of a token that fits."""

    def kind(text: str, other: str, rng: random.Random) -> str:
        place = _one(text, rng, fits)
        return text if place is None else _put(text, place, rng.choice(made))

    return kind


def _is_number(token: str) -> bool:
    return token[:1].isdigit()


def _is_string(token: str) -> bool:
    return token[:1] in ('"', "'")


def _is_dtype(token: str) -> bool:
    return _is_string(token) and token.strip("\"'").rstrip("0123456789x_emfn").isalpha()


def _is_name(token: str) -> bool:
    return token.isidentifier()


def dtype(text: str, other: str, rng: random.Random) -> str:
    """The name of another element type."""
    place = _one(text, rng, _is_dtype)
    return text if place is None else _put(text, place, f'"{rng.choice(DTYPES)}"')


def token_of_another(text: str, other: str, rng: random.Random) -> str:
    """A token of another file in the place of one of this."""
    place, theirs = _one(text, rng, bool), _one(other, rng, bool)
    return text if place is None or theirs is None else _put(text, place, other[slice(*theirs)])


def tokens_of_another(text: str, other: str, rng: random.Random) -> str:
    """A run of tokens of another file in the place of a run of this."""
    ours, theirs = tokens(text), tokens(other)
    if not ours or not theirs:
        return text
    i, j = rng.randrange(len(ours)), rng.randrange(len(theirs))
    end = ours[min(len(ours) - 1, i + rng.randrange(6))][1]
    piece = other[theirs[j][0] : theirs[min(len(theirs) - 1, j + rng.randrange(12))][1]]
    return text[: ours[i][0]] + piece + text[end:]


def lines_changed(text: str, other: str, rng: random.Random) -> str:
    """A line or a few lost, doubled, moved, or taken from another file."""
    lines = text.splitlines(keepends=True) or ["\n"]
    at, length = rng.randrange(len(lines)), rng.choice((1, 1, 1, 2, 5))
    block = lines[at : at + length]
    match rng.randrange(4):
        case 0:
            lines[at : at + length] = []
        case 1:
            lines[at:at] = block
        case 2:
            lines[at : at + length] = []
            to = rng.randrange(len(lines) + 1)
            lines[to:to] = block
        case _:
            theirs = other.splitlines(keepends=True) or ["\n"]
            lines[at : at + length] = [rng.choice(theirs)]
    return "".join(lines)


def lines_exchanged(text: str, other: str, rng: random.Random) -> str:
    """Two statements of one block in the other order."""
    lines = text.splitlines(keepends=True)
    depth = [len(line) - len(line.lstrip()) for line in lines]
    pairs = [i for i, (a, b) in enumerate(pairwise(depth)) if a == b and lines[i].strip()]
    if not pairs:
        return text
    at = rng.choice(pairs)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    return "".join(lines)


def bracket_moved(text: str, other: str, rng: random.Random) -> str:
    """A bracket a few tokens further, or another kind of it."""
    place = _one(text, rng, lambda token: token in (*OPENING, *CLOSING))
    if place is None:
        return text
    bracket = text[slice(*place)]
    if rng.random() < 0.3:
        return _put(text, place, rng.choice(OPENING + CLOSING))
    ends = [end for _, end in tokens(text)]
    near = [end for end in ends if abs(end - place[0]) < 60]
    to = rng.choice(near)
    if to <= place[0]:
        return text[:to] + bracket + text[to : place[0]] + text[place[1] :]
    return text[: place[0]] + text[place[1] : to] + bracket + text[to:]


def indentation(text: str, other: str, rng: random.Random) -> str:
    """Some lines with more or less blanks in front of them, or with tabs."""
    lines = text.splitlines(keepends=True) or ["\n"]
    at = rng.randrange(len(lines))
    end = at + rng.choice((1, 1, 3, len(lines)))
    way = rng.randrange(4)
    for k in range(at, min(end, len(lines))):
        if way == 0:
            lines[k] = " " * rng.choice((1, 4)) + lines[k]
        elif way == 1:
            lines[k] = lines[k].removeprefix(" " * rng.choice((1, 4)))
        elif way == 2:
            lines[k] = lines[k].replace("    ", "\t")
        else:
            lines[k] = lines[k].lstrip(" ")
    return "".join(lines)


def merged(text: str, other: str, rng: random.Random) -> str:
    """The functions of another module at the end of this one, which repeats what they are called."""
    start = other.find("class ")
    body = other[other.find("\n", start) + 1 :] if start >= 0 else other
    if rng.random() < 0.5:
        return f"{text.rstrip()}\n\n{body}"
    at = text.find("\n    @")
    return text + body if at < 0 else f"{text[: at + 1]}{body.rstrip()}\n\n{text[at + 1 :]}"


def names_exchanged(text: str, other: str, rng: random.Random) -> str:
    """Two names of a text exchanged, wherever they stand."""
    found = [place for place in tokens(text) if _is_name(text[slice(*place)])]
    if not found:
        return text
    one, two = (text[slice(*rng.choice(found))] for _ in range(2))
    made, at = [], 0
    for start, end in found:
        name = text[start:end]
        made += [text[at:start], two if name == one else one if name == two else name]
        at = end
    return "".join(made) + text[at:]


def global_exchanged(text: str, other: str, rng: random.Random) -> str:
    """A function that another is called in the place of, itself perhaps: calls go in circles."""
    lines = text.splitlines()
    names = [w.partition("(")[0][4:] for line in lines if (w := line.strip()).startswith("def ")]
    calls = [
        one[0]
        for one, two in pairwise(tokens(text))
        if text[slice(*two)] == "(" and text[one[0] - 1 : one[0]] in (".", "@")
    ]
    if not names or not calls:
        return text
    start = end = rng.choice(calls)
    while text[start - 1 : start] and (text[start - 1].isalnum() or text[start - 1] in "._@"):
        start -= 1
    while text[end] != "(":
        end += 1
    return f"{text[:start]}cls.{rng.choice(names)}{text[end:]}"


def decorator(text: str, other: str, rng: random.Random) -> str:
    """A decorator lost, doubled, or another one."""
    lines = text.splitlines(keepends=True)
    found = [k for k, line in enumerate(lines) if line.lstrip().startswith("@")]
    if not found:
        return text
    at = rng.choice(found)
    blanks = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    others = ("@R.function", "@T.prim_func", "@I.ir_module", "@staticmethod", "@R.macro", "@x.y(1)")
    made = (
        "",
        lines[at] * 2,
        f"{blanks}{rng.choice(others)}\n",
        f"{blanks}@R.function(pure=False, private=True)\n",
    )
    lines[at] = rng.choice(made)
    return "".join(lines)


def line_ends(text: str, other: str, rng: random.Random) -> str | bytes:
    """The line ends of other systems, some of them, a byte order mark, another encoding."""
    match rng.randrange(6):
        case 0:
            return text.replace("\n", "\r\n")
        case 1:
            return text.replace("\n", "\r")
        case 2:
            return "\ufeff" + text
        case 3:
            lines = text.split("\n")
            return "".join(line + rng.choice(("\n", "\r\n", "\r")) for line in lines)
        case 4:
            return text.encode(rng.choice(("utf-16", "utf-16-le", "latin-1", "utf-32")), "replace")
    return text.replace("\n", rng.choice(("\x0c\n", " \n", "\\\n", "\n\n", ";\n", "\u2028")))


def lookalikes(text: str, other: str, rng: random.Random) -> str:
    """A character in the place of one that looks like it."""
    found = [k for k, letter in enumerate(text) if letter in LOOKALIKES]
    if not found:
        return text
    at = rng.choice(found)
    return text[:at] + LOOKALIKES[text[at]] + text[at + 1 :]


def odd_character(text: str, other: str, rng: random.Random) -> str:
    """A character that no program has."""
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(ODD) + text[at:]


def long_line(text: str, other: str, rng: random.Random) -> str:
    """A token repeated until its line is very long."""
    place = _one(text, rng, bool)
    if place is None:
        return text
    token = text[slice(*place)]
    times = rng.choice((50, 1000, 20_000 // max(1, len(token))))
    return _put(text, place, rng.choice(("", " ", ", ", " + ")).join([token] * times))


def nested(text: str, other: str, rng: random.Random) -> str:
    """A token in many brackets, calls, or behind many signs."""
    place = _one(text, rng, lambda token: _is_name(token) or _is_number(token))
    if place is None:
        return text
    opening, closing = rng.choice(NESTS)
    times = rng.choice((2, 10, 90, 300, 600, 3000))
    return _put(text, place, opening * times + text[slice(*place)] + closing * times)


def _arguments(text: str, rng: random.Random) -> tuple[int, list[str], int] | None:
    """The start of a call's arguments, the arguments, and their end."""
    found = tokens(text)
    calls = [
        k
        for k, (one, two) in enumerate(pairwise(found))
        if text[slice(*two)] == "(" and _is_name(text[slice(*one)])
    ]
    if not calls:
        return None
    first = rng.choice(calls) + 2
    depth, begin, parts = 0, found[first - 1][1], []
    start = begin
    for place in found[first:]:
        token = text[slice(*place)]
        if depth == 0 and token in (",", ")"):
            parts.append(text[start : place[0]].strip())
            start = place[1]
            if token == ")":
                return begin, parts, place[0]
        depth += token in OPENING
        depth -= token in CLOSING
    return None


def arguments(text: str, other: str, rng: random.Random) -> str:
    """Arguments of a call exchanged, lost, doubled, or one more that it does not take."""
    call = _arguments(text, rng)
    if call is None:
        return text
    begin, parts, end = call
    i, j = rng.randrange(len(parts)), rng.randrange(len(parts))
    match rng.randrange(4):
        case 0:
            parts[i], parts[j] = parts[j], parts[i]
        case 1:
            del parts[i]
        case 2:
            parts.insert(j, parts[i])
        case _:
            parts.append(rng.choice(ATTRIBUTES))
    return text[:begin] + ", ".join(part for part in parts if part) + text[end:]


def operator(text: str, other: str, rng: random.Random) -> str:
    """Another operator's name."""
    starts = [at for at, _ in tokens(text) if text.startswith("R.", at)]
    if not starts:
        return text
    start = end = rng.choice(starts)
    while end < len(text) and (text[end].isalnum() or text[end] in "._"):
        end += 1
    return f"{text[:start]}R.{rng.choice(sorted(every_name()))}{text[end:]}"


def cut(text: str, other: str, rng: random.Random) -> str:
    """The beginning of a file, or its end."""
    at = rng.randrange(len(text) + 1)
    return text[:at] if rng.random() < 0.8 else text[at:]


def concatenated(text: str, other: str, rng: random.Random) -> str:
    """Two files in one, or one twice."""
    between = rng.choice(("", "\n", "\n\n", "\f", "\n----\n"))
    return text + between + (other if rng.random() < 0.6 else text)


def bytes_changed(text: str, other: str, rng: random.Random) -> bytes:
    """Bytes changed, lost or doubled."""
    made = bytearray(text.encode("utf-8", "surrogatepass") or b"\n")
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(made))
        match rng.randrange(3):
            case 0:
                made[at] = rng.randrange(256)
            case 1:
                made[at : at + rng.choice((1, 8))] = b""
            case _:
                made[at:at] = made[at : at + 16]
        made = made or bytearray(b"\n")
    return bytes(made)


def comment(text: str, other: str, rng: random.Random) -> str:
    """A comment where it says, or seems to say, something to the checker."""
    lines = text.splitlines(keepends=True) or ["\n"]
    at = rng.randrange(len(lines))
    lines[at] = f"{lines[at].rstrip()}  # {rng.choice(SAID)}\n"
    return "".join(lines)


def renamed(text: str, other: str, rng: random.Random) -> str:
    """A name everywhere replaced by one that means something else, or nothing."""
    place = _one(text, rng, _is_name)
    if place is None:
        return text
    old = text[slice(*place)]
    new = rng.choice(NAMES)
    made, at = [], 0
    for start, end in tokens(text):
        if text[start:end] == old:
            made += [text[at:start], new]
            at = end
    return "".join(made) + text[at:]


KINDS: dict[str, Kind] = {
    "a token": lambda text, other, rng: damaged(text, tokens_of_relax(text), rng) if text else text,
    "metadata": lambda text, other, rng: damaged_metadata(text, rng),
    "a number": _instead(_is_number, NUMBERS),
    "an extent": _instead(lambda token: _is_number(token) or token in ("n", "m"), EXTENTS),
    "a string": _instead(_is_string, STRINGS),
    "code": _instead(lambda token: not token.isspace(), PAYLOADS),
    "an element type": dtype,
    "a token of another file": token_of_another,
    "tokens of another file": tokens_of_another,
    "lines": lines_changed,
    "lines exchanged": lines_exchanged,
    "a bracket": bracket_moved,
    "indentation": indentation,
    "modules merged": merged,
    "names exchanged": names_exchanged,
    "a function exchanged": global_exchanged,
    "a name": renamed,
    "a decorator": decorator,
    "line ends": line_ends,
    "look-alikes": lookalikes,
    "an odd character": odd_character,
    "a long line": long_line,
    "nesting": nested,
    "arguments": arguments,
    "an operator": operator,
    "cut": cut,
    "concatenated": concatenated,
    "bytes": bytes_changed,
    "a comment": comment,
}


def broken(text: str, other: str, rng: random.Random) -> tuple[str, bytes]:
    """The text with one to three damages; their kinds, and the bytes of the file."""
    names: list[str] = []
    made: str | bytes = text
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3))):
        if isinstance(made, str):
            names.append(rng.choice(list(KINDS)))
            made = KINDS[names[-1]](made, other, rng)
    data = made.encode("utf-8", "surrogatepass") if isinstance(made, str) else made
    return ", ".join(names), data
