"""A divergence: what was seen, how it is told from others, and the folder it is kept in."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from rlx.grammar.node import Record, replace

KINDS = (
    "wrong code",
    "crash",
    "hang",
    "accepted illegal",
    "rejected legal",
    "wrong type",
    "unparsable print",
)
"""What a divergence can be."""


class Finding(Record):
    """One divergence.

    Attributes
    ----------
    kind
        One of :data:`KINDS`.
    oracle
        The oracle that saw it.
    stage
        What was being done: a pass, a comparison.
    cause
        What it is about, without what differs from program to program: findings of one kind, oracle, stage and
        cause are one.
    sentence
        What is seen, with values.
    rule
        The rule that says who is right; empty where no rule is needed (a crash).
    text
        The program.
    seed
        Of the program.
    """

    kind: str
    oracle: str
    stage: str
    cause: str
    sentence: str
    rule: str
    text: str
    seed: int

    @property
    def key(self) -> str:
        """The same for findings that are one."""
        return f"{self.oracle}/{self.kind}/{self.stage}/{self.cause}"

    def like(self, other: Finding) -> bool:
        """Whether two findings are one but for the operators that are named after their cause."""
        return self.key.partition(" with relax.")[0] == other.key.partition(" with relax.")[0]

    def same(self, other: Finding) -> bool:
        """Whether both are an exception with the same words, or another value of one operator.

        Many stages of a compiler call the one that is wrong; and what a stage leaves unwritten for one operator, it does
        for others.
        """
        wrong = self.kind == other.kind == "wrong code"
        if wrong and "written" in self.cause and self.like(other):
            return True
        if self.cause != other.cause:
            return False
        if wrong:
            return (
                self.cause.startswith("another ")
                and " with relax." in self.cause
                and "," not in self.cause
            )
        raised = ("crash", "rejected legal")
        return self.kind in raised and other.kind in raised and "Error" in self.cause

    @property
    def slug(self) -> str:
        """The name of its folder."""
        words = re.sub(r"[^a-z0-9]+", "-", f"{self.stage} {self.cause}".lower()).strip("-")
        mark = hashlib.sha256(self.key.encode()).hexdigest()[:6]
        return f"{self.kind.replace(' ', '-')}-{words[:48].strip('-')}-{mark}"

    def record(self) -> dict[str, object]:
        """As JSON."""
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = ("kind", "oracle", "stage", "cause", "sentence", "rule", "text", "seed")


def from_record(record: dict[str, object]) -> Finding:
    """From what :meth:`Finding.record` made."""
    return Finding(*(record[name] for name in _FIELDS))  # type: ignore[arg-type]


_QUOTED = re.compile(r"""(["'`]).*?\1""")
_NAME = re.compile(r"\b(?:[a-z]|lv|gv|tir|helper|twice|loop|main|te|alloc|test)[a-z_]*\d\w*\b")
_VAR = re.compile(r"\bVar \w+(?= is not defined)")
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
_OPERATOR = re.compile(r"Offending call: .*?\b(R\.[\w.]+)", re.DOTALL)
_VALUES = re.compile(
    r"(?: but (?:received|got|found)|,? however|, given| Mismatch|, got |: \[|: \{|PrimExpr |Offending call|, which |,? when ).*",
    re.IGNORECASE,
)
_LISTS = re.compile(r"[(\[][^()\[\]]*N[^()\[\]]*[)\]]")
_LOAD = re.compile(r"T\.te\.tensor_load\(metadata\[Q\](?:, N)*\)")


GENERIC = (
    "signal",
    "another",
    "Fault",
    "Stuck",
    "IllFormed",
    "no answer",
    "backends",
)
"""How causes begin that say too little: the operators of the program are named after them."""


def with_operators(finding: Finding) -> Finding:
    """The finding with the operators of its program named, where its cause says too little."""
    from rlx.operators.registry import lookup

    if not finding.cause.startswith(GENERIC):
        return finding
    base = finding.cause.partition(" with relax.")[0]
    names = sorted({f"relax.{name}" for name in _CALLED.findall(finding.text)})
    known = [name for name in names if lookup(name) is not None]
    return replace(finding, cause=f"{base} with {', '.join(known[:4])}") if known else finding


_CALLED = re.compile(r"\bR\.([\w.]+)\(")


def cause_of(message: str) -> str:
    """A message without what differs from program to program: numbers, names, lists, values that were met."""
    lines = [line.strip() for line in message.strip().splitlines()]
    line = next((x for x in lines if x and not x.startswith(("|", "-", "^", "#"))), "")
    if "ScheduleError" in message:
        line = "ScheduleError: " + message.rpartition("ScheduleError:")[2].strip().splitlines()[-1]
    offending = _OPERATOR.search(message)
    text = _NUMBER.sub("N", _NAME.sub("N", _VAR.sub("Var N", _QUOTED.sub("Q", line))))
    text = _VALUES.sub("", _LOAD.sub("a load", _LISTS.sub("", text)))
    where = f": {offending[1]}" if offending else ""
    return " ".join(text.split())[:100].rstrip(" .,:") + where


README = """\
# {title}

{sentence}

| | |
|---|---|
| kind | {kind} |
| oracle | `{oracle}` |
| stage | {stage} |
| rule | {rule} |
| seed | {seed} |
"""


NO_RULE = "the program breaks none: `relax-check program.rlx` finds no error"
"""Who is right where a program ends the other side: what is legal must be taken."""


def write(finding: Finding, folder: Path, script: str) -> Path:
    """Keep a finding: the program as `.rlx` and as TVMScript, a test, a sentence.

    Parameters
    ----------
    folder
        Where the findings are; the finding gets a folder of its own there.
    script
        The pytest file.
    """
    home = folder / finding.slug
    home.mkdir(parents=True, exist_ok=True)
    (home / "program.rlx").write_text(finding.text, encoding="utf-8")
    (home / "program.py").write_text(tvmscript(finding.text), encoding="utf-8")
    (home / "test_finding.py").write_text(script, encoding="utf-8")
    title = f"{finding.kind}: {finding.stage}: {finding.cause}"
    page = README.format(
        title=title,
        sentence=finding.sentence,
        kind=finding.kind,
        oracle=finding.oracle,
        stage=finding.stage,
        rule=f"`{finding.rule}`" if finding.rule else NO_RULE,
        seed=finding.seed,
    )
    (home / "README.md").write_text(page, encoding="utf-8")
    (home / "finding.json").write_text(json.dumps(finding.record(), indent=1), encoding="utf-8")
    return home


def read(folder: Path) -> list[Finding]:
    """The findings that a folder keeps."""
    return [
        from_record(json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(folder.glob("*/finding.json"))
    ]


def tvmscript(text: str) -> str:
    """The program as TVM reads it."""
    from rlx.grammar.parser import parse
    from rlx.grammar.printer import print_module

    return print_module(parse(text).modules[0], dialect="0.27")
