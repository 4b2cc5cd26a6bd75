"""The text file of a new finding, undecided until a person decides it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rlx.generate.campaign.finding import Finding, operators_of, part
from rlx.generate.campaign.finding_file import ASK, OWN, FindingFile
from rlx.generate.campaign.peer import BEFORE, PASSES, version

UNDECIDED = "Undecided: get a third opinion (NumPy in float64, another path of TVM, the document)."

SHOULD = {
    "wrong-code": "By the rule the value stays the same.",
    "crash": "The program is legal and is accepted.",
    "hang": "The program ends, or the tool reports why not.",
    "accepts-illegal": "The program violates the rule and is rejected.",
    "refuses-legal": "The program is legal and is accepted.",
    "not-supported": "The program is legal and is accepted.",
    "wrong-type": "The type obeys the rule.",
    "prints-wrong": "The printed program parses back to the same program.",
    OWN: "The oracle finds nothing.",
}

_NAME_LENGTH = 70
_NO_RULE = {"prints-wrong": "D01", "hang": "E-fuel", OWN: "none"}


def draft(finding: Finding) -> FindingFile:
    """The file of a finding. Raises KeyError if the finding is of a kind that no file has."""
    operators = ", ".join(operators_of(finding.text)) or "none"
    error = "" if finding.kind == OWN else _error(finding)
    signal = finding.cause.split()[1] if finding.cause.startswith("signal ") else ""
    return FindingFile(
        kind=finding.kind,
        name=_name(finding),
        program=finding.text,
        happens=finding.sentence,
        should=SHOULD[OWN] if finding.kind == OWN else f"{SHOULD[finding.kind]} {UNDECIDED}",
        rule=finding.rule or _NO_RULE.get(finding.kind, "E-operator"),
        stage=part(finding.stage),
        operator=operators,
        trait=finding.trait or "any",
        tvm=version(),
        see="; ".join(_steps(finding)),
        error=error,
        signal=signal,
        also="" if error or signal or finding.says_little else finding.cause,
        judge="" if error else f"rlx {finding.oracle} {finding.seed} {finding.stage}",
    )


def _name(finding: Finding) -> str:
    """Stage, operator and trait where the cause says little, else the words of the message."""
    operators = "-".join(name.removeprefix("R.") for name in operators_of(finding.text)[:2])
    about = f"{operators} {finding.trait} {finding.cause.partition(' with R.')[0]}"
    words = about if finding.says_little else finding.cause
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", f"{part(finding.stage)} {words}")
    return plain[:_NAME_LENGTH].strip("-")


_EXCEPTION = re.compile(r"^(?:\w+: )?\w*(?:Error|Exception): (?P<said>.*)", re.DOTALL)
_DIFFERS = re.compile(r"\b\w*\d\w*\b|([\"'`]).*?\1")
_ENOUGH = 20
"""Fewer letters than that are no cause."""


def _error(finding: Finding) -> str:
    """The words of an exception, with `…` for what differs from program to program; empty if there
    was none.
    """
    said = _EXCEPTION.match(finding.sentence)
    words, enough = said["said"] if said is not None else "", _ENOUGH
    if finding.cause.startswith("ill-formed: "):
        words, enough = finding.sentence.partition(" rejects: ")[2], 0
    kept = re.sub(r"\s*…[\s…]*", " … ", _DIFFERS.sub("…", words))[:200].strip(" …")
    return kept if sum(map(str.isalpha, kept)) > enough else ""


def _steps(finding: Finding) -> Sequence[str]:
    if finding.kind == OWN:
        return (ASK,)
    stage = part(finding.stage)
    if stage in PASSES:
        after = ("check",) if finding.cause.startswith("ill-formed: ") else ()
        return ("read", "check", *BEFORE.get(stage, ()), stage, *after)
    steps = {
        "parser": ("read",),
        "derivation": ("read",),
        "printer": ("read", "print", "reread"),
        "build": ("read", "check", "build"),
        "virtual machine": ("read", "check", "build"),
    }
    return steps.get(stage, ("read", "check"))
