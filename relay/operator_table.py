"""The table of Relay's operators in terms of Relax, shared by the whole room."""

from __future__ import annotations

from functools import cache

from rlx.grammar.nodes import ast
from rlx.grammar.suggest import closest
from rlx.relay import elementwise_rows, network_rows, shape_rows
from rlx.relay.elementwise_rows import Row
from rlx.relay.translated_call import OperandError, TranslatedCall

TABLE: dict[str, Row] = {**elementwise_rows.ROWS, **shape_rows.ROWS, **network_rows.ROWS}
"""The function that expresses a call of each operator in terms of Relax."""


def is_in_table(name: str) -> bool:
    return name in TABLE


def translated(call: TranslatedCall) -> ast.Expr:
    """A call in terms of Relax: calls of its operators, nested, over the operands.

    Raises
    ------
    OperandError
        If the table does not translate these operands and attributes.
    """
    return TABLE[call.name](call)


@cache
def similar(name: str) -> list[str]:
    """The operators of the table that an unknown name may have been meant for."""
    return closest(name, TABLE)


__all__ = ["TABLE", "OperandError", "is_in_table", "similar", "translated"]
