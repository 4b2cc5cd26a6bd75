"""Scalars of tensor expressions, with Python's operators.

Operands of different types are converted as in TVM: float types have priority over integer types,
and wider types over narrower ones. A plain Python number is an int32 or a float32, but takes the
type of the other operand. Constants, sums with 0 and products with 1 are folded immediately.
"""

from __future__ import annotations

import math
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT32, INT64, DataType, fits, lacking
from rlx.grammar.nodes.dtype import dtype as named
from rlx.grammar.nodes.overloaded import element_type, python_number
from rlx.grammar.nodes.overloads import OwnOperators
from rlx.grammar.nodes.prim_operators import DIVISIONS, exact
from rlx.grammar.nodes.python_places import type_name
from rlx.te.errors import fail


class Scalar(OwnOperators):
    """A scalar expression: an element of a tensor, an index, a dimension, or a computation with
    these.

    Attributes
    ----------
    node
        The expression of the syntax tree.
    dtype
        Its element type.
    """

    node: tir.PrimExpr
    __slots__ = ("dtype", "node")

    def __init__(self, node: tir.PrimExpr, dtype: DataType) -> None:
        self.node, self.dtype = node, dtype

    def astype(self, dtype: str | DataType) -> Scalar:
        """The value in another type."""
        return cast(dtype, self)

    @property
    def value(self) -> int | float | None:
        """The number of a constant; None for everything else."""
        node = self.node
        return node.value if type(node) is tir.IntImm or type(node) is tir.FloatImm else None

    def written_as(self, other: Scalar) -> bool:
        """Whether both are the same expression: not whether they are equal, which needs a proof."""
        return tir.interned(self.node) is tir.interned(other.node)

    def __add__(self, other: Any) -> Scalar:
        return binary(tir.Add, self, other)

    def __radd__(self, other: Any) -> Scalar:
        return binary(tir.Add, other, self)

    def __sub__(self, other: Any) -> Scalar:
        return binary(tir.Sub, self, other)

    def __rsub__(self, other: Any) -> Scalar:
        return binary(tir.Sub, other, self)

    def __mul__(self, other: Any) -> Scalar:
        return binary(tir.Mul, self, other)

    def __rmul__(self, other: Any) -> Scalar:
        return binary(tir.Mul, other, self)

    def __truediv__(self, other: Any) -> Scalar:
        return divide(self, other)

    def __rtruediv__(self, other: Any) -> Scalar:
        return divide(other, self)

    def __floordiv__(self, other: Any) -> Scalar:
        return binary(tir.FloorDiv, self, other)

    def __rfloordiv__(self, other: Any) -> Scalar:
        return binary(tir.FloorDiv, other, self)

    def __mod__(self, other: Any) -> Scalar:
        return binary(tir.FloorMod, self, other)

    def __rmod__(self, other: Any) -> Scalar:
        return binary(tir.FloorMod, other, self)

    def __pow__(self, other: Any) -> Scalar:
        return power(self, other)

    def __rpow__(self, other: Any) -> Scalar:
        return power(other, self)

    def __neg__(self) -> Scalar:
        if self.dtype.is_integer:
            return binary(tir.Sub, const(0, self.dtype), self)
        return self * const(-1, self.dtype)

    def __pos__(self) -> Scalar:
        return self

    def __lt__(self, other: Any) -> Scalar:
        return binary(tir.LT, self, other)

    def __le__(self, other: Any) -> Scalar:
        return binary(tir.LE, self, other)

    def __gt__(self, other: Any) -> Scalar:
        return binary(tir.GT, self, other)

    def __ge__(self, other: Any) -> Scalar:
        return binary(tir.GE, self, other)

    def __eq__(self, other: object) -> Scalar:  # type: ignore[override]
        return binary(tir.EQ, self, other)

    def __ne__(self, other: object) -> Scalar:  # type: ignore[override]
        return binary(tir.NE, self, other)

    __hash__ = object.__hash__

    def __lshift__(self, other: Any) -> Scalar:
        return bitwise("shift_left", self, other)

    def __rshift__(self, other: Any) -> Scalar:
        return bitwise("shift_right", self, other)

    def __and__(self, other: Any) -> Scalar:
        return bitwise("bitwise_and", self, other)

    def __or__(self, other: Any) -> Scalar:
        return bitwise("bitwise_or", self, other)

    def __xor__(self, other: Any) -> Scalar:
        return bitwise("bitwise_xor", self, other)

    def __rlshift__(self, other: Any) -> Scalar:
        return bitwise("shift_left", other, self)

    def __rrshift__(self, other: Any) -> Scalar:
        return bitwise("shift_right", other, self)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Scalar:
        if self.dtype == BOOL:
            return negation(self)
        return Scalar(tir.Call("bitwise_not", (self.node,)), self.dtype)

    def __bool__(self) -> bool:
        if self.value is not None:
            return bool(self.value)
        node = self.node
        if isinstance(node, tir.EQ | tir.NE) and tir.interned(node.a) is tir.interned(node.b):
            return isinstance(node, tir.EQ)
        fail(
            "a condition over elements or symbolic sizes has no truth value while the expression is"
            " made: write te.if_then_else(condition, a, b), te.all(…) or te.any(…)"
        )

    def __index__(self) -> int:
        if isinstance(self.node, tir.IntImm):
            return self.node.value
        fail(f"expected a number, found {self}, which is known only at run time")

    __int__ = __index__

    def __str__(self) -> str:
        return str(self.node)

    def __repr__(self) -> str:
        return f"Scalar({self.node}: {self.dtype})"


