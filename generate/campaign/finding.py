"""A divergence: what was seen, how it is told from others, and the folder it is kept in."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from rlx.grammar.node import Node

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


class Finding(Node):
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


_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
_NAME = re.compile(r"\b(?:lv|gv|v|x|p|f|n|m|k)_?N\w*\b")
_QUOTED = re.compile(r"""(["'`]).*?\1""")


def cause_of(message: str) -> str:
    """A message without the numbers and names of one program: its last line, folded."""
    lines = [line.strip() for line in message.strip().splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if not line.startswith(("|", "-", "^"))), "")
    text = _NAME.sub("N", _NUMBER.sub("N", _QUOTED.sub("Q", last)))
    return " ".join(text.split())[:120]


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
        rule=f"`{finding.rule}`" if finding.rule else "none is needed",
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
