"""Texts in which something is other than people write it: tokens, layout, what stands around, single lines in a frame."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from rlx.generate.programs import Options, random_module
from rlx.grammar.dialects import CONSTANT_KEYS, DIALECTS
from rlx.grammar.printer import print_module
from tests.grammar.noise import noisy
from tests.grammar.parse.test_dialects import LISTED, NESTED
from tests.grammar.parse.test_forms import KERNEL, LINES, RELAX, STATEMENTS, TEXTS
from tests.grammar.parse.test_like_python import drawn
from tests.grammar.test_prim_constructs import BODIES
from tests.hostile import sources
from tests.hostile.damage import damaged, damaged_metadata, tokens

VERSIONS = (*DIALECTS, "2022")
PROGRAMS = Path(__file__).parent / "print" / "snapshots"


@cache
def whole() -> list[str]:
    """Whole texts: written ones, those of every version, and those of single constructs."""
    printed = [path.read_text("utf-8") for path in sorted(PROGRAMS.glob("*.rlx"))]
    parts = [part for text in printed for _, part in sources.functions("printed", text)]
    return [*sources.written(), *TEXTS.values(), *printed, *parts]


@cache
def _with_metadata() -> list[str]:
    """Texts with constants outside of them, in both forms that versions have for these."""
    found = [text for text in whole() if "metadata = " in text]
    for graph in (NESTED, LISTED):
        quoted = json.dumps(graph).replace('"', '\\"')
        for key in CONSTANT_KEYS:
            use = f'    c = metadata["{key}"][0]\n    return c\n'
            found.append(
                f'metadata = tvm.ir.load_json("""{quoted}""")\n@R.function\ndef f():\n{use}'
            )
    return found


@cache
def _statements() -> list[str]:
    return [*STATEMENTS.strip().splitlines(), *(body.strip() for body in BODIES.values())]


def spoiled(random: Random) -> str:
    """A text; mostly with something wrong, or at least unusual."""
    match random.randrange(10):
        case 0 | 1 | 2:
            return _framed(RELAX, LINES.strip().splitlines(), random)
        case 3 | 4 | 5:
            return _framed(KERNEL, _statements(), random)
        case 6:
            version = random.choice(VERSIONS)
            text = print_module(random_module(random, Options(4)), version)
        case 7 if random.random() < 0.3:
            text = random.choice(_with_metadata())
            for _ in range(random.choice([0, 1, 1, 2])):
                text = damaged_metadata(text, random)
            return text
        case _:
            text = random.choice(whole())
    for _ in range(random.choice([0, 1, 1, 2])):
        text = random.choice(CHANGES)(text, random)
    return text


SYMBOLS = (
    *("+", "-", "*", "//", "%", "/", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "<<", ">>"),
    *(" and ", " or ", " if n < 3 else ", "**", "@"),
)


def arithmetic(random: Random, leaves: str) -> str:
    """Operators of any kind, one in the other."""
    return drawn(random, random.sample(SYMBOLS, 4), leaves, random.choice([1, 2, 2]))


def _framed(frame: str, lines: list[str], random: Random) -> str:
    """One to three lines in a function; tokens of theirs are damaged."""
    some = [random.choice(lines) for _ in range(random.choice([1, 1, 2, 3]))]
    if random.random() < 0.15:
        some[0] = (
            "C[0] = " + arithmetic(random, "nqv123")
            if frame is KERNEL
            else "y = " + arithmetic(random, "xcnkp2")
        )
    for at, line in enumerate(some):
        if line.strip() and random.random() < 0.6:
            some[at] = damaged(line, tokens(line) or [(0, len(line))], random)
    pad = "\n    "
    made = frame.replace("LINE", pad.join(pad.join(line.splitlines()) for line in some))
    if random.random() < 0.3:
        made = random.choice([*CHANGES, *[_around] * 6])(made, random)
    return made


def _tokens(text: str, random: Random) -> str:
    return damaged(text, tokens(text) or [(0, len(text))], random)


def _indented(text: str, random: Random) -> str:
    """Another indentation of one line, or of all behind it."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    at = random.randrange(len(lines))
    lead = random.choice(["", " ", "  ", "    ", "        ", "\t", "    \t", "\f"])
    if random.random() < 0.3:
        return "".join(lines[:at]) + "".join(lead + line for line in lines[at:])
    bare = lines[at].lstrip() if random.random() < 0.6 else lines[at]
    return "".join([*lines[:at], lead + bare, *lines[at + 1 :]])


