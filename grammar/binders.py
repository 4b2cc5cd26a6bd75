"""Which shape variables annotations bind."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from rlx.grammar import ast, tir
from rlx.grammar.struct_infos import children, numbers, of_the_value


def binding_positions(info: ast.StructInfo) -> list[tir.PrimExpr]:
    """The dimensions and values of an annotation in which a lone shape variable is bound.

    A function type's own parameters are not among them: they bind for its calls (ledger 13).
    """
    return [number for part in of_the_value(info) for number in numbers(part)]


def bind_callable(info: ast.StructInfo, bound: AbstractSet[tir.Var]) -> None:
    """Settle which shape variables the function types in an annotation bind for their calls.

    Those that stand alone in a parameter and are not bound around the type. It can be asked again
    once more is bound: a parameter of a signature may come before the one that binds its variables.
    """
    if isinstance(info, ast.FuncStructInfo):
        if info.params is None:
            return
        lone = (value for param in info.params for value in binding_positions(param))
        own = dict.fromkeys(v for v in lone if type(v) is tir.Var and v not in bound)
        object.__setattr__(info, "binders", tuple(own))
        bound = bound | own.keys()
    for inner in children(info):
        bind_callable(inner, bound)
