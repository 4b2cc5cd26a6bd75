"""The table of known causes, made from the kept findings. A finding is new if no cause in it
matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rlx.generate.campaign.finding import Finding, family, operators_of, part
from rlx.generate.campaign.finding_file import FindingFile
from rlx.generate.campaign.oracles.traits import ELEMENT_TYPE, KIND

# ---------------------------------------------------------------- texts of messages

_ANY = re.compile(r"…(\d?)")


def says(words: str, text: str) -> bool:
    """Whether a text contains the words, of which `…` stands for any; `…1` stands for the same
    words wherever it is, and so do `…2` to `…9`.
    """
    plain = _ANY.split(" ".join(words.split()))
    pattern, known = re.escape(plain[0]), set[str]()
    for number, after in zip(plain[1::2], plain[2::2], strict=True):
        if number in known:
            pattern += f"(?P=same{number})"
        elif number:
            pattern += f"(?P<same{number}>.*?)"
            known.add(number)
        else:
            pattern += ".*?"
        pattern += re.escape(after)
    return re.search(pattern, " ".join(text.split())) is not None


BOTH_WAYS = ("accepts-illegal", "wrong-type", "by-choice")
"""Kinds of what TVM accepts: one that is accepted against a rule is known by the rule."""


def explanation(
    finding: Finding, table: Iterable[FindingFile], *, minimal: bool = False
) -> FindingFile | None:
    """The known finding that is the cause of one that was met; None if it is new.

    Parameters
    ----------
    minimal
        Whether the program has nothing that the finding does without: then an operator whose value
        has another type than its variable is the cause of whatever fails after it. With an
        argument in its place nothing failed.
    """
    operators = frozenset(_constructs(finding.text))
    known = list(table)
    found = next((entry for entry in known if _explains(entry, finding, operators)), None)
    if found is None and minimal:
        found = next((e for e in known if _fails_later(e, finding, operators)), None)
    return found


def _fails_later(entry: FindingFile, finding: Finding, operators: frozenset[str]) -> bool:
    """Whether a minimal program fails, or computes another value, behind an operator whose value is
    known to be of another type.
    """
    ran = finding.kind == "wrong-code" and part(finding.stage) == "virtual machine"
    if not (ran or finding.kind in _FAILURES) or family(finding.stage) != "lowering":
        return False
    typed = entry.kind == "wrong-code" and entry.trait in (ELEMENT_TYPE, KIND)
    own = operators.intersection(entry.operators)
    return typed and bool(own) and operators > own


_FAILURES = ("crash", "refuses-legal", "not-supported")


def _constructs(text: str) -> list[str]:
    """The constructs of a program, in the words of :attr:`FindingFile.operator`."""
    found = operators_of(text)
    found += ["if"] if re.search(r"^\s+if ", text, re.MULTILINE) else []
    found += ["function"] if re.search(r"^\s{8,}def ", text, re.MULTILINE) else []
    return found


def _explains(entry: FindingFile, finding: Finding, operators: frozenset[str]) -> bool:
    said = f"{finding.stage}: {finding.rule} {finding.cause}: {finding.sentence}"
    elsewhere = any(says(words, said) for words in entry.also.split("|") if words.strip())
    if finding.says_little:
        return _same_effect(entry, finding, operators, elsewhere)
    if elsewhere or _refused_later(entry, finding, operators):
        return True
    if finding.kind == "accepts-illegal":
        return entry.kind in BOTH_WAYS and entry.rule == finding.rule
    if not entry.error or entry.later or not says(entry.error, finding.sentence):
        return False
    # An ill-formed module is the fault of the pass that made it; an exception may come through any
    # of them.
    made = finding.kind == "wrong-code" or entry.kind == "wrong-code"
    return not made or family(entry.stage) == family(finding.stage)


_REFUSALS = {
    ELEMENT_TYPE: (
        "must have the same datatype for both operands",
        "type mismatch: expected R.Tensor(…1, dtype=…), given R.Tensor(…1, dtype=",
        "requires the input tensor to have float dtype. However, the given input dtype is",
    ),
    KIND: (
        "to be a tensor. However, … of type T.Tuple(",
        "must be either R.Tensor or R.Prim types, … has Type T.Tuple(",
    ),
}
"""TVM's messages where an operator has become one of another type than was derived, and the next
one refuses its value; by the trait of the first.
"""


def _refused_later(entry: FindingFile, finding: Finding, operators: frozenset[str]) -> bool:
    """Whether a value that is known to be of another type than its variable is refused."""
    if entry.kind != "wrong-code" or family(finding.stage) != "lowering":
        return False
    words = _REFUSALS.get(entry.trait, ())
    met = any(says(some, finding.sentence) for some in words)
    return met and not operators.isdisjoint(entry.operators)


def _same_effect(
    entry: FindingFile, finding: Finding, operators: frozenset[str], elsewhere: bool
) -> bool:
    """Whether one operator has the same effect on the same kind of input, at the same part of the
    compiler.
    """
    if operators.isdisjoint(entry.operators):
        return False
    # A type that is derived wrongly shows wherever a value is compared with it.
    if entry.kind != "wrong-type" and family(entry.stage) != family(finding.stage):
        return False
    if entry.signal:
        return elsewhere or finding.cause.startswith(f"signal {entry.signal}")
    return elsewhere or not _traits(entry.trait).isdisjoint(_traits(finding.trait))


def _traits(text: str) -> frozenset[str]:
    return frozenset(trait.strip() for trait in text.split(",") if trait.strip())
