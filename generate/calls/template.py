"""Templates: patterns that the operator's declaration accepts for every size.

A template is derived once, with letters for dimensions, and kept; a program then only puts its
dimensions in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from rlx.generate.calls.pattern import (
    GROUPS,
    ArgumentPattern,
    Given,
    MadeSlot,
    PrimSlot,
    ShapeSlot,
    Slot,
    TensorSlot,
    TupleSlot,
    element,
    parse,
)
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.operators.context import OperatorContext, Place
from rlx.operators.parameters import REQUIRED, Parameter
from rlx.operators.registry import Operator
from rlx.solver.order import erase, free_shape_vars

# ---------------------------------------------------------------- patterns from a signature alone

_LISTS = ["a, b", "a", "a, 4, b", "", "a, 3, b, 4", "2, 3"]
_BROADCAST = ["a, b", "b", "1, b", "", "a, 1"]
_PLAIN: dict[str, str] = {
    "prim": "prim(1) | prim(2)",
    "prims": "(1,)",
    "int": "1",
    "count": "1",
    "ints": "(1,)",
    "list": "(1,)",
    "int_or_ints": "1",
    "number": "1.0",
    "dtype": "'float32' | 'int64'",
    "any": "0",
    "expr": "f(a, b)",
    "whole": "f(a, b)",
}


def generic(operator: Operator) -> list[str]:
    """Patterns for an operator of which no table says more: tensors of one shape, or broadcast to
    one.

    They are only proposals: the operator's own rule decides which of them are legal.
    """
    required = [p for p in operator.parameters if p.default is REQUIRED and not p.optional]
    kinds = [p.kind for p in required]
    if kinds in (["tensor", "tensor"], ["operand", "operand"]):
        return [*_pairs(), "b_(a, b), b_(a, b)".replace("b_", "bool")]
    return [_call(required, group, dims) for group, dims in product("txf", _LISTS)] + [
        _call(required, group, dims) for group, dims in product(("i", "bool"), _LISTS[:4])
    ]


def _pairs() -> Iterator[str]:
    for group in "tfi":
        yield from (f"{group}({dims}), {group}({dims})" for dims in _LISTS)
        yield from (f"{group}(a, b), {group}({dims})" for dims in _BROADCAST)
        yield from (f"{group}({dims}), {group}(a, b)" for dims in _BROADCAST)


def _call(required: list[Parameter], group: str, dims: str) -> str:
    tensor = f"{group}({dims})"
    texts = {"tensor": tensor, "operand": tensor, "tensors": f"[{tensor}, {tensor}]"}
    texts["shape"] = texts["whole_shape"] = f"shape({dims})"
    return ", ".join(texts.get(p.kind) or _PLAIN[p.kind] for p in required)


class Collector(OperatorContext):
    """The context in which a template is derived; it collects the codes of all that is not proved."""

    def __init__(self) -> None:
        super().__init__()
        self.reports: list[str] = []
        self.unknown: set[tir.Var] = set()

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        """Remember the code."""
        self.reports.append(code)

    def fresh_dim(self, hint: str) -> tir.Var:
        """A dimension on which data decide."""
        var = super().fresh_dim(hint)
        self.unknown.add(var)
        return var

    def vdevices(self) -> Sequence[tuple[str, int]]:
        """The virtual devices that calls are generated with."""
        return (("llvm", 0), ("cuda", 0))

    def known(self, info: ast.StructInfo) -> ast.StructInfo:
        """A result, without the dimensions on which data decide."""
        if not self.unknown:
            return info
        return erase(info, set(), set(free_shape_vars(info)) - self.unknown)


class Template(Record):
    """A legal call, for any dimensions in the place of its letters.

    Attributes
    ----------
    args, attrs
        Arguments to be found or made; attributes that are no expressions stand as they are.
    kinds
        The element type of each group.
    result
        The struct info of the call, over the same letters.
    pure
        Whether the call has no visible effect.
    """

    operator: ast.Op
    args: tuple[Slot, ...]
    attrs: tuple[tuple[str, Slot], ...]
    kinds: dict[str, DataType]
    result: ast.StructInfo
    pure: bool


def lines(operator: Operator) -> list[str]:
    """The patterns that a declaration has, one a line."""
    return [line.strip() for line in operator.calls.split("\n") if line.strip()]


class Family:
    """The templates of one operator. Raises ValueError if no pattern of the operator is legal."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.patterns = tuple(parse(line) for line in lines(operator) or generic(operator))
        self.found: dict[tuple[int, ...], Template | None] = {}
        self.first = self._first()

    def choose(self, which: int, choices: Sequence[int]) -> Template:
        """The template of these choices, or the plainest one if they are not legal together."""
        number = which % len(self.patterns)
        return self.template_of(number, choices) or self.first

    def over(
        self, kind: DataType, rank: int, which: int, choices: Sequence[int]
    ) -> Template | None:
        """The template nearest to these choices whose first argument is a tensor of this type and
        rank.
        """
        for turn in range(len(self.patterns)):
            number = (which + turn) % len(self.patterns)
            pattern = self.patterns[number]
            places = _over(pattern, str(kind), rank, choices)
            template = None if places is None else self.template_of(number, places)
            if template is not None:
                return template
        return None

    def template_of(self, number: int, choices: Sequence[int]) -> Template | None:
        """The template of a pattern and choices in it; None if they are not legal together."""
        pattern = self.patterns[number]
        places = tuple(c % n for c, n in zip(choices, pattern.choices, strict=False))
        places += (0,) * (len(pattern.choices) - len(places))
        key = (number, *places)
        if key not in self.found:
            self.found[key] = _derive(self.operator, pattern, places)
        return self.found[key]

    def _first(self) -> Template:
        for number, pattern in enumerate(self.patterns):
            for choices in product(*(range(n) for n in pattern.choices)):
                template = self.template_of(number, choices)
                if template is not None:
                    return template
        raise ValueError(f"no pattern of {self.operator.name} is legal")


