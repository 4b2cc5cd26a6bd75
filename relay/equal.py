"""Equality of two pieces of Relay, sharing included."""

from __future__ import annotations

from rlx.relay.nodes import (
    RelayCall,
    RelayConstant,
    RelayExpr,
    RelayFunction,
    RelayGlobalVar,
    RelayLet,
    RelayModule,
    RelayOp,
    RelayProjection,
    RelayVar,
    operands,
)
from rlx.relay.printer import print_type


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
    taken: set[RelayExpr] = set()
    pending = [(first, second)]
    while pending:
        a, b = pending.pop()
        if _own(a) != _own(b):
            return False
        if isinstance(a, RelayConstant | RelayOp | RelayGlobalVar):
            continue
        if a in partners or b in taken:
            if partners.get(a) is not b:
                return False
            continue
        partners[a] = b
        taken.add(b)
        pending += zip(operands(a), operands(b), strict=True)
        match a, b:
            case RelayFunction(params=mine), RelayFunction(params=yours):
                pending += zip(mine, yours, strict=True)
            case RelayLet(var=mine), RelayLet(var=yours):
                pending.append((mine, yours))
    return True


def _own(node: RelayExpr) -> tuple[object, ...]:
    """All that a node is, its parts aside. A text of attributes tells 1 from 1.0 and True."""
    kind = (type(node), len(operands(node)))
    match node:
        case RelayConstant(data=data):
            return (*kind, repr(data.value), data.dtype, data.shape, data.content)
        case RelayOp(name=name) | RelayGlobalVar(name=name):
            return (*kind, name)
        case RelayVar(annotation=annotation):
            return (*kind, print_type(annotation))
        case RelayProjection(index=index):
            return (*kind, index)
        case RelayCall(attrs=attrs):
            return (*kind, repr(attrs))
        case RelayFunction(params=params, ret=ret, attrs=attrs):
            return (*kind, len(params), print_type(ret), repr(attrs))
    return kind
