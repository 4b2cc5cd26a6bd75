"""A derivation as one JSON object.

``version``
    Grows when a key changes its meaning or goes; a new key does not change it.
``roots``
    The numbers of the steps that were asked for.
``steps``
    Every step once; steps refer to each other by number, so what is used twice is written once, and
    no depth of a derivation is too deep for a reader of JSON. References never run in circles.

A step has these keys:

``kind``
    ``"rule"``: an application of a rule. ``"premise"``: a premise that fails. ``"question"``: a
    question to the prover. ``"comparison"``: whether one struct info may stand where another one is
    expected. ``"reference"``: the derivation inside of which it stands. ``"note"``: what no rule
    says.
``rule``, ``premise``, ``title``
    The rule's id; the code of a premise that fails (null for other kinds); the title of the rule,
    the sentence of the premise, and of a question the verdict: ``"proved"``, ``"refuted"`` or
    ``"unknown"``.
``formula``
    Of a premise how the rule's inference writes it, of a rule its conclusion; null where it has
    none.
``text``
    What is concluded, asked, or wrong, with its values.
``struct_info``
    What is concluded of an expression or a binding, as programs write it; otherwise null.
``status``, ``beneath``
    ``"holds"``, or the gravest of what fails here, and of what fails in the steps below:
    ``"note"``, ``"warning"``, ``"error"``.
``line``, ``column``, ``end_line``, ``end_column``
    Where what it is about stands; null where no text does.
``values``
    What went into the rule: pairs of a name and a value.
``held``
    The premises of the rule that are asked here and do not fail.
``details``
    Counterexamples, reasons, help.
``steps``
    What it rests on: objects with ``as`` (the parameter, ``"value"``, … or ``""``) and ``step``, a
    number.
``more``
    How many further steps it rests on, which `--depth` leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.checker.why.step import Step, every, formula
from rlx.grammar.diagnostic import Source, region
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.print.pieces import struct_info_printer
from rlx.grammar.print.show import spelled
from rlx.grammar.stack import recursion_room
from rlx.spec import premise_rule

VERSION = 1


def as_json(roots: Sequence[Step], source: Source, depth: int | None = None) -> dict[str, Any]:
    """Trees as the object described above.

    Parameters
    ----------
    depth
        How many levels below the roots there are; None for all.
    """
    steps = list(every(roots)) if depth is None else _down_to(roots, depth)
    numbers = {id(step): number for number, step in enumerate(steps)}
    printer = struct_info_printer()
    with recursion_room():
        made = [_step(step, source, numbers, printer) for step in steps]
    return {"version": VERSION, "roots": [numbers[id(root)] for root in roots], "steps": made}


def _down_to(roots: Sequence[Step], depth: int) -> list[Step]:
    """The steps that are so many levels below the roots at most."""
    found = {id(root): root for root in roots}
    level = list(found.values())
    for _ in range(depth):
        inner = {id(below): below for step in level for _, below in step.below}
        level = [step for key, step in inner.items() if key not in found]
        found.update((id(step), step) for step in level)
        if not level:
            break
    return list(found.values())


def _step(
    step: Step, source: Source, numbers: dict[int, int], printer: Callable[[StructInfo], str]
) -> dict[str, Any]:
    below = [(label, numbers[id(s)]) for label, s in step.below if id(s) in numbers]
    return {
        "kind": step.kind,
        **_codes(step),
        "title": step.title,
        "formula": formula(step.code) or None,
        "text": step.text,
        "struct_info": None if step.info is None else spelled(step.info, printer),
        "status": step.status,
        "beneath": step.beneath,
        **_place(step, source),
        "values": [list(pair) for pair in step.values],
        "held": list(step.held),
        "details": list(step.details),
        "steps": [{"as": label, "step": number} for label, number in below],
        "more": len(step.below) - len(below),
    }


def _codes(step: Step) -> dict[str, str | None]:
    """The rule, and of a premise that fails its own code."""
    if step.kind == "premise":
        rule = premise_rule(step.code)
        return {"rule": None if rule is None else rule.identifier, "premise": step.code}
    return {"rule": step.code or None, "premise": None}


def _place(step: Step, source: Source) -> dict[str, int | None]:
    names = ("line", "column", "end_line", "end_column")
    if step.span is None:
        return dict.fromkeys(names)
    return dict(zip(names, region(source, step.span), strict=True))
