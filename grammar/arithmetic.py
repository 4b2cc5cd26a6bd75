"""Operators: precedence, and the node each makes of scalars and of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.grammar import ast, tir
from rlx.grammar.dtype import INT32, INT64, DataType
from rlx.grammar.lalr import Entry, Rejected
from rlx.grammar.lexer import MAX_NESTING
from rlx.grammar.neutral import Name, Negation, Operation
from rlx.grammar.node import Span

if TYPE_CHECKING:
    from rlx.grammar.coerce import Coerce

PRECEDENCE = {
    "or": 1,
    "and": 2,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "==": 4,
    "!=": 4,
    "|": 5,
    "^": 6,
    "&": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "//": 10,
    "%": 10,
    "@": 10,
    "**": 12,
}
"""Python's: a higher number binds tighter; all associate to the left but `**`. `not` stands at 3."""
NOT = 3

PRIM: dict[str, type[tir.Binary]] = {
    "+": tir.Add,
    "-": tir.Sub,
    "*": tir.Mul,
    "//": tir.FloorDiv,
    "%": tir.FloorMod,
    "<": tir.LT,
    "<=": tir.LE,
    ">": tir.GT,
    ">=": tir.GE,
    "==": tir.EQ,
    "!=": tir.NE,
    "and": tir.And,
    "or": tir.Or,
}
PRIM_CALL = {
    "<<": "shift_left",
    ">>": "shift_right",
    "&": "bitwise_and",
    "|": "bitwise_or",
    "^": "bitwise_xor",
    "**": "pow",
}
COMPARISONS = frozenset(["<", "<=", ">", ">=", "==", "!=", "and", "or"])
RELAX = {
    "+": "relax.add",
    "-": "relax.subtract",
    "*": "relax.multiply",
    "/": "relax.divide",
    "//": "relax.floor_divide",
    "%": "relax.mod",
    "**": "relax.power",
    "<": "relax.less",
    "<=": "relax.less_equal",
    ">": "relax.greater",
    ">=": "relax.greater_equal",
    "==": "relax.equal",
    "!=": "relax.not_equal",
    "@": "relax.matmul",
    "&": "relax.bitwise_and",
    "|": "relax.bitwise_or",
    "^": "relax.bitwise_xor",
    "<<": "relax.left_shift",
    ">>": "relax.right_shift",
    "and": "relax.logical_and",
    "or": "relax.logical_or",
}
RELAX_PREFIX = {"-": "relax.negative", "~": "relax.bitwise_not", "not": "relax.logical_not"}


def fold(coerce: Coerce, items: list[Any]) -> Entry:
    """Apply the operators of a flat chain ``operand, operator, operand, …`` by precedence."""
    operands: list[Entry] = []
    operators: list[str] = []
    if items.count("**") > MAX_NESTING:
        # The only operator that nests to the right.
        raise Rejected(
            f"powers are nested deeper than {MAX_NESTING} levels", items[0][1], items[-1][2]
        )

    def apply() -> None:
        operator = operators.pop()
        if operator == "not":
            inner = operands.pop()
            operands.append((Negation(inner), inner[1], inner[2]))
            return
        right = operands.pop()
        left = operands.pop()
        operands.append((binary(coerce, operator, left, right), left[1], right[2]))

    def push(entry: Entry) -> None:
        value = entry[0]
        if isinstance(value, Negation):
            operators.append("not")
            push(value.operand)
        else:
            operands.append(entry)

    push(items[0])
    for at in range(1, len(items), 2):
        operator = items[at]
        level = PRECEDENCE[operator]
        while operators:
            above = NOT if operators[-1] == "not" else PRECEDENCE[operators[-1]]
            if above < level or (above == level and operator == "**"):
                break
            apply()
        operators.append(operator)
        push(items[at + 1])
    while operators:
        apply()
    return operands[0]


def binary(coerce: Coerce, operator: str, left: Entry, right: Entry) -> Any:
    """One operator on two operands, as far as they say what it is."""
    a, b = left[0], right[0]
    span = (left[1], right[2])
    if _is_value(a) or _is_value(b):
        return relax(coerce, operator, (left, right), span)
    if (_is_open(a) or _is_open(b)) and not coerce.scope.in_prim_func():
        return Operation(operator, (left, right))
    return prim(coerce, operator, (left, right), span)


def prefix(coerce: Coerce, operator: str, operand: Entry, start: int) -> Any:
    """One operator in front of its operand."""
    value, span = operand[0], (start, operand[2])
    if operator == "+":
        return value
    if operator == "not":
        return Negation(operand)
    if operator == "-" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return -value
    if _is_value(value):
        return relax(coerce, operator, (operand,), span)
    if _is_open(value) and not coerce.scope.in_prim_func():
        return Operation(operator, (operand,))
    return prim(coerce, operator, (operand,), span)


