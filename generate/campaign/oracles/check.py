"""Legality: a program that is legal by construction is accepted."""

from __future__ import annotations

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.oracles.case import Case, raised


def check(case: Case) -> list[Finding]:
    """Our checker finds no error; TVM reads the program and calls it well-formed."""
    case.begin("relax-check")
    errors = case.errors()
    if errors:
        code = errors[0].partition(":")[0]
        return [case.found("rejected legal", "check", errors[0], cause=code, rule=code)]
    if case.peer is None:
        return []
    case.begin("TVM's parser")
    try:
        module = case.peer.read(case.text)
    except Exception as error:  # noqa: BLE001 - whatever the peer raises is what is looked for
        return [case.found("rejected legal", "check", raised(error))]
    case.begin("TVM's well_formed")
    if not case.peer.well_formed(module):
        return [case.found("rejected legal", "check", "well_formed returns False", cause="")]
    return []
