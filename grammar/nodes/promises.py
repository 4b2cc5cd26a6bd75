"""Promises about the sizes of a function's arguments, which its attributes make.

TVM plans memory by ``tir_var_upper_bound``; exporters write both attributes for the sizes that a
network takes. Nothing checks them when the function is called.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.nodes import ast, tir

LOWER, UPPER = "tir_var_lower_bound", "tir_var_upper_bound"


def promised_limits(function: ast.Function, attribute: str = UPPER) -> dict[tir.Var, int]:
    """The limits of shape variables in an attribute of a function, by variable of the signature; names
    of other variables count for nothing, as in TVM.
    """
    said = function.attrs.get(attribute)
    if not isinstance(said, Mapping):
        return {}
    limits = {str(name): _integer(value) for name, value in said.items()}
    found = {var: limits.get(var.name) for var in function.shape_vars}
    return {var: value for var, value in found.items() if value is not None and value >= 0}


def promises(function: ast.Function) -> list[tir.PrimExpr]:
    """Both kinds of limits as conditions, ``2 <= n`` before ``n <= 8``. Limits that no size keeps
    promise nothing.
    """
    low, high = (promised_limits(function, attribute) for attribute in (LOWER, UPPER))
    found: list[tir.PrimExpr] = []
    for var in function.shape_vars:
        least, most = low.get(var), high.get(var)
        if least is not None and most is not None and least > most:
            continue
        found += [] if least is None else [tir.LE(tir.IntImm(least), var)]
        found += [] if most is None else [tir.LE(var, tir.IntImm(most))]
    return found


def _integer(value: object) -> int | None:
    if isinstance(value, ast.PrimValue):
        value = value.value
    if isinstance(value, tir.IntImm):
        value = value.value
    return value if isinstance(value, int) else None