def _is_value(value: Any) -> bool:
    return (
        isinstance(value, ast.Expr) and not isinstance(value, ast.PrimValue) and not _is_open(value)
    )


def _is_open(value: Any) -> bool:
    """Whether the place decides: a scalar parameter is a dimension too, a dimension may be called like a function."""
    if isinstance(value, ast.Var):
        return isinstance(value.struct_info_annotation, ast.PrimStructInfo)
    return isinstance(value, (Name, Operation, Negation, ast.GlobalVar))


def prim(coerce: Coerce, operator: str, operands: tuple[Entry, ...], span: Span) -> tir.PrimExpr:
    """The operator on scalars. Chains are deep on the left, so that side is walked, not recursed into."""
    if len(operands) == 1:
        return _prim_prefix(coerce, operator, operands[0], span)
    spine: list[tuple[str, Entry, Span]] = []
    left = operands[0]
    spine.append((operator, operands[1], span))
    while isinstance(left[0], Operation) and len(left[0].operands) == 2:
        inner = left[0]
        spine.append((inner.operator, inner.operands[1], (left[1], left[2])))
        left = inner.operands[0]
    literal = INT32 if coerce.scope.in_prim_func() else INT64
    value, other = _agree(coerce, left, spine[-1][1], literal)
    # The data type is carried along: looking it up would walk the whole chain again for each link.
    data_type = _type(value, literal)
    for at, (name, right, where) in enumerate(reversed(spine)):
        if at:
            other = coerce.prim(right, data_type)
        value = _prim_binary(name, value, other, where, data_type)
        if name in COMPARISONS:
            data_type = literal
    return value


def _agree(
    coerce: Coerce, left: Entry, right: Entry, literal: DataType
) -> tuple[tir.PrimExpr, tir.PrimExpr]:
    """Both operands; a literal takes the data type of the other one."""
    if isinstance(left[0], (int, float)):
        b = coerce.prim(right, literal)
        return coerce.prim(left, _type(b, literal)), b
    a = coerce.prim(left, literal)
    return a, coerce.prim(right, _type(a, literal))


def _type(value: tir.PrimExpr, literal: DataType) -> DataType:
    found = tir.type_of(value) if not isinstance(value, tir.Call) or value.dtype else literal
    return found if found.is_integer or found.is_float else literal


def _prim_binary(
    operator: str, a: tir.PrimExpr, b: tir.PrimExpr, span: Span, data_type: DataType
) -> tir.PrimExpr:
    made = PRIM.get(operator)
    if made is not None:
        return made(a, b, span)
    if operator == "/":
        if data_type.is_float or tir.type_of(b).is_float:
            return tir.Div(a, b, span)
        return tir.TruncDiv(a, b, span)
    name = PRIM_CALL.get(operator)
    if name is None:
        raise Rejected(f"the operator {operator} does not work on scalars", *span)
    return tir.Call(name, (a, b), data_type, {}, span)


def _prim_prefix(coerce: Coerce, operator: str, operand: Entry, span: Span) -> tir.PrimExpr:
    literal = INT32 if coerce.scope.in_prim_func() else INT64
    value = coerce.prim(operand, literal)
    if operator == "-":
        data_type = _type(value, literal)
        zero: tir.PrimExpr = (
            tir.FloatImm(0.0, data_type, span)
            if data_type.is_float
            else tir.IntImm(0, data_type, span)
        )
        return tir.Sub(zero, value, span)
    if operator == "not":
        return tir.Not(value, span)
    return tir.Call("bitwise_not", (value,), tir.type_of(value), {}, span)


def relax(coerce: Coerce, operator: str, operands: tuple[Entry, ...], span: Span) -> ast.Expr:
    """The operator on tensors: a call."""
    table = RELAX_PREFIX if len(operands) == 1 else RELAX
    spine: list[tuple[str, tuple[Entry, ...], Span]] = [(operator, operands, span)]
    while isinstance(spine[-1][1][0][0], Operation):
        entry = spine[-1][1][0]
        spine.append((entry[0].operator, entry[0].operands, (entry[1], entry[2])))
    value: ast.Expr | None = None
    for name, parts, where in reversed(spine):
        table = RELAX_PREFIX if len(parts) == 1 else RELAX
        if name not in table:
            raise Rejected(f"the operator {name} does not work on tensors", *where)
        first = coerce.expr(parts[0]) if value is None else value
        rest = tuple(coerce.expr(part) for part in parts[1:])
        spans = tuple((part[1], part[2]) for part in parts)
        value = ast.Call(ast.op(table[name]), (first, *rest), arg_spans=spans, span=where)
    assert value is not None
    return value


__all__ = ["PRECEDENCE", "binary", "fold", "prefix", "prim", "relax"]
