"""The nodes that Python's operators on expressions make;
:mod:`rlx.grammar.overloads` has the operators.
"""

from __future__ import annotations

from typing import NoReturn

from rlx.grammar import ast, tir
from rlx.grammar.dtype import BOOL, INT64, DataType, dtype
from rlx.grammar.prim_operators import BY_SYMBOL
from rlx.grammar.python_places import Place, here
from rlx.grammar.tir import PrimExpr

NUMBER = "number"
"""How :attr:`rlx.grammar.ast.Call.spelled` marks an argument that is written as a bare number."""


def value(name: str, operands: tuple[object, ...]) -> ast.Call:
    """A call of an operator on values;
    a number keeps in mind that it is one, and gets its type beside a tensor.
    """
    place = here()
    numbers: dict[int | str, str] = {
        at: NUMBER for at, given in enumerate(operands) if isinstance(given, bool | int | float)
    }
    args = tuple([expr(given, place) for given in operands])
    return ast.Call(ast.op(name), args, span=place, spelled=numbers)


def call(callee: object, args: tuple[object, ...]) -> ast.Call:
    """A call of a function value.

    Raises
    ------
    TypeError
        If the callee is an operator, or an argument no value.
    """
    if not isinstance(callee, ast.Expr) or isinstance(callee, ast.Op):
        raise TypeError("an operator is called by its function: rlx.op.add(x, y)")
    place = here()
    return ast.Call(callee, tuple([expr(given, place) for given in args]), span=place)


def item(tuple_value: ast.Expr, index: object) -> ast.TupleGetItem:
    """A field of a tuple.

    Raises
    ------
    TypeError
        If the index is no integer: a part of a tensor is ``rlx.op.take`` or
        ``rlx.op.strided_slice``.
    """
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(
            f"x[…] is a field of a tuple, and its index an integer; found {index!r}. "
            "A part of a tensor is rlx.op.strided_slice(x, …) or rlx.op.take(x, …)"
        )
    return ast.TupleGetItem(tuple_value, index, here())


def expr(given: object, place: Place | None = None) -> ast.Expr:
    """A value of Python as an expression: numbers, texts, tuples and lists, scalars of arithmetic,
    data types.

    Raises
    ------
    TypeError
        If it is none of these.
    """
    match given:
        case ast.Expr():
            return given
        case PrimExpr():
            return ast.PrimValue(given, place)
        case bool() | int() | float():
            return ast.PrimValue(prim(given), place)
        case str():
            return ast.StringImm(given, place)
        case DataType():
            return ast.DataTypeImm(given, place)
        case tuple() | list():
            return ast.Tuple(tuple([expr(part, place) for part in given]), (), place)
        case None:
            return ast.Call(ast.op("relax.null_value"), (), span=place)
    raise TypeError(f"expected a value of Relax, a number or a tuple; found {_described(given)}")


def prim(given: object, beside: DataType | None = None, place: Place | None = None) -> PrimExpr:
    """A value of Python as a scalar; ``beside`` is the type of the other operand.

    Raises
    ------
    TypeError
        If it is none.
    """
    match given:
        case PrimExpr():
            return given
        case ast.PrimValue(value=found):
            return found
        case bool():
            return tir.IntImm(int(given), BOOL, place)
        case int():
            if beside is not None and beside.is_float:
                return tir.FloatImm(float(given), beside, place)
            integer = beside is not None and beside.code in ("int", "uint")
            return tir.IntImm(given, beside if integer and beside else INT64, place)
        case float():
            wanted = beside if beside is not None and beside.is_float else dtype("float64")
            return tir.FloatImm(given, wanted, place)
    raise TypeError(f"expected a scalar or a number, found {_described(given)}")


def scalar(symbol: str, a: object, b: object) -> PrimExpr:
    """An operator on two scalars; of two literal integers the number.

    Raises
    ------
    TypeError
        If an operand is no scalar.
    """
    if isinstance(a, ast.Expr) or isinstance(b, ast.Expr):
        _mixed(symbol)
    place = here()
    left = prim(a, tir.type_of(b) if isinstance(b, PrimExpr) else None, place)
    right = prim(b, tir.type_of(left), place)
    if symbol == "/":
        kind = tir.type_of(left)
        node = tir.Div if kind.is_float or tir.type_of(right).is_float else tir.TruncDiv
        return node(left, right, place)
    found = BY_SYMBOL[symbol]
    assert found.node is not None
    if (
        isinstance(left, tir.IntImm)
        and isinstance(right, tir.IntImm)
        and left.dtype == right.dtype
        and found.exact is not None
        and not issubclass(found.node, tir.Comparison)
        and not (symbol in ("//", "%") and right.value == 0)
    ):
        return tir.IntImm(found.exact(left.value, right.value), left.dtype, place)
    return found.node(left, right, place)


def negative(given: PrimExpr) -> PrimExpr:
    """A scalar with the other sign."""
    kind = tir.type_of(given)
    return tir.negated(given, kind, here())


def _mixed(symbol: str) -> NoReturn:
    raise TypeError(
        f"{symbol!r} stands between a scalar of arithmetic and a value of Relax: "
        "make a value of the scalar with rlx.prim(…)"
    )


def _described(given: object) -> str:
    return f"{type(given).__name__} {given!r}"[:80]


__all__ = ["NUMBER", "call", "expr", "item", "negative", "prim", "scalar", "value"]
