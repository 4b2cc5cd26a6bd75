"""Patterns of an operator's arguments, written as the arguments of a call.

``"f(a, 4), f(4, b), out_dtype=None | 'float32'"`` is a tensor of two dimensions, another whose
first is the first's last, and a keyword with two alternatives. A letter stands for any dimension;
``shape(a, b)`` for a shape literal, ``prim(a)`` for a scalar, ``[f(a), f(b)]`` for a tuple, and
``f`` for any element type of its group.
"""

from __future__ import annotations

import ast as python
from collections.abc import Callable, Sequence
from functools import cache

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import PrimExpr

GROUPS: dict[str, tuple[str, ...]] = {
    "f": ("float32", "float16", "float64"),
    "i": ("int64", "int32"),
    "j": ("int64", "int32"),
    "t": ("float32", "int32", "int64", "float16", "int8"),
    "x": ("float32", "bool", "int64", "float16", "uint8"),
}
"""The element types that the letter of a group may stand for, the plainest first."""


class TensorSlot(Record):
    """A tensor to be found or made; ``group`` is a key of :data:`GROUPS` or the name of an element
    type.
    """

    group: str
    dims: tuple[PrimExpr, ...]


class TupleSlot(Record):
    """A tuple of such arguments."""

    fields: tuple[Slot, ...]


class ShapeSlot(Record):
    """A shape literal."""

    dims: tuple[PrimExpr, ...]


class PrimSlot(Record):
    """A scalar."""

    value: PrimExpr


class Given(Record):
    """An argument that is the same in every call."""

    value: object


class MadeSlot(Record):
    """The result of a call of another operator, such as a storage."""

    operator: str


Slot = TensorSlot | TupleSlot | ShapeSlot | PrimSlot | Given | MadeSlot


class ArgumentPattern(Record):
    """The arguments of a call.

    Attributes
    ----------
    args, attrs
        For each argument its alternatives.
    groups
        The letters of :data:`GROUPS` that occur.
    choices
        How many alternatives each place has where there is more than one, groups first.
    """

    args: tuple[tuple[Slot, ...], ...]
    attrs: tuple[tuple[str, tuple[Slot, ...]], ...]
    groups: tuple[str, ...]
    choices: tuple[int, ...]


_OPERATIONS: dict[type[python.operator], type[tir.Binary]] = {
    python.Add: tir.Add,
    python.Sub: tir.Sub,
    python.Mult: tir.Mul,
    python.FloorDiv: tir.FloorDiv,
    python.Mod: tir.FloorMod,
}


LETTERS: set[tir.Var] = set()
"""The variables that stand for any dimension in patterns."""


@cache
def letter(name: str) -> tir.Var:
    """The variable of that name which stands for any dimension."""
    var = tir.Var(name)
    LETTERS.add(var)
    return var


def parse(text: str) -> ArgumentPattern:
    """Read a pattern. Raises ValueError if it says something else than the arguments of a call."""
    call = python.parse(f"f({text})", mode="eval").body
    assert isinstance(call, python.Call)
    args = tuple(_alternatives(arg) for arg in call.args)
    attrs = tuple((str(k.arg), _alternatives(k.value)) for k in call.keywords)
    places = [*args, *(slots for _, slots in attrs)]
    groups = tuple(dict.fromkeys(g for slots in places for s in slots for g in _groups(s)))
    counts = (*(len(GROUPS[g]) for g in groups), *(len(p) for p in places if len(p) > 1))
    return ArgumentPattern(args, attrs, groups, counts)


def _alternatives(node: python.expr) -> tuple[Slot, ...]:
    if isinstance(node, python.BinOp) and isinstance(node.op, python.BitOr):
        return (*_alternatives(node.left), *_alternatives(node.right))
    return (_slot(node),)


def _slot(node: python.expr) -> Slot:
    match node:
        case python.Call(func=python.Name(id=name), args=args):
            made = _CALLS.get(name)
            return TensorSlot(name, _dims(args)) if made is None else made(*args)
        case python.List(elts=items) if any(isinstance(i, python.Call) for i in items):
            return TupleSlot(tuple(map(_slot, items)))
    return Given(_value(node))


_CALLS: dict[str, Callable[..., Slot]] = {
    "shape": lambda *dims: ShapeSlot(_dims(dims)),
    "prim": lambda dim: PrimSlot(_dim(dim)),
    "made": lambda name: MadeSlot(f"relax.{_value(name)}"),
    "const": lambda value, kind: _constant(_value(value), str(_value(kind))),
    "string": lambda text: Given(ast.StringImm(str(_value(text)))),
    "dtype": lambda name: Given(ast.DataTypeImm(dtype(str(_value(name))))),
    "index_map": lambda text: Given(tir.OpaqueExpr(f"T.index_map({_value(text)})")),
    "null": lambda: Given(ast.Call(ast.op("relax.null_value"), ())),
}


def _constant(value: object, kind: str) -> Slot:
    """A constant that is a number, a vector or a matrix."""
    shape: tuple[int, ...] = ()
    if isinstance(value, tuple):
        value = tuple(tuple(row) if isinstance(row, list) else row for row in value)
        width = (len(value[0]),) if value and isinstance(value[0], tuple) else ()
        shape = (len(value), *width)
    return Given(ast.Constant(ast.Literal(value, dtype(kind), shape)))


def _dims(nodes: Sequence[python.expr]) -> tuple[PrimExpr, ...]:
    return tuple(map(_dim, nodes))


def _dim(node: python.expr) -> PrimExpr:
    match node:
        case python.Name(id=name):
            return letter(name)
        case python.Constant(value=float(value)):
            return tir.FloatImm(value)
        case python.Constant(value=bool(value)):
            return tir.IntImm(int(value), dtype("bool"))
        case python.Constant(value=int(value)):
            return tir.IntImm(value)
        case python.BinOp(left=a, op=operation, right=b):
            return _OPERATIONS[type(operation)](_dim(a), _dim(b))
        case python.UnaryOp(op=python.USub(), operand=python.Constant(value=int(value))):
            return tir.IntImm(-value)
    raise ValueError(f"expected a dimension, found {python.unparse(node)}")


def _value(node: python.expr) -> object:
    value: object = python.literal_eval(node)
    return tuple(value) if isinstance(value, list) else value


def _groups(slot: Slot) -> tuple[str, ...]:
    match slot:
        case TensorSlot(group=group):
            return (group,) if group in GROUPS else ()
        case TupleSlot(fields=fields):
            return tuple(g for field in fields for g in _groups(field))
    return ()


def element(group: str, chosen: dict[str, DataType]) -> DataType:
    """The element type of a tensor slot."""
    return chosen[group] if group in chosen else dtype(group)
