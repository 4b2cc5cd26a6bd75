"""The law of passes: each pass keeps programs legal, and keeps their meaning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rlx.generate.campaign.finding import Finding, cause_of
from rlx.generate.campaign.oracles.case import Case, kind_of, raised
from rlx.generate.campaign.oracles.meaning import (
    Meaning,
    RunDifference,
    differ,
    how,
    ruling,
)
from rlx.generate.campaign.oracles.traits import trait
from rlx.generate.campaign.peer import BEFORE, Peer


def passes(case: Case) -> list[Finding]:
    """The module that a pass of TVM returns is well-formed to TVM and to us, and returns the same
    values.
    """
    case.begin("relax-check")
    if case.error(case.text) or case.peer is None:
        return []
    module = case.read_by_peer()
    if module is None:
        return []
    try:
        printed = case.peer.print(module)
    except Exception:  # noqa: BLE001 - whatever the peer raises: the oracle of round trips reports it
        return []
    if case.error(printed):
        return []  # this, too
    if case.only and not case.only.endswith(", run"):
        return _each(case, module, [])
    case.begin("our machine")
    before = case.meanings(printed)
    difference = differ(case.meanings(case.text, before), before)
    if difference is not None:
        case.begin("TVM's parser and printer, run")
        return [_changed(case, "What TVM reads and prints means something else", difference)]
    return _each(case, module, before)


def _each(case: Case, module: Any, before: list[Meaning]) -> list[Finding]:
    assert case.peer is not None
    prepared = _Prepared(case.peer, module)
    return _once(
        finding
        for name, apply in case.peer.passes()
        if case.only.removesuffix(", run") in ("", name)
        for finding in _one(case, prepared, name, apply, before)
    )


def _once(found: Iterable[Finding]) -> list[Finding]:
    """One finding for mistakes that several passes make alike, at the first of them: passes call
    each other.
    """
    kept: dict[tuple[str, str, str], Finding] = {}
    for finding in found:
        name = finding.stage.removesuffix(", run")
        said = cause_of(finding.sentence.replace(name, "it"))
        kept.setdefault((finding.kind, finding.cause, said), finding)
    return list(kept.values())


class _Prepared:
    """The input of passes: the module after those that must come before them, each of which is done
    once.
    """

    def __init__(self, peer: Peer, module: Any) -> None:
        self.peer = peer
        self.known = dict(peer.passes())
        self.made: dict[tuple[str, ...], Any] = {(): module}

    def after(self, names: tuple[str, ...]) -> Any:
        """The module after these passes; None where one of them fails, or makes an ill-formed
        module.
        """
        if names not in self.made:
            self.made[names] = self._step(names)
        return self.made[names]

    def _step(self, names: tuple[str, ...]) -> Any:
        module = self.after(names[:-1])
        if module is None:
            return None
        try:
            made = self.known[names[-1]](module)
        except Exception:  # noqa: BLE001 - that pass's own finding
            return None
        return made if self.peer.well_formed(made) else None


def _one(
    case: Case, prepared: _Prepared, name: str, apply: Any, before: list[Meaning]
) -> list[Finding]:
    assert case.peer is not None
    module = prepared.after(tuple(BEFORE.get(name, ())))
    if module is None:
        return []  # an earlier pass's own finding
    case.begin(name)
    try:
        made = apply(module)
    except Exception as error:  # noqa: BLE001 - whatever the peer raises is what is looked for
        return [case.found(kind_of(error), "passes", raised(error))]
    why = case.peer.why_ill_formed(made)
    if why:
        message = f"{name} returns a module that TVM's well_formed rejects: {why}"
        cause = f"ill-formed: {cause_of(why)}"
        return [case.found("wrong-code", "passes", message, cause=cause)]
    earlier_text = case.peer.print(module) if BEFORE.get(name) else ""
    return _compared(case, name, case.peer.print(made), earlier_text, before)


def _compared(
    case: Case, name: str, text: str, earlier: str, before: list[Meaning]
) -> list[Finding]:
    """``earlier`` is what the pass was given, where other passes were at work before it."""
    if earlier and case.error(earlier):
        return []
    error = case.error(text)
    if error:
        code, _, _ = error.partition(":")
        message = f"{name} makes an illegal module: {error}"
        return [case.found("wrong-code", "passes", message, cause=code, rule=code)]
    case.begin(f"{name}, run")
    given = case.meanings(earlier, before) if earlier else before
    difference = differ(given, case.meanings(text, given))
    if difference is None:
        return []
    return [_changed(case, f"{name} changes what the program means", difference)]


def _changed(case: Case, what: str, difference: RunDifference) -> Finding:
    said = difference.said
    return case.found(
        "wrong-code",
        "passes",
        f"{what}: {said}",
        cause=how(said),
        rule=ruling(said),
        trait=trait(said, difference.size, case.text),
    )