def kind_of(dtype: str | DataType) -> DataType:
    """An element type from its name. Raises TensorExpressionError if there is no such type, or it
    cannot be an element type.
    """
    try:
        found = element_type(dtype)
    except (TypeError, ValueError) as error:
        fail(str(error))
    if found.is_void or found.code == "handle" or found.lanes != 1:
        fail(f"expected the type of one element such as 'float32', found {str(found)!r}")
    wrong = lacking(found)
    if wrong is not None:
        fail(wrong[1])
    return found


def const(value: bool | float, dtype: str | DataType) -> Scalar:
    """A constant of a type.

    Raises
    ------
    TensorExpressionError
        If it is not a number, or does not fit into the type.
    """
    kind, number = kind_of(dtype), python_number(value)
    if not isinstance(number, bool | int | float):
        fail(f"expected a number, found {_described(value)}")
    if kind.is_float:
        return Scalar(tir.FloatImm(float(number), kind), kind)
    if not math.isfinite(number):
        fail(f"{number} is not a number of type {kind}")
    return Scalar(tir.IntImm(int(number), kind), kind)


def scalar(value: Any) -> Scalar:
    """A scalar from a number, an expression of the syntax tree, or a scalar. Raises
    TensorExpressionError if it is anything else; a tensor must be indexed.
    """
    if type(value) is Scalar:
        return value
    match value:
        case Scalar():
            return value
        case bool():
            return const(value, BOOL)
        case int():
            return const(value, INT32 if fits(value, INT32) else INT64)
        case float():
            return const(value, FLOAT32)
        case tir.PrimExpr():
            return Scalar(value, tir.type_of(value))
        case ast.PrimValue(value=inner):
            return scalar(inner)
        case ast.Var(shape_var=var) if var is not None:
            return Scalar(var, var.dtype)
    if isinstance(
        python_number(value), bool | int | float
    ):  # a scalar of NumPy has a type of its own
        return const(value, str(value.dtype))
    if hasattr(value, "ndim") and hasattr(value, "shape"):
        fail(f"expected an element, found {_described(value)}: index it, as in A[i, j]")
    fail(f"expected a number or an element of a tensor, found {_described(value)}")


def _described(value: object) -> str:
    name, kind = getattr(value, "name", None), type_name(value)
    return f"the tensor {name}" if kind == "Tensor" and isinstance(name, str) else kind


# ---------------------------------------------------------------- types


def common(a: Scalar, b: Scalar) -> DataType:
    """The common type of two operands."""
    x, y = a.dtype, b.dtype
    if x is y or x == y:
        return x
    if x.is_float != y.is_float:
        return x if x.is_float else y
    if x == BOOL or y == BOOL:
        return y if x == BOOL else x
    if x.code != y.code and not x.is_float:
        return named(f"int{max(x.bits, y.bits)}")
    return x if x.bits >= y.bits else y


def cast(dtype: str | DataType, value: Any) -> Scalar:
    """A value in another type; a constant is converted at once."""
    given = scalar(value)
    if given.dtype is dtype:
        return given
    kind = kind_of(dtype)
    if given.dtype == kind:
        return given
    number = given.value
    if number is not None and math.isfinite(number):
        if kind.is_float or (not given.dtype.is_float and fits(int(number), kind)):
            return const(number, kind)
        if kind == BOOL:
            return const(number != 0, BOOL)
    return Scalar(tir.Cast(kind, given.node), kind)


