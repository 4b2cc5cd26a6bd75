"""Whether two pieces of Relay say the same, sharing included."""

from __future__ import annotations

from rlx.grammar.ast import Literal
from rlx.relay.nodes import (
    RelayCall,
    RelayConstant,
    RelayExpr,
    RelayFunction,
    RelayFuncType,
    RelayGlobalVar,
    RelayLet,
    RelayModule,
    RelayOp,
    RelayProjection,
    RelayTensorType,
    RelayTupleType,
    RelayType,
    RelayVar,
    operands,
)


def structural_equal(first: RelayModule, second: RelayModule) -> bool:
    """Whether two modules have equal functions by equal names, in any order.

    The names of variables and places in texts do not count; the sharing of nodes does.
    """
    mine = {var.name: function for var, function in first.functions.items()}
    yours = {var.name: function for var, function in second.functions.items()}
    return mine.keys() == yours.keys() and all(
        _equal(function, yours[name]) for name, function in mine.items()
    )


def _equal(first: RelayExpr, second: RelayExpr) -> bool:
    partners: dict[RelayExpr, RelayExpr] = {}
    back: dict[RelayExpr, RelayExpr] = {}
    pending = [(first, second)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, RelayConstant | RelayOp | RelayGlobalVar):
            if not _same_atoms(a, b):
                return False
            continue
        if a in partners or b in back:
            if partners.get(a) is not b or back.get(b) is not a:
                return False
            continue
        partners[a], back[b] = b, a
        if not _alike(a, b):
            return False
        pending += zip(operands(a), operands(b), strict=True)
        if isinstance(a, RelayFunction) and isinstance(b, RelayFunction):
            pending += zip(a.params, b.params, strict=True)
        if isinstance(a, RelayLet) and isinstance(b, RelayLet):
            pending.append((a.var, b.var))
    return True


def _same_atoms(a: RelayExpr, b: RelayExpr) -> bool:
    match a, b:
        case RelayConstant(data=mine), RelayConstant(data=yours):
            return _data(mine) == _data(yours)
        case RelayOp(name=mine), RelayOp(name=yours):
            return bool(mine == yours)
        case RelayGlobalVar(name=mine), RelayGlobalVar(name=yours):
            return bool(mine == yours)
    return False


def _data(data: Literal) -> tuple[object, ...]:
    return (repr(data.value), data.dtype, data.shape, data.content)


def _alike(a: RelayExpr, b: RelayExpr) -> bool:
    """Whether two nodes are alike, their parts aside."""
    if type(a) is not type(b) or len(operands(a)) != len(operands(b)):
        return False
    match a, b:
        case RelayVar(annotation=mine), RelayVar(annotation=yours):
            return same_type(mine, yours)
        case RelayProjection(index=mine), RelayProjection(index=yours):
            return mine == yours
        case RelayCall(attrs=mine), RelayCall(attrs=yours):
            return _attributes(mine) == _attributes(yours)
        case RelayFunction(), RelayFunction():
            return (
                len(a.params) == len(b.params)
                and same_type(a.ret, b.ret)
                and _attributes(a.attrs) == _attributes(b.attrs)
            )
    return True


def _attributes(attrs: object) -> str:
    """Attributes as a text that tells 1 from 1.0 and True."""
    return repr(attrs)


def same_type(a: RelayType | None, b: RelayType | None) -> bool:
    """Whether two types are the same."""
    match a, b:
        case RelayTensorType(), RelayTensorType():
            return a.shape == b.shape and a.dtype == b.dtype
        case RelayTupleType(fields=mine), RelayTupleType(fields=yours):
            return len(mine) == len(yours) and all(map(same_type, mine, yours))
        case RelayFuncType(params=mine), RelayFuncType(params=yours):
            return (
                len(mine) == len(yours)
                and all(map(same_type, mine, yours))
                and same_type(a.ret, b.ret)
            )
    return a is None and b is None
