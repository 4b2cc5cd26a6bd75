"""Calls of an operator as a reader sees them: legal ones with their results, and one for each
obligation that fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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
from rlx.generate.calls.template import Collector, Family, symbolic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.grammar.nodes.node import Record
from rlx.grammar.print.printer import print_node
from rlx.operators.context import Place
from rlx.operators.reference import obligations
from rlx.operators.registry import Operator


class SlottedCall(Record):
    """A call whose arguments are slots, and the element types of their groups."""

    operator: Operator
    args: tuple[Slot, ...]
    attrs: tuple[tuple[str, Slot], ...]
    kinds: Mapping[str, DataType]

    @property
    def lines(self) -> list[str]:
        """The operands with their types, then the call."""
        kinds = dict(self.kinds)
        lines, shown = [], []
        known = [p.name for p in self.operator.parameters if not p.variadic]
        for number, slot in enumerate(self.args):
            made = symbolic(slot, kinds)
            if isinstance(slot, TensorSlot):
                own = known[number] if number < len(known) else f"x{number}"
                lines.append(f"{own}: {print_node(made.struct_info_annotation)}")  # type: ignore[attr-defined]
                shown.append(own)
            elif isinstance(slot, TupleSlot) and {type(f) for f in slot.fields} == {TensorSlot}:
                fields = [f"x{k}" for k in range(len(slot.fields))]
                types = [symbolic(field, kinds) for field in slot.fields]
                lines += [
                    f"{own}: {print_node(made.struct_info_annotation)}"  # type: ignore[attr-defined]
                    for own, made in zip(fields, types, strict=True)
                ]
                shown.append(f"({', '.join(fields)})" if fields[1:] else f"({fields[0]},)")
            else:
                shown.append(print_node(made))
        for key, slot in self.attrs:
            written = slot.value if isinstance(slot, Given) else print_node(symbolic(slot, kinds))
            shown.append(f"{key}={_quoted(written) if isinstance(slot, Given) else written}")
        return [*lines, f"R.{self.operator.name.removeprefix('relax.')}({', '.join(shown)})"]

    @property
    def shapes(self) -> str:
        """The call on one line, with the shapes of tensors in the place of their names."""
        kinds = dict(self.kinds)
        shown = [_shape_of(slot, kinds) for slot in self.args]
        shown += [f"{key}={_shape_of(slot, kinds)}" for key, slot in self.attrs]
        return f"R.{self.operator.name.removeprefix('relax.')}({', '.join(shown)})"

    def derive(self, collector: Collector) -> StructInfo:
        """The struct info of the call by the operator's rule."""
        kinds = dict(self.kinds)
        attrs = {
            name: slot.value if isinstance(slot, Given) else symbolic(slot, kinds)
            for name, slot in self.attrs
        }
        args = tuple(symbolic(slot, kinds) for slot in self.args)
        return self.operator.derive(
            ast.Call(ast.op(self.operator.name), args, (), attrs), collector
        )


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _shape_of(slot: Slot, kinds: dict[str, DataType]) -> str:
    match slot:
        case TensorSlot(dims=dims):
            return _tuple(map(str, dims))
        case TupleSlot(fields=fields):
            return _tuple(_shape_of(field, kinds) for field in fields)
        case Given(value=value):
            return _quoted(value)
    return print_node(symbolic(slot, kinds))


def _tuple(parts: Iterator[str]) -> str:
    found = list(parts)
    return f"({', '.join(found)}{',' if len(found) == 1 else ''})"


def legal_calls(operator: Operator) -> Iterator[tuple[SlottedCall, StructInfo]]:
    """The legal calls of a declaration, one for each pattern, with their results."""
    try:
        family = Family(operator)
    except (ValueError, TypeError, KeyError):
        return
    numbers = range(len(family.patterns))
    found = (template for n in numbers if (template := family.template_of(n, ())) is not None)
    for template in chain([next(found, family.first)], found):
        call = SlottedCall(operator, template.args, template.attrs, template.kinds)
        yield call, template.result


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
