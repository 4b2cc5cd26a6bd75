"""The law of printing: a printed program reads back as the same program."""

from __future__ import annotations

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.oracles.case import Case, raised


def roundtrip(case: Case) -> list[Finding]:
    """Our printer and parser; TVM's, by TVM; TVM's print, by us."""
    from rlx.grammar.nodes.equal import structural_equal
    from rlx.grammar.print.printer import print_module
    from rlx.grammar.read.parser import parse

    case.begin("our round trip")
    module, *_ = parse(case.text).modules
    for dialect in ("0.27", "0.16"):
        again, *more = parse(print_module(module, dialect=dialect)).modules
        if more or not structural_equal(module, again):
            return [case.found("prints-wrong", "roundtrip", f"our own, dialect {dialect}")]
    if case.peer is None:
        return []
    case.begin("TVM's parser")
    try:
        theirs = case.peer.read(case.text)
    except Exception:  # noqa: BLE001 - the oracle of legality reports it
        return []
    case.begin("TVM's printer")
    try:
        text = case.peer.print(theirs)
    except Exception as error:  # noqa: BLE001 - whatever the peer raises is what is looked for
        return [case.found("prints-wrong", "roundtrip", raised(error))]
    return [*_by_peer(case, theirs, text), *_by_us(case, text)]


def _by_peer(case: Case, module: object, text: str) -> list[Finding]:
    assert case.peer is not None
    case.begin("TVM reads what TVM printed")
    try:
        again = case.peer.read(text)
    except Exception as error:  # noqa: BLE001 - whatever the peer raises is what is looked for
        return [case.found("prints-wrong", "roundtrip", raised(error))]
    where = case.peer.difference(module, again)
    if where:
        message = f"the module that was parsed back is not structurally equal, at {where}"
        return [case.found("prints-wrong", "roundtrip", message, cause=_what(where))]
    return []


def _what(path: str) -> str:
    """The node at the end of a path through a module."""
    _, _, end = path.rpartition("bindings[")
    for word, what in _AT.items():
        if word in end:
            return what
    return "not structurally equal"


_AT = {
    ".derive_func": "opaque function types differ",
    ".ty": "types differ",
    ".args": "another argument",
    ".value.value": "constants differ",
}


def _by_us(case: Case, text: str) -> list[Finding]:
    case.begin("we read what TVM printed")
    error = case.error(text)
    if error and not case.error(case.text):
        code, _, _ = error.partition(":")
        # What is new in the text is types that TVM derived.
        return [case.found("wrong-type", "roundtrip", error, cause=code, rule=code)]
    return []
