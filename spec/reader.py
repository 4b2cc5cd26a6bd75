"""Reads the rules out of `spec/*.md`: a heading is a rule, its paragraphs say the rest."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rlx.spec.judgements import judgement_of

FOLDER = Path(__file__).parent
NOT_RULES = frozenset(["README.md", "ledger.md"])

_HEADING = re.compile(r"^## ([A-Z]+\d*(?:-[a-z][a-z-]*)?) (.+)$")
_CONSTRUCTS = re.compile(r" \((`\w+`(?:, `\w+`)*)\)$")
_PREMISE = re.compile(r"^- `([\w-]+)`: ")
_ENTRY = re.compile(r"^## (\d+) (.+)$")
_LABEL = re.compile(r"^([A-Z]+\d*(?:-[a-z][a-z_-]*)+): ")
_BAR = re.compile(r"^-{3,}$")
_TARGET = re.compile(r"^\[[\w-]+\]: \S+$")
_VERDICTS = {"good": True, "bad": False}
_LINK = re.compile(r"\[([^\]]+)\](?:\[[^\]]*\]|\([^)]*\))")


class Inference(NamedTuple):
    """The rule as an inference: premises over a bar, the conclusion under it.

    Attributes
    ----------
    premises
        Pairs of label and text, in order. The label is the code that is reported where the premise
        fails; it is empty where the premise names a value, or has rules of its own.
    conclusion
        What holds if all premises do.
    judgement
        The name of the judgement that the conclusion has the form of (:mod:`rlx.spec.judgements`);
        empty if of none.
    """

    premises: tuple[tuple[str, str], ...]
    conclusion: str
    judgement: str

    @property
    def labels(self) -> tuple[str, ...]:
        """The codes of the premises that can fail, in order."""
        return tuple(label for label, _ in self.premises if label)


class Example(NamedTuple):
    """A program beside a rule.

    Attributes
    ----------
    kind
        What is done with it: ``"relax"``, ``"run"``, ``"tree"`` or ``"order"`` (`spec/README.md`).
    good
        Whether it keeps the rule.
    codes
        What is reported where it does not.
    text
        The program.
    """

    kind: str
    good: bool
    codes: tuple[str, ...]
    text: str


class Rule:
    """A clause of the specification.

    Attributes
    ----------
    identifier, title, file
        The heading, without its constructs, and the file it stands in.
    constructs
        The constructs of the abstract syntax that the heading names.
    statement, why
        What holds, and the reason.
    premises
        Sentences by their code.
    block
        The rule as an inference; None where the chapter has none yet.
    examples
        The programs beside the rule.
    source
        Where it comes from, without the addresses of links.
    ledger
        The numbers of the ledger's entries it follows.
    tvm
        Where TVM does otherwise.
    """

    __slots__ = (
        *("block", "constructs", "examples", "file", "identifier", "ledger", "premises", "source"),
        *("statement", "title", "tvm", "why"),
    )

    def __init__(self, identifier: str, title: str, file: str, lines: list[str]) -> None:
        self.identifier = identifier
        named = _CONSTRUCTS.search(title)
        self.title = _CONSTRUCTS.sub("", title)
        self.constructs = tuple(re.findall(r"\w+", named.group())) if named else ()
        self.file = file
        lines, fences = _without_fences(lines)
        blocks: list[Inference] = []
        examples: list[Example] = []
        for head, text in fences:
            match head:
                case ["rule"]:
                    blocks.append(inference(text))
                case [kind, verdict, *codes] if verdict in _VERDICTS:
                    program = "\n".join([*text, ""])
                    examples.append(Example(kind, _VERDICTS[verdict], tuple(codes), program))
        if len(blocks) > 1:
            raise ValueError(f"{file}: {identifier} has {len(blocks)} blocks")
        self.block = blocks[0] if blocks else None
        self.examples = tuple(examples)
        parts = _paragraphs(lines)
        self.statement = parts[""]
        self.why = parts.get("Why", "")
        self.source = _LINK.sub(r"\1", parts.get("Source", ""))
        self.tvm = parts.get("TVM", "")
        self.ledger = tuple(int(n) for n in re.findall(r"\d+", parts.get("Ledger", "")))
        self.premises = _premises(lines)

    @property
    def page(self) -> str:
        """The name of the chapter's page, without a suffix: ``old-types`` for `old/types.md`."""
        return self.file.removesuffix(".md").replace("/", "-")


