"""After every edit the server knows what a check of the whole text says.

``python -m tests.lsp.law [COUNT] [SEED]``: so many edits of each text, as people make them and as
accidents do. Prints the first text that breaks the law, and how many edits were answered without a
check of the whole text.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rlx.checker.check import check_text
from rlx.grammar.diagnostic import Diagnostic
from rlx.lsp import body, incremental
from rlx.lsp.incremental import Checker
from tests.hostile.damage import damaged, tokens

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXTS = Path(__file__).parent / "texts"


def texts() -> list[Path]:
    """The edited texts: the examples, and texts whose functions depend on each other in every way."""
    return sorted([*EXAMPLES.glob("*.rlx"), *EXAMPLES.glob("broken/*.rlx"), *TEXTS.iterdir()])


def said(found: tuple[Diagnostic, ...]) -> list[tuple[object, ...]]:
    """All that an editor shows of diagnostics."""
    return sorted(
        (
            d.span or (-1, -1),
            d.code,
            d.severity,
            d.message,
            tuple((r.span, r.message) for r in d.related),
            d.help or "",
            d.edit is not None and (d.edit.span, d.edit.text),
        )
        for d in found
    )


def damage(text: str, rng: random.Random) -> str:
    """One token lost, doubled or exchanged."""
    places = tokens(text)
    return damaged(text, places, rng) if places else text + "\n"


def line_lost(text: str, rng: random.Random) -> str:
    """A line deleted, often one that begins a function."""
    lines = text.splitlines(keepends=True)
    heads = [n for n, line in enumerate(lines) if "def " in line or "@" in line]
    number = rng.choice(heads) if heads and rng.random() < 0.5 else rng.randrange(len(lines) or 1)
    return "".join(lines[:number] + lines[number + 1 :])


def line_copied(text: str, rng: random.Random) -> str:
    """A line of the text inserted at another place."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return "x\n"
    at = rng.randrange(len(lines))
    return "".join([*lines[:at], rng.choice(lines), *lines[at:]])


def typed(text: str, rng: random.Random) -> str:
    """The end of a line not typed yet."""
    lines = text.splitlines(keepends=True)
    number = rng.randrange(len(lines) or 1)
    line = lines[number] if lines else ""
    cut = rng.randrange(len(line) or 1)
    return "".join(lines[:number]) + line[:cut] + "\n" + "".join(lines[number + 1 :])


def line_shifted(text: str, rng: random.Random) -> str:
    """A line with another indentation."""
    lines = text.splitlines(keepends=True) or ["\n"]
    number = rng.randrange(len(lines))
    lines[number] = " " * rng.choice([0, 0, 2, 4, 8, 12]) + lines[number].lstrip(" ")
    return "".join(lines)


def letters(text: str, rng: random.Random) -> str:
    """Some characters put in the place of some others."""
    at = rng.randrange(len(text) + 1)
    made = "".join(rng.choice('abx0 \n().,:="#\\[]é😀') for _ in range(rng.randrange(4)))
    return text[:at] + made + text[at + rng.randrange(4) :]


def name_used(text: str, rng: random.Random) -> str:
    """Another name of the text in the place of one."""
    import re

    found = list(re.finditer(r"\b[a-z]\w*", text))
    if not found:
        return text
    place, other = rng.choice(found), rng.choice(found)[0]
    return text[: place.start()] + other + text[place.end() :]


def number_changed(text: str, rng: random.Random) -> str:
    """Another number in the place of one."""
    import re

    found = list(re.finditer(r"\b\d+\b", text)) or list(re.finditer("$", text))
    place = rng.choice(found)
    return text[: place.start()] + str(rng.randrange(9)) + text[place.end() :]


def block_moved(text: str, rng: random.Random) -> str:
    """Some lines copied, or taken to another place."""
    lines = text.splitlines(keepends=True)
    start = rng.randrange(len(lines) or 1)
    end = min(len(lines), start + rng.randrange(1, 16))
    block = lines[start:end]
    rest = lines if rng.random() < 0.5 else lines[:start] + lines[end:]
    at = rng.randrange(len(rest) + 1)
    return "".join(rest[:at] + block + rest[at:])


def name_changed(text: str, rng: random.Random) -> str:
    """One function or its calls under another name."""
    import re

    names = sorted(set(re.findall(r"def (\w+)", text))) or ["main"]
    name = rng.choice(names)
    other = rng.choice([f"{name}2", rng.choice(names), name[:-1] or "q"])
    return re.sub(rf"\b{name}\b", other, text, count=rng.choice([0, 1]))


EDITS: list[Callable[[str, random.Random], str]] = [
    *(damage, damage, line_lost, line_copied, typed, letters, block_moved, name_changed),
    *(name_used, name_used, number_changed, line_shifted, line_shifted),
]


def session(path: Path, count: int, seed: int) -> Iterator[bool]:
    """Edits of one text; for each whether all of it was checked."""
    rng = random.Random(f"{seed} {path.name}")
    legal = text = path.read_text("utf-8")
    checker = Checker(str(path).removesuffix(".txt"))
    checker.check(text)
    for _ in range(count):
        edited = rng.choice(EDITS)(text, rng)
        yield _obeys(checker, text, edited)
        if rng.random() < 0.35:
            text = edited
        else:
            text, before = (legal if rng.random() < 0.15 else text), edited
            yield _obeys(checker, before, text)


def _obeys(checker: Checker, before: str, text: str) -> bool:
    """Check a version of a text; whether all of it was."""
    whole = checker.full
    found, wanted = checker.check(text), check_text(text, checker.path).diagnostics
    if said(found) != said(wanted):
        raise AssertionError(_difference(checker.path, before, text, found, wanted))
    return checker.full > whole


def _difference(
    path: str,
    text: str,
    edited: str,
    found: tuple[Diagnostic, ...],
    wanted: tuple[Diagnostic, ...],
) -> str:
    import difflib

    edit = "".join(difflib.unified_diff(text.splitlines(True), edited.splitlines(True), n=2))
    ours, theirs = said(found), said(wanted)
    wrong = [f"- {each}" for each in ours if each not in theirs]
    lost = [f"+ {each}" for each in theirs if each not in ours]
    return "\n".join([f"{path}:", edit, "said, and to be said:", *wrong, *lost])


def main(count: int = 100, seed: int = 0) -> None:
    """Make the edits."""
    # so that the shortest text is checked in parts
    vars(incremental).update(SMALL=0, PART=2.0)
    body.FEW, body.MOST = 0, 2.0
    made = whole = 0
    for path in texts():
        try:
            for full in session(path, count, seed):
                made += 1
                whole += full
        except AssertionError as error:
            print(error)
            raise SystemExit(1) from None
    print(f"{made} edits, {whole} of them answered by a check of the whole text")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
