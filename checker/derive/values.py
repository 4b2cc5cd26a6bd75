"""D18: variables with the same value. A successful check of one of them holds for all.

A dimension is a function of a value. So what a cast says of a variable holds for every other name
of its value, for the tuples that it is a field of, and for its shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlx.checker.derive.environment import Key, ValueNames
from rlx.checker.derive.equations import learn
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import (
    ObjectStructInfo,
    PrimStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    Var,
)
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.solver.order.substitute import dimensions, rank
from rlx.spec.registry import rule

if TYPE_CHECKING:
    from rlx.checker.derive.environment import Environment
    from rlx.checker.derive.state import DerivationState

INVERSE = {
    "relax.tensor_to_shape": "relax.shape_to_tensor",
    "relax.shape_to_tensor": "relax.tensor_to_shape",
}
"""Operators that turn a shape into a tensor and back."""


def name(state: DerivationState, var: Var, value: ast.Expr) -> None:
    """Note what a variable is bound to."""
    values = state.named
    match value:
        case ast.Tuple(fields=fields):
            values.fields[var] = fields
            for at, field in enumerate(fields):
                if (key := values.of(field)) is not None:
                    values.holders.setdefault(key, []).append((var, at))
            return
        case ast.Call(op=ast.Op(op_name="relax.shape_of"), args=(operand,)):
            key = values.of(operand)
            if key is not None:
                values.tensors[var] = key
                _is(values, var, values.shapes.setdefault(key, var))
            return
        case ast.Call(op=ast.Op(op_name=operator), args=(operand,)) if operator in INVERSE:
            # In other functions, the elements of a tensor may change.
            key = values.of(operand) if state.effects.pure else None
            if key is not None:
                back = INVERSE[operator]
                values.computed.setdefault((back, var), key)
                _is(values, var, values.computed.setdefault((operator, key), var))
            return
    key = values.of(value)
    if key is not None:
        _is(values, var, key)


def _is(values: ValueNames, var: Var, key: Key) -> None:
    if key is not var:
        values.first[var] = key
        values.names.setdefault(key, []).append(var)


def earlier_type(state: DerivationState, var: Var, found: StructInfo) -> StructInfo:
    """The known type of a variable that is bound to a call: that of an earlier name, if the same
    was computed before.
    """
    first = state.named.first.get(var)
    earlier = state.info_of.get(first) if isinstance(first, Var) else None
    return earlier if type(earlier) is ShapeStructInfo is type(found) else found


@rule("D18", "binding")
def refine(state: DerivationState, value: ast.Expr, said: StructInfo) -> None:
    """Record the type that a successful check gives a value, under each of its names, until the
    scope ends.
    """
    key = state.named.of(value)
    pending = [] if key is None else [(key, said)]
    for _ in range(MOST):
        if not pending:
            break
        pending += _refined(state, *pending.pop())


MOST = 100
"""How many values learn from one check: tuples may hold a value on very many ways."""


def _refined(state: DerivationState, key: Key, said: StructInfo) -> list[tuple[Key, StructInfo]]:
    """Refine the types of a value's names; returns what follows for other values."""
    values = state.named
    changed: StructInfo | None = None
    for var in (*((key,) if isinstance(key, Var) else ()), *values.names.get(key, ())):
        before = state.info_of.get(var)
        if before is None:
            break
        after = sharpened(before, said)
        if isinstance(before, ObjectStructInfo) and isinstance(said, TupleStructInfo):
            changed = said  # of the fields it is known, though not of the name
            break
        if after is before:
            learn(state, before, said, {})  # a value has the dimensions that each check says
            break  # the first name knows what the others do
        state.sharpen(var, after)
        changed = after
    further: list[tuple[Key, StructInfo]] = []
    if isinstance(key, tuple):  # a field has no entry of its own
        whole, at = key
        further.append((whole, _around(state, whole, at, said)))
        changed = said
    if changed is None:
        return [pair for pair in further if not isinstance(pair[1], ObjectStructInfo)]
    for holder, at in values.holders.get(key, ()):
        further.append((holder, _around(state, holder, at, changed)))
    if key in values.fields and isinstance(changed, TupleStructInfo):
        further += _parts(values, values.fields[key], changed)
    match changed:
        case TensorStructInfo() if key in values.shapes and (dims := dimensions(changed)):
            further.append((values.shapes[key], ShapeStructInfo(dims, len(dims))))
        case ShapeStructInfo(values=tuple() as dims) if key in values.tensors:
            shape = TensorStructInfo(ShapeExpr(dims), ndim=len(dims))
            further.append((values.tensors[key], shape))
    return [pair for pair in further if not isinstance(pair[1], ObjectStructInfo)]


def _parts(
    values: ValueNames, fields: tuple[ast.Expr, ...], said: TupleStructInfo
) -> Iterator[tuple[Key, StructInfo]]:
    """The struct info of each named field of a tuple, and of the tuple literals in it."""
    for field, info in zip(fields, said.fields, strict=False):
        if isinstance(field, ast.Tuple) and isinstance(info, TupleStructInfo):
            yield from _parts(values, field.fields, info)
        elif (inner := values.of(field)) is not None:
            yield inner, info


def _around(state: Environment, whole: Key, at: int, field: StructInfo) -> StructInfo:
    """The known type of a tuple, with more known of one field; Object if it is not a known tuple."""
    info = state.info_of.get(whole) if isinstance(whole, Var) else None
    if not isinstance(info, TupleStructInfo) or at >= len(info.fields):
        return OBJECT
    return TupleStructInfo((*info.fields[:at], field, *info.fields[at + 1 :]))


def sharpened(before: StructInfo, said: StructInfo) -> StructInfo:
    """The struct info of a value, refined by another one; ``before`` itself if that adds nothing."""
    return _Sharper().of(before, said)


class _Sharper:
    """Compares tuples, which may share their fields, once each."""

    def __init__(self) -> None:
        self._done: dict[tuple[StructInfo, StructInfo], StructInfo] = {}

    def of(self, before: StructInfo, said: StructInfo) -> StructInfo:
        """The known type, refined by the declared one."""
        match before, said:
            case _ if before is said:
                return before
            case ObjectStructInfo(), (TensorStructInfo() | ShapeStructInfo() | PrimStructInfo()):
                return said
            case TensorStructInfo(), TensorStructInfo():
                return _tensor(before, said)
            case ShapeStructInfo(values=None), ShapeStructInfo():
                more = said.values is not None or rank(before) < rank(said)
                return said if more else before
            case PrimStructInfo(value=None), PrimStructInfo(value=value) if value is not None:
                return said if before.dtype == said.dtype else before
            case TupleStructInfo(fields=xs), TupleStructInfo(fields=ys) if len(xs) == len(ys):
                return self._tuple(before, said)
        return before

    def _tuple(self, before: TupleStructInfo, said: TupleStructInfo) -> StructInfo:
        found = self._done.get((before, said))
        if found is None:
            fields = tuple(map(self.of, before.fields, said.fields))
            pairs = zip(fields, before.fields, strict=True)
            found = TupleStructInfo(fields) if any(a is not b for a, b in pairs) else before
            self._done[before, said] = found
        return found


def _tensor(before: TensorStructInfo, said: TensorStructInfo) -> TensorStructInfo:
    after = before
    if before.shape is None and (said.shape is not None or rank(before) < rank(said)):
        after = replace(before, shape=said.shape, ndim=rank(said))
    if before.dtype.is_void and not said.dtype.is_void:
        after = replace(after, dtype=said.dtype)
    if before.vdevice is None and said.vdevice is not None:
        after = replace(after, vdevice=said.vdevice)
    return after