def inference(lines: list[str]) -> Inference:
    """Read the lines of a rule's block.

    Raises
    ------
    ValueError
        If there is not one bar, or no conclusion under it.
    """
    parts: list[list[str]] = [[]]
    for line in lines:
        if _BAR.match(line):
            parts.append([])
        else:
            parts[-1].append(line)
    if len(parts) != 2:
        raise ValueError(f"a block has one bar, this one {len(parts) - 1}: {lines}")
    above, below = map(_joined, parts)
    if len(below) != 1:
        raise ValueError(f"a block has one conclusion, this one {len(below)}: {lines}")
    premises: list[tuple[str, str]] = []
    for line in above:
        labelled = _LABEL.match(line)
        label = labelled.group(1) if labelled else ""
        premises.append((label, line.removeprefix(f"{label}: ").strip()))
    return Inference(tuple(premises), below[0], judgement_of(below[0]))


def _joined(lines: list[str]) -> list[str]:
    """Join each line with the indented lines that continue it."""
    found: list[list[str]] = []
    for line in lines:
        if line.startswith(" ") and found:
            found[-1].append(line.strip())
        elif line.strip():
            found.append([line.strip()])
    return [" ".join(parts) for parts in found]


def _without_fences(lines: list[str]) -> tuple[list[str], list[tuple[list[str], list[str]]]]:
    """The lines outside of fenced blocks, without the targets of links; of each block the words of
    its head, and its lines.
    """
    outside: list[str] = []
    fences: list[tuple[list[str], list[str]]] = []
    inside = False
    text: list[str] = []
    for line in lines:
        if line.startswith("```"):
            inside = not inside
            if inside:
                text = []
                fences.append((line.removeprefix("```").split(), text))
        elif inside:
            text.append(line)
        elif not _TARGET.match(line):
            outside.append(line)
    return outside, fences


class LedgerEntry:
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


def chapters() -> list[Path]:
    """The files of the specification; those of the older one are in a folder."""
    return [*sorted(FOLDER.glob("*.md")), *sorted(FOLDER.glob("old/*.md"))]


@cache
def rules() -> dict[str, Rule]:
    """All rules by their id, in the order of files and headings.

    Raises
    ------
    ValueError
        If two headings have the same id.
    """
    found: dict[str, Rule] = {}
    for path in chapters():
        if path.name in NOT_RULES:
            continue
        for (identifier, title), lines in _sections(path, _HEADING):
            if identifier in found:
                raise ValueError(f"{path.name}: a second heading {identifier}")
            file = path.relative_to(FOLDER).as_posix()
            found[identifier] = Rule(identifier, title, file, lines)
    return found


@cache
def ledger() -> dict[int, LedgerEntry]:
    """The entries of the ledger by number."""
    path = FOLDER / "ledger.md"
    return {
        int(number): LedgerEntry(int(number), title, lines)
        for (number, title), lines in _sections(path, _ENTRY)
    }


def premise_rule(code: str) -> Rule | None:
    """The rule that a diagnostic's code belongs to: its own heading, or the one with that
    premise.
    """
    return _rules_of_codes().get(code)


@cache
def _rules_of_codes() -> dict[str, Rule]:
    known = rules()
    return {code: rule for rule in known.values() for code in rule.premises} | known


def _sections(path: Path, heading: re.Pattern[str]) -> list[tuple[tuple[str, str], list[str]]]:
    found: list[tuple[tuple[str, str], list[str]]] = []
    text: list[str] = []
    fenced = False
    for line in path.read_text(encoding="utf-8").splitlines():
        fenced ^= line.startswith("```")
        if fenced or not line.startswith("#"):
            text.append(line)
            continue
        # Another heading ends the section, too; the text after it belongs to no rule.
        text = []
        if match := heading.match(line):
            name, title = match.groups()
            found.append(((name, title), text))
    return found


def _paragraphs(lines: list[str]) -> dict[str, str]:
    """Text by its label (``Why``, ``Source``…); the statement, which has none, under ``""``."""
    found: dict[str, list[str]] = {}
    text = found.setdefault("", [])
    for line in lines:
        if match := re.match(r"(Why|Premises|Source|Ledger|Witness|TVM):\s*", line):
            text = found.setdefault(match.group(1), [])
            line = line[match.end() :]
        text.append(line)
    return {key: " ".join(" ".join(value).split()) for key, value in found.items()}


def _premises(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    text: list[str] = []
    for line in lines:
        if match := _PREMISE.match(line):
            text = found[match.group(1)] = [line[match.end() :].strip()]
        elif line.startswith("  "):
            text.append(line.strip())
        else:
            text = []
    return {code: " ".join(parts) for code, parts in found.items()}
