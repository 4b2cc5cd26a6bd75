"""Reads the rules out of `spec/*.md`: a heading is a rule, its paragraphs say the rest."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
NOT_RULES = frozenset(["ledger.md"])

_HEADING = re.compile(r"^## ([A-Z]+\d*(?:-[a-z][a-z-]*)?) (.+)$")
_PREMISE = re.compile(r"^- `([\w-]+)`: ")
_ENTRY = re.compile(r"^## (\d+) (.+)$")


class Rule:
    """A clause of the specification.

    Attributes
    ----------
    identifier, title, file
        The heading and the file it stands in.
    statement, why
        What holds, and the reason.
    premises
        Sentences by their code.
    source
        Where it comes from.
    ledger
        The numbers of the ledger's entries it follows.
    tvm
        Where TVM does otherwise.
    """

    __slots__ = (
        *("file", "identifier", "ledger", "premises", "source"),
        *("statement", "title", "tvm", "why"),
    )

    def __init__(self, identifier: str, title: str, file: str, lines: list[str]) -> None:
        self.identifier = identifier
        self.title = title
        self.file = file
        parts = _paragraphs(lines)
        self.statement = parts[""]
        self.why = parts.get("Why", "")
        self.source = parts.get("Source", "")
        self.tvm = parts.get("TVM", "")
        self.ledger = tuple(int(n) for n in re.findall(r"\d+", parts.get("Ledger", "")))
        self.premises = _premises(lines)

    @property
    def clause(self) -> str:
        """The hash that a registration names: of the statement and the premises, white space folded."""
        demanded = [self.statement, *(f"{code}: {text}" for code, text in self.premises.items())]
        folded = " ".join(" ".join(demanded).split())
        return hashlib.sha256(folded.encode()).hexdigest()[:8]


class Entry:
    """An entry of the ledger: a place where the specification contradicts itself.

    Attributes
    ----------
    number, title
        The heading.
    text
        What is wrong, and the rule that holds instead.
    witnesses
        The names of the tests that show why the letter can't stand.
    """

    __slots__ = ("number", "text", "title", "witnesses")

    def __init__(self, number: int, title: str, lines: list[str]) -> None:
        self.number = number
        self.title = title
        parts = _paragraphs(lines)
        self.text = parts[""]
        self.witnesses = tuple(re.findall(r"`(test_\w+)`", parts.get("Witness", "")))


@cache
def rules() -> dict[str, Rule]:
    """All rules by their id, in the order of files and headings.

    Raises
    ------
    ValueError
        If two headings have the same id.
    """
    found: dict[str, Rule] = {}
    for path in sorted(FOLDER.glob("*.md")):
        if path.name in NOT_RULES:
            continue
        for (identifier, title), lines in _sections(path, _HEADING):
            if identifier in found:
                raise ValueError(f"{path.name}: a second heading {identifier}")
            found[identifier] = Rule(identifier, title, path.name, lines)
    return found


@cache
def ledger() -> dict[int, Entry]:
    """The entries of the ledger by number."""
    path = FOLDER / "ledger.md"
    return {
        int(number): Entry(int(number), title, lines)
        for (number, title), lines in _sections(path, _ENTRY)
    }


def premise_rule(code: str) -> Rule | None:
    """The rule that a diagnostic's code belongs to: its own heading, or the one with that premise."""
    known = rules()
    if code in known:
        return known[code]
    return next((rule for rule in known.values() if code in rule.premises), None)


def _sections(path: Path, heading: re.Pattern[str]) -> list[tuple[tuple[str, str], list[str]]]:
    found: list[tuple[tuple[str, str], list[str]]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := heading.match(line):
            found.append(((match[1], match[2]), []))
        elif line.startswith("#"):
            # Another heading ends the section; what follows it belongs to no rule.
            found.append((("", ""), []))
        elif found:
            found[-1][1].append(line)
    return [item for item in found if item[0][0]]


def _paragraphs(lines: list[str]) -> dict[str, str]:
    """Text by its label (``Why``, ``Source``…); the statement, which has none, under ``""``."""
    found: dict[str, list[str]] = {"": []}
    label = ""
    for line in lines:
        if match := re.match(r"(Why|Premises|Source|Ledger|Witness|TVM):\s*", line):
            label = match[1]
            line = line[match.end() :]
        found.setdefault(label, []).append(line)
    return {key: " ".join(" ".join(value).split()) for key, value in found.items()}


def _premises(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    code = ""
    for line in lines:
        if match := _PREMISE.match(line):
            code = match[1]
            found[code] = line[match.end() :].strip()
        elif code and line.startswith("  "):
            found[code] += " " + line.strip()
        else:
            code = ""
    return found
