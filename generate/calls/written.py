"""Calls of an operator as a reader sees them: legal ones with their results, and one for each
obligation that fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from rlx.generate.calls.pattern import (
    Given,
    Slot,
    TensorSlot,
    TupleSlot,
)
from rlx.generate.calls.template import Collector, Family, symbolic
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Record
from rlx.grammar.print.printer import print_node
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
        return self.operator.derive(ast.Call(ast.op(self.operator.name), args, attrs), collector)


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
