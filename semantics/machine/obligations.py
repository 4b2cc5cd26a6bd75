"""What an operator asks of its operands, with numbers for dimensions.

The checker leaves open what it does not know: a rank, a dimension, an element type. When the
operator runs, all of it is known, and the same rule decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.grammar import ast, tir
from rlx.grammar.struct_infos import OBJECT
from rlx.operators.call_alone import CallAlone
from rlx.operators.context import Message, Place
from rlx.operators.declare import Operator
from rlx.operators.evaluation import OperatorFault
from rlx.semantics.faults import Stop
from rlx.semantics.struct_info_of import struct_info_of
from rlx.semantics.values import TupleValue, Value
from rlx.spec.registry import rule

Number = Callable[[tir.PrimExpr], Any]
"""The number of a dimension, in the scope of the call; it raises :class:`Stop` where data decide
about it.
"""


class _Measured(CallAlone):
    """An operator context in which every operand has a value.

    Attributes
    ----------
    failed
        What the rule says against the call first.
    """

    def __init__(self, infos: dict[ast.Expr, ast.StructInfo], number: Number) -> None:
        super().__init__()
        self._infos, self._number = infos, number
        self.failed = ""

    def info(self, expr: ast.Expr) -> ast.StructInfo:
        return self._infos.get(expr, OBJECT)

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        if severity == "error":
            self.failed = self.failed or message

    def require(
        self,
        code: str,
        condition: tir.PrimExpr | Sequence[tir.PrimExpr],
        message: Message,
        at: Place = None,
    ) -> bool:
        parts = (condition,) if isinstance(condition, tir.PrimExpr) else condition
        holds = all(self._holds(part) for part in parts)
        if not holds:
            self.failed = self.failed or (message if isinstance(message, str) else message())
        return holds

    def _holds(self, condition: tir.PrimExpr) -> bool:
        try:
            return bool(self._number(condition))
        except Stop:
            return True


def _infos(exprs: Sequence[ast.Expr], values: Sequence[Value]) -> dict[ast.Expr, ast.StructInfo]:
    """The struct info of operands, and of the fields of tuples that are written out."""
    found: dict[ast.Expr, ast.StructInfo] = {}
    pending = list(zip(exprs, values, strict=False))
    while pending:
        expr, value = pending.pop()
        found[expr] = struct_info_of(value)
        if isinstance(expr, ast.Tuple) and isinstance(value, TupleValue):
            pending.extend(zip(expr.fields, value.fields, strict=True))
    return found


def derived(
    operator: Operator, call: ast.Call, values: Sequence[Value], number: Number
) -> tuple[ast.StructInfo, str]:
    """The struct info of a call with these operands, and what its rule says against it; empty if
    nothing.
    """
    context = _Measured(_infos(call.args, values), number)
    info = operator.derive(call, context)
    return info, context.failed


@rule("E-obligations", "e3b4d5d7", "step")
def hold(operator: Operator, call: ast.Call, values: Sequence[Value], number: Number) -> None:
    """Refuse a call that the operator's rule refuses for these operands.

    Raises
    ------
    OperatorFault
        ``E-obligations-hold``
    """
    _, failed = derived(operator, call, values, number)
    if failed:
        raise OperatorFault("E-obligations-hold", failed)