def _commented(text: str, random: Random) -> str:
    try:
        return noisy(text, random)
    except Exception:  # noqa: BLE001 - of a damaged text it may not know the lines
        return text


def _lines(text: str, random: Random) -> str:
    """A line lost, doubled, moved, cut, or joined with the next."""
    lines = text.splitlines(keepends=True)
    if len(lines) < 3:
        return text
    at = random.randrange(len(lines) - 1)
    match random.randrange(6):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[at])
        case 2:
            lines.insert(random.randrange(len(lines)), lines.pop(at))
        case 3:
            lines[at] = lines[at].rstrip("\n") + random.choice(["; ", " \\\n", " ", "#\n"])
        case 4:
            lines[at] = lines[at][: random.randrange(len(lines[at]))] + "\n"
        case _:
            return "".join(lines[: at + 1])
    return "".join(lines)


def _pasted(text: str, random: Random) -> str:
    """As it stands on a page, in a console, in a notebook, in a file of another system."""
    lines = text.splitlines(keepends=True)
    match random.randrange(9):
        case 0:
            return "".join(f"{'...' if at else '>>>'} {line}" for at, line in enumerate(lines))
        case 1:
            return "".join(f"{at:4} | {line}" for at, line in enumerate(lines))
        case 2:
            return f"In [3]: {text}".replace("\n", "\n   ...: ")
        case 3:
            return f"Words.\n\n```python\n{text}```\n"
        case 4:
            return text.replace("\n", "\r\n")
        case 5:
            return text.replace("    ", "\t")
        case 6:
            return "\ufeff" + text.rstrip()
        case 7:
            cell = {"cell_type": "code", "source": lines}
            return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}, indent=1)
    return "".join(f"{random.choice(['+', '    ', '1: ', '~~~', '# '])}{line}" for line in lines)


AROUND = (
    *("import numpy as np", "from tvm.script import relax as R", "from tvm.script import ir as I"),
    *(
        "import tvm.script.relax as rx, tvm.script.tirx as T",
        "N, M = 4, 8",
        "n = 4",
        "n = TypeVar('n')",
    ),
    *(
        'm: int = n * 2 if n else "x"',
        "SHAPE = (n, 2 ** 3)",
        'KIND = "float" + "32"',
        "x = y = [1, 2]",
    ),
    *(
        "def helper(a, b=3):\n    c = a\n    return c",
        "class Other:\n    n = 3",
        "for i in range(3): pass",
    ),
    *(
        "with open('f') as f:\n    k = 3",
        "try:\n    import tvm\nexcept ImportError as error:\n    tvm = None",
    ),
    *(
        '"""A text.\n\n    with lines"""',
        "@decorated\ndef g(x):\n    return x",
        "n += 1",
        "del n",
        "print(n)",
    ),
    *(
        "if True:\n    n = 5\nelse:\n    n = 6",
        "n, *rest = [1, 2, 3]",
        "lambda q: q",
        "global n",
        "k = (w := 3)",
    ),
    *(
        "from module import *",
        'n, m = TypeVar("n"), TypeVar("m")',
        "n = T.int64()",
        "return 3",
        "n == 3",
    ),
    *(
        "n = T.var('int64')",
        "(n, m) = 1, 2",
        "n = 'a' 'b'",
        "n = -4 // 3 % 5",
        "n = not 3 > 2",
        "n = None",
    ),
    *(
        'metadata = tvm.ir.load_json("{}")',
        "R = 3",
        "async def f():\n    await g",
        "@R.function",
        "class M:",
    ),
)
"""Lines of Python around a program."""


def _around(text: str, random: Random) -> str:
    """Python in front of the program, behind it, or instead of one of its numbers."""
    for _ in range(random.choice([1, 1, 2])):
        made = random.choice(AROUND) + "\n"
        if random.random() < 0.7:
            text = made + text
        elif random.random() < 0.5:
            text += made
        else:
            lines = text.splitlines(keepends=True)
            lines.insert(random.randint(0, len(lines)), made)
            text = "".join(lines)
    spots = [at for at, letter in enumerate(text) if letter == "4"]
    if spots and random.random() < 0.6:
        at = random.choice(spots)
        text = (
            text[:at]
            + random.choice(["N", "n", "KIND", "np.N", "SHAPE[0]", "k", "m"])
            + text[at + 1 :]
        )
    return text


CHANGES: tuple[Callable[[str, Random], str], ...] = (
    *(_tokens, _tokens, _tokens, _tokens, _indented, _commented, _commented),
    *(_lines, _lines, _pasted, _around, _around),
)