def _over(
    pattern: ArgumentPattern, kind: str, rank: int, choices: Sequence[int]
) -> Sequence[int] | None:
    """The choices that make the first argument a tensor of this type and rank."""
    slot = pattern.args[0][0] if pattern.args else None
    if not isinstance(slot, TensorSlot) or len(slot.dims) != rank or len(pattern.args[0]) > 1:
        return None
    if slot.group not in pattern.groups:
        return choices if slot.group == kind else None
    kinds = GROUPS[slot.group]
    if kind not in kinds:
        return None
    at = pattern.groups.index(slot.group)
    return (*choices[:at], kinds.index(kind), *choices[at + 1 :])


def _derive(operator: Operator, pattern: ArgumentPattern, places: Sequence[int]) -> Template | None:
    kinds = {g: dtype(GROUPS[g][k]) for g, k in zip(pattern.groups, places, strict=False)}
    rest = iter(places[len(pattern.groups) :])
    args = tuple(slots[next(rest) if len(slots) > 1 else 0] for slots in pattern.args)
    attrs = tuple(
        (name, slots[next(rest) if len(slots) > 1 else 0]) for name, slots in pattern.attrs
    )
    attrs = tuple(
        (name, slot) for name, slot in attrs if not (isinstance(slot, Given) and slot.value is None)
    )
    call = ast.Call(
        ast.op(operator.name),
        tuple(symbolic(slot, kinds) for slot in args),
        {
            name: slot.value if isinstance(slot, Given) else symbolic(slot, kinds)
            for name, slot in attrs
        },
    )
    collector = Collector()
    result = operator.derive(call, collector)
    if collector.reports:
        return None
    return Template(
        ast.op(operator.name), args, attrs, kinds, collector.known(result), operator.pure
    )


def literal(value: object) -> ast.Expr:
    """A value that is the same in every call, as an expression."""
    match value:
        case ast.Expr():
            return value
        case int():
            return ast.PrimValue(tir.IntImm(value))
        case str():
            return ast.StringImm(value)
        case tuple():
            return ast.Tuple(tuple(map(literal, value)))
    raise TypeError(f"no argument: {value!r}")


def symbolic(slot: Slot, kinds: dict[str, DataType]) -> ast.Expr:
    """An argument over letters."""
    match slot:
        case TensorSlot(group=group, dims=dims):
            kind = element(group, kinds)
            return ast.Var("x", ast.TensorStructInfo(ast.ShapeExpr(dims), kind, len(dims)))
        case TupleSlot(fields=fields):
            return ast.Tuple(tuple(symbolic(field, kinds) for field in fields))
        case ShapeSlot(dims=dims):
            return ast.ShapeExpr(dims)
        case PrimSlot(value=value):
            return ast.PrimValue(value)
        case MadeSlot():
            return ast.Var("x", OBJECT)
        case Given(value=value):
            return literal(value)
    raise TypeError(f"no argument: {slot!r}")
