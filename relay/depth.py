"""How deep the scopes and the tuples of a function are nested by way of nodes."""

from __future__ import annotations

from rlx.grammar.diagnostic import Diagnostic
from rlx.relay.cursor import NESTING, SCOPES, TUPLES
from rlx.relay.nodes import RelayExpr, RelayFunction, RelayIf, RelayLet, RelayTuple, operands
from rlx.relay.scopes import Schedule


def too_deep(function: RelayFunction) -> Diagnostic | None:
    """What to report of a function whose nodes lead from scope to scope, or from tuple to tuple,
    more often than the limits allow.
    """
    schedule = Schedule(function.body)
    inner = schedule.inner.values()
    if max((scope.depth for scopes in inner for scope in scopes), default=0) > NESTING[SCOPES]:
        what, help = SCOPES, "bind inner parts by let"
    elif _of_tuples(schedule) > NESTING[TUPLES]:
        what, help = TUPLES, "use one tuple with more fields"
    else:
        return None
    words = (
        f"{what} are nested deeper than {NESTING[what]}, counted through the nodes that they use"
    )
    return Diagnostic("PARSE", "error", words, function.span, help=help)


def _of_tuples(schedule: Schedule) -> int:
    """How deep tuples are nested at most."""
    depths: dict[RelayExpr, int] = {}
    for node, binds in schedule.order:
        match node:
            case RelayLet(var=var, value=value) if binds:
                depths[var] = depths.get(value, 0)
            case RelayLet(body=body):
                depths[node] = depths.get(body, 0)
            case RelayTuple(fields=fields):
                depths[node] = 1 + max((depths.get(field, 0) for field in fields), default=0)
            case RelayIf() | RelayFunction():
                depths[node] = max(depths.get(part, 0) for part in operands(node))
    return max(depths.values(), default=0)