# ---------------------------------------------------------------- operators


def binary(kind: type[tir.Binary], left: Any, right: Any) -> Scalar:
    """A binary operation on two operands converted to their common type."""
    a, b = scalar(left), scalar(right)
    meet = common(a, b)
    a, b = cast(meet, a), cast(meet, b)
    if meet.is_float and kind in DIVISIONS:
        fail(
            f"{kind.__name__} is a division of integers, found {meet} operands: "
            "write te.floor(a / b) for floats"
        )
    if meet == BOOL and not issubclass(kind, tir.Comparison):
        fail("Booleans have no arithmetic: convert them, as in x.astype('int32')")
    result = BOOL if issubclass(kind, tir.Comparison) else meet
    known = _folded(kind, a, b, result)
    return Scalar(kind(a.node, b.node), result) if known is None else known


def _folded(kind: type[tir.Binary], a: Scalar, b: Scalar, result: DataType) -> Scalar | None:
    """The value of an operation if it is known without running it; None if it is not."""
    x, y = a.value, b.value
    if a.dtype.is_float:  # x + 0.0 is not x where x is -0.0
        return _product(a, b) if kind is tir.Mul else None
    if y == 0 and kind in DIVISIONS:
        fail("a division by zero")
    if x is not None and y is not None:
        number = exact(kind)(int(x), int(y))
        return const(number, result) if fits(int(number), result) else None
    if y == 0 and kind in (tir.Add, tir.Sub):
        return a
    if x == 0 and kind is tir.Add:
        return b
    if kind is tir.Mul:
        return _product(a, b)
    if y == 1 and kind in DIVISIONS:
        return a if kind in (tir.FloorDiv, tir.TruncDiv) else const(0, result)
    return None


def _product(a: Scalar, b: Scalar) -> Scalar | None:
    for one, other in ((a, b), (b, a)):
        if one.value == 1:
            return other
        if one.value == 0 and not one.dtype.is_float:
            return one
    return None


def divide(left: Any, right: Any) -> Scalar:
    """A division of floats. Raises TensorExpressionError if the operands are integers: there are
    three integer divisions, each with its own name.
    """
    a, b = scalar(left), scalar(right)
    meet = common(a, b)
    if not meet.is_float:
        fail("`/` divides floats: of integers write a // b, te.truncdiv(a, b), or convert them")
    a, b = cast(meet, a), cast(meet, b)
    return a if b.value == 1 else Scalar(tir.Div(a.node, b.node), meet)


def power(a: Any, b: Any) -> Scalar:
    """``a`` to the power of ``b``, for floats."""
    left, right = scalar(a), scalar(b)
    meet = common(left, right)
    if not meet.is_float:
        fail(f"te.power takes floats, found {left.dtype} and {right.dtype}")
    return Scalar(tir.Call("pow", (cast(meet, left).node, cast(meet, right).node)), meet)


def bitwise(name: str, left: Any, right: Any) -> Scalar:
    """A bitwise operation on integers, or a logical operation on Booleans."""
    a, b = scalar(left), scalar(right)
    meet = common(a, b)
    if meet == BOOL and name in _LOGICAL:
        return logical(_LOGICAL[name], a, b)
    if not meet.is_integer:
        fail(f"T.{name} takes integers, found {a.dtype} and {b.dtype}")
    nodes = cast(meet, a).node, cast(meet, b).node
    return Scalar(tir.Call(name, nodes), meet)


_LOGICAL: dict[str, type[tir.Binary]] = {"bitwise_and": tir.And, "bitwise_or": tir.Or}


def logical(kind: type[tir.Binary], left: Any, right: Any) -> Scalar:
    """``and`` or ``or`` of two conditions."""
    a, b = condition(left), condition(right)
    for one, other in ((a, b), (b, a)):
        if one.value is not None:  # a true one decides a disjunction, a false one a conjunction
            return one if one.value == (kind is tir.Or) else other
    return Scalar(kind(a.node, b.node), BOOL)


def negation(value: Any) -> Scalar:
    """``not`` of a condition."""
    given = condition(value)
    if given.value is not None:
        return const(not given.value, BOOL)
    return Scalar(tir.Not(given.node), BOOL)


def condition(value: Any) -> Scalar:
    """A scalar that is a condition. Raises TensorExpressionError if its type is not Boolean."""
    given = scalar(value)
    if given.dtype != BOOL:
        fail(f"expected a condition, found {given} of type {given.dtype}: compare it, as in x != 0")
    return given
