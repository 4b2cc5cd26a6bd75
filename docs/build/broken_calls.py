"""For each obligation of an operator, a call that violates it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

from rlx.generate.calls.pattern import (
    Given,
    PrimSlot,
    ShapeSlot,
    Slot,
    TensorSlot,
    TupleSlot,
    letter,
    parse,
)
from rlx.generate.calls.template import Collector
from rlx.generate.calls.written import SlottedCall, legal_calls
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype
from rlx.operators.context import Place
from rlx.operators.reference import obligations
from rlx.operators.registry import Operator


class _Said(Collector):
    """Keeps the words of failures, too."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: dict[str, str] = {}

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        super().report(code, severity, message, at, **extra)
        if severity != "note":
            self.failures.setdefault(code, message)


def broken_calls(operator: Operator) -> dict[str, tuple[SlottedCall, str]]:
    """For each obligation of an operator a call on which it fails, and the message: one that
    the declaration has, or a legal call with one change.
    """
    wanted = obligations(operator)
    found: dict[str, tuple[SlottedCall, str]] = {}
    for call in chain(_declared(operator), _changed(operator)):
        said = _Said()
        try:
            call.derive(said)
        except (ValueError, TypeError, KeyError, AttributeError, AssertionError):
            continue  # the change made what no text says
        for code, message in said.failures.items():
            if code in wanted and len(said.failures) == 1:
                found.setdefault(code, (call, message))
        if len(found) == len(wanted):
            break
    return found


def _declared(operator: Operator) -> Iterator[SlottedCall]:
    for line in operator.broken.strip().splitlines():
        pattern = parse(line.strip().partition(": ")[2])
        kinds = {g: dtype("float32" if g in "ft" else "int64") for g in pattern.groups}
        args = tuple(slots[0] for slots in pattern.args)
        yield SlottedCall(operator, args, tuple((k, s[0]) for k, s in pattern.attrs), kinds)


def _changed(operator: Operator) -> Iterator[SlottedCall]:
    """Legal calls with another rank, element type, length, number or word in one place."""
    for call, _ in islice(legal_calls(operator), 2):
        for number, slot in enumerate(call.args):
            for other in _others(slot):
                args = (*call.args[:number], other, *call.args[number + 1 :])
                yield SlottedCall(operator, args, call.attrs, call.kinds)
        given = dict(call.attrs)
        for parameter in operator.parameters[len(call.args) :]:
            default = parameter.default
            if parameter.name in given:
                before = given[parameter.name]
            elif isinstance(default, int | str | tuple):
                before = Given(default)
            elif parameter.name in ("axis", "axes"):
                before = Given((0,))
            else:
                continue
            for other in _others(before):
                attrs = tuple((given | {parameter.name: other}).items())
                yield SlottedCall(operator, call.args, attrs, call.kinds)


def _others(slot: Slot) -> Iterator[Slot]:
    """Arguments of the same kind that are likely to be wrong."""
    three, five = tir.IntImm(3), tir.IntImm(5)
    match slot:
        case TensorSlot(group=group, dims=dims):
            yield from (TensorSlot(group, d) for d in (dims[1:], (letter("k"), *dims), (), (five,)))
            yield from (
                TensorSlot(group, (*dims[:at], five, *dims[at + 1 :])) for at in range(len(dims))
            )
            yield from (
                TensorSlot(kind, dims) for kind in ("bool", "float16", "int64", "int8", "float32")
            )
            yield TensorSlot(group, (three,) * 7)
        case TupleSlot(fields=fields):
            for number, field in enumerate(fields):
                yield from (
                    TupleSlot((*fields[:number], other, *fields[number + 1 :]))
                    for other in _others(field)
                )
            yield TupleSlot(())
        case ShapeSlot(dims=dims):
            yield from (ShapeSlot(d) for d in ((five,), (three, five), (*dims, five), dims[1:]))
        case PrimSlot():
            yield from (PrimSlot(tir.IntImm(n)) for n in (-100, 100, 0))
        case Given(value=value):
            yield from map(Given, _other_values(value))


def _other_values(value: object) -> Iterator[object]:
    match value:
        case bool():
            yield not value
        case int():
            yield from (-100, 100, 0, 3)
        case str():
            yield from ("nothing", "NCHW", "NHWC", "NCHW5c", "NCW", "N", "float32")
        case list() | tuple():
            kind: Callable[[Iterable[object]], object] = type(value)
            first = value[:1] or (0,)
            yield from (kind([*value, *first]), kind([*first, *first]), kind((100,)), kind((-100,)))
            yield from (kind((-1,) * len(value)), kind((0,) * len(value)), kind((1, 1, 1, 1, 1)))
            if value and isinstance(value[0], int):
                yield from (7, (1, 2, 3))
