"""A divergence found by a campaign: the observation, and the cause that distinguishes it."""

from __future__ import annotations

import re

from rlx.grammar.nodes.node import Record


class Finding(Record):
    """One divergence.

    Attributes
    ----------
    kind
        One of :data:`rlx.generate.campaign.finding_file.KINDS`.
    oracle
        The oracle that saw it.
    stage
        What was being done: a pass, a comparison.
    cause
        What it is about, without what differs from program to program.
    sentence
        What is seen, with values.
    rule
        The rule that says who is right; empty where no rule is needed (a crash).
    text
        The program.
    seed
        Of the program.
    trait
        What is special about the input, where a value differs: `empty`, `NaN`, `element type`, …
    """

    kind: str
    oracle: str
    stage: str
    cause: str
    sentence: str
    rule: str
    text: str
    seed: int
    trait: str = ""

    @property
    def key(self) -> str:
        """The cause as a campaign names it: stage, rule, what is seen, the trait of the input, and
        operators where the rest says too little.
        """
        about = " ".join(part for part in (self.rule, self.cause) if part)
        return f"{self.kind}/{self.stage}/{about}{f' ({self.trait})' if self.trait else ''}"

    @property
    def says_little(self) -> bool:
        """Whether the cause tells an effect alone (another value, a signal), so that the operators
        have to tell the rest.
        """
        return self.cause.startswith(GENERIC)

    def like(self, other: Finding) -> bool:
        """Whether two findings are one but for the operators that are named after their cause."""
        return replaced(self) == replaced(other)

    def same(self, other: Finding) -> bool:
        """Whether two findings have one cause.

        Many stages of a compiler call the one that is wrong, so an exception with the same words is
        one cause whatever the stage. An effect is one cause where its trait is the same and one
        operator is left.
        """
        if self.says_little or other.says_little:
            one = self.cause == other.cause and self.trait == other.trait
            return one and "," not in self.cause and family(self.stage) == family(other.stage)
        if self.kind == "wrong-code" or other.kind == "wrong-code":
            return self.key == other.key
        if "Error" in self.cause or "Error" in other.cause:
            return self.cause == other.cause
        return self.key == other.key

    def record(self) -> dict[str, object]:
        """As JSON."""
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = ("kind", "oracle", "stage", "cause", "sentence", "rule", "text", "seed", "trait")


def from_record(record: dict[str, object]) -> Finding:
    """From what :meth:`Finding.record` made. Raises KeyError or TypeError if it is something else."""
    values = [record[name] for name in _FIELDS]
    for name, value in zip(_FIELDS, values, strict=True):
        if not isinstance(value, int if name == "seed" else str):
            raise TypeError(f"the {name} of a finding is {type(value).__name__}")
    return Finding(*values)  # type: ignore[arg-type]


def replaced(finding: Finding) -> str:
    """The key without operators."""
    return finding.key.replace(finding.cause, _plain(finding))


def _plain(finding: Finding) -> str:
    """The cause without operators."""
    plain, _, _ = finding.cause.partition(" with R.")
    return plain


LOWERING = ("LegalizeOps", "FoldConstant", "build", "virtual machine")
"""Stages at which operators become code: what is wrong with one is seen at each."""


_COMPARISONS = {
    "TVM reads what TVM printed": "printer",
    "we read what TVM printed": "printer",
    "comparison of types": "derivation",
}


def part(stage: str) -> str:
    """The part of the compiler that a stage looks at: a pass, its parser, printer, derivation,
    build, …
    """
    name = stage.removesuffix(", run").removeprefix("TVM's ")
    return _COMPARISONS.get(name, name)


def family(stage: str) -> str:
    """The family of a part: itself, or `lowering` for all at which operators become code."""
    return "lowering" if part(stage) in LOWERING else part(stage)


_QUOTED = re.compile(r"""(["'`]).*?\1""")
_NAME = re.compile(r"\b(?:[a-z]|lv|gv|tir|helper|twice|loop|main|te|alloc|test)[a-z_]*\d\w*\b")
_VAR = re.compile(r"\bVar \w+(?= is not defined)")
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
_OPERATOR = re.compile(r"Offending call: .*?\b(R\.[\w.]+)", re.DOTALL)
_VALUES = re.compile(
    r"(?: but (?:received|got|found)|,? however|, given| Mismatch|, got |: \[|: \{|PrimExpr"
    r" |Offending call|, which |,? when ).*",
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
    "TVMRefused",
    "no answer",
    "backends",
)
"""How causes begin that say too little: the operators of the program are named after them."""

MAKERS = {"R.ones", "R.zeros", "R.full", "R.const", "R.shape", "R.Tensor", "R.Shape", "R.function"}
"""Operators that make an operand of nothing; one is the cause only where nothing else is called."""


def operators_of(text: str) -> list[str]:
    """The operators that a program calls, as `R.nn.relu`, without those that only make operands."""
    from rlx.operators.registry import lookup

    found = sorted({name for name in _CALLED.findall(text) if lookup(f"relax.{name}") is not None})
    called = [f"R.{name}" for name in found]
    return [name for name in called if name not in MAKERS] or called


def with_operators(finding: Finding) -> Finding:
    """The finding with the operators of its program named, where its cause says too little."""
    from rlx.grammar.nodes.node import replace

    if not finding.says_little:
        return finding
    names = operators_of(finding.text)
    return (
        replace(finding, cause=f"{_plain(finding)} with {', '.join(names[:4])}")
        if names
        else finding
    )


_CALLED = re.compile(r"\bR\.([\w.]+)\(")


def cause_of(message: str) -> str:
    """A message without what differs from program to program: numbers, names, lists, values that
    were met.
    """
    lines = [line.strip() for line in message.strip().splitlines()]
    line = next((x for x in lines if x and not x.startswith(("|", "-", "^", "#"))), "")
    if "ScheduleError" in message:
        line = "ScheduleError: " + message.rpartition("ScheduleError:")[2].strip().splitlines()[-1]
    offending = _OPERATOR.search(message)
    text = _NUMBER.sub("N", _NAME.sub("N", _VAR.sub("Var N", _QUOTED.sub("Q", line))))
    text = _VALUES.sub("", _LOAD.sub("a load", _LISTS.sub("", text)))
    where = f": {offending[1]}" if offending else ""
    return " ".join(text.split())[:100].rstrip(" .,:") + where
