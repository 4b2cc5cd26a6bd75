"""Whether there is memory for what an operator computes, asked before it computes.

The shapes of its results are derived from the struct info of the operands, as the checker derives them, with numbers
for dimensions. That costs more than many operators do, so it is left out where the results are certainly small, and
where the operator was asked about the same operands before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import Any

from rlx.grammar import ast, tir
from rlx.operators.context import Message, Place
from rlx.operators.declare import Operator
from rlx.operators.evaluate.arrays import MOST_ELEMENTS, sizes
from rlx.semantics.faults import Stop
from rlx.semantics.machine.reading import parts
from rlx.semantics.run_time import OBJECT, struct_info_of
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value
from rlx.solver.context import Context
from rlx.solver.prover import Prover

Key = tuple[object, ...]
Number = Callable[[tir.PrimExpr], Any]


def signature(values: Sequence[Value]) -> Key:
    """What of operands the shapes of results can depend on."""
    found: list[object] = []
    for value in parts(values):
        match value:
            case Tensor(data=data):
                found.append(data.shape)
            case ShapeValue(values=numbers):
                found.append(numbers)
            case Scalar(value=number):
                found.append(number)
            case _:
                found.append(type(value))
    return tuple(found)


def bound(key: Key) -> float:
    """More elements than an operator with these operands, and no numbers among its keywords, can compute."""
    found = 1.0
    for known in key:
        if isinstance(known, tuple):
            found *= 1 + prod(map(abs, known)) if known else 1
        elif isinstance(known, int | float):
            found *= 1 + abs(known)
    return found


def factor(call: ast.Call) -> float:
    """How much the numbers among the keywords of a call can add to that: each may hold for several axes."""
    found = 1.0
    pending = list(call.attrs.values())
    while pending:
        value = pending.pop()
        match value:
            case tuple() | list():
                pending.extend(value)
            case (
                tir.IntImm(value=number) | tir.FloatImm(value=number) | int(number) | float(number)
            ):
                found *= (1 + abs(number)) ** 3
            case ast.PrimValue(value=inner):
                pending.append(inner)
            case ast.Tuple(fields=fields):
                pending.extend(fields)
            case tir.PrimExpr() | ast.Expr():
                return float("inf")
    return found


class _Known:
    """An operator context in which everything holds: what does not is the evaluation's to find."""

    def __init__(self, infos: dict[ast.Expr, ast.StructInfo]) -> None:
        self._infos = infos
        self.discharged = 0

    @cached_property
    def prover(self) -> Prover:
        return Prover(Context())

    def info(self, expr: ast.Expr) -> ast.StructInfo:
        return self._infos.get(expr, OBJECT)

    def poisoned(self, expr: ast.Expr) -> bool:
        return False

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        pass

    def require(
        self,
        code: str,
        condition: tir.PrimExpr | Sequence[tir.PrimExpr],
        message: Message,
        at: Place = None,
    ) -> bool:
        return True

    def fresh_dim(self, hint: str) -> tir.Var:
        return tir.Var(hint)

    def global_info(self, gv: ast.GlobalVar) -> ast.FuncStructInfo | None:
        return None

    def prim_func(self, gv: ast.GlobalVar) -> tir.PrimFunc | None:
        return None


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


def ask(operator: Operator, call: ast.Call, values: Sequence[Value], number: Number) -> None:
    """Refuse a call whose results no memory can hold.

    Parameters
    ----------
    number
        The number of a dimension, in the scope of the call.

    Raises
    ------
    OperatorFault
        ``E-lengths-memory``
    """
    pending = [operator.derive(call, _Known(_infos(call.args, values)))]
    while pending:
        info = pending.pop()
        match info:
            case ast.TupleStructInfo(fields=fields):
                pending.extend(fields)
            case ast.TensorStructInfo(shape=ast.ShapeExpr(values=dims)):
                try:
                    found = [int(number(dim)) for dim in dims]
                except Stop:
                    continue  # data decide about it
                if min(found, default=0) >= 0 and prod(found) > MOST_ELEMENTS:
                    sizes(found)
