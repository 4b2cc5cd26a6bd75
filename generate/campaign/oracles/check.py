"""The law of legality: the checker accepts a program that is legal by construction."""

from __future__ import annotations

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.oracles.case import Case, raised


def check(case: Case) -> list[Finding]:
    """Our checker finds no error; TVM reads the program and calls it well-formed."""
    case.begin("relax-check")
    wrong = case.error(case.text)
    if wrong:
        return _refused(case, wrong)
    if case.peer is None or not case.legal:
        return []
    case.begin("TVM's parser")
    try:
        module = case.peer.read(case.text)
    except Exception as error:  # noqa: BLE001 - whatever the peer raises is what is looked for
        return [case.found("refuses-legal", "check", raised(error))]
    case.begin("TVM's well_formed")
    why = case.peer.why_ill_formed(module)
    return [case.found("refuses-legal", "check", why)] if why else []


def _refused(case: Case, error: str) -> list[Finding]:
    """A program that the rules reject: TVM rejects it too, and no legal program is among them."""
    code, _, _ = error.partition(":")
    if case.peer is not None and _accepted(case):
        message = f"TVM's parser and well_formed accept it: {error}"
        return [case.found("accepts-illegal", "check", message, cause=code, rule=code)]
    if not case.legal:
        return []
    case.begin("relax-check")
    return [case.found("refuses-legal", "check", error, cause=code, rule=code)]


def _accepted(case: Case) -> bool:
    assert case.peer is not None
    case.begin("TVM's parser")
    try:
        module = case.peer.read(case.text)
    except Exception:  # noqa: BLE001 - however it says so, it refuses
        return False
    case.begin("TVM's well_formed")
    return case.peer.well_formed(module)
