"""Evaluation of one operator of Relay by the operators of Relax that the table translates it to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Literal
from rlx.grammar.nodes.dtype import numpy_type
from rlx.grammar.nodes.encoded import buffer_of
from rlx.operators import lookup
from rlx.relay.nodes import RelayCall, RelayConstant, RelayExpr
from rlx.relay.operator_call import OperandError, OperatorCall
from rlx.relay.operator_table import is_in_table, translated
from rlx.semantics.faults import IllFormedStop, UnsupportedStop
from rlx.semantics.machine.configuration import ScopeSlots
from rlx.semantics.machine.numpy_conversion import to_plain, to_value
from rlx.semantics.machine.operators import Keywords, computed
from rlx.semantics.struct_info_of import struct_info_of
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value

NO_FRAME: Any = None
"""The keywords of these calls are numbers and texts: nothing is looked up in a frame."""


def array_of(data: Literal) -> Any:
    """The array of a constant.

    Raises
    ------
    UnsupportedStop
        If the text leaves its data out.
    """
    if data.value is None and data.content is None:
        raise UnsupportedStop("E-constant-data", "the program text omits the constant's data")
    kind = numpy_type(data.dtype)
    if data.value is not None:
        return np.array(data.value, kind).reshape(data.shape or ())
    return np.frombuffer(buffer_of(data.content or b""), kind).reshape(data.shape or ())


class PreparedCall(NamedTuple):
    """A call as the table put it, for operands of certain shapes and element types.

    Attributes
    ----------
    signature
        These shapes and types.
    atoms
        What stands for the operands.
    made
        The calls of Relax's operators.
    keywords
        What the machine of Relax prepares of each of them.
    """

    signature: object
    atoms: tuple[ast.Expr, ...]
    made: ast.Expr
    keywords: dict[ast.Call, Keywords]


class OperatorRunner:
    """Runs operators; what the table says of a call is kept for operands like the last ones.

    Parameters
    ----------
    packed
        What runs operators that the table does not have.
    """

    def __init__(self, packed: Mapping[str, Callable[..., Any]]) -> None:
        self._packed = packed
        self._prepared: dict[RelayCall, PreparedCall] = {}

    def run(self, call: RelayCall, name: str, values: Sequence[Value]) -> Value:
        """The value of a call.

        Raises
        ------
        Stop
            If there is none.
        """
        if not is_in_table(name):
            if name not in self._packed:
                words = f"the operator {name} is not known, and no packed function has its name"
                raise UnsupportedStop("RL-operator-known", words)
            return to_value(
                self._packed[name](*map(to_plain, values), *call.attrs.values()), values
            )
        signature = tuple(map(_signature, values))
        known = self._prepared.get(call)
        if known is not None and known.signature == signature:
            run = _OperatorRun(dict(zip(known.atoms, values, strict=True)), known.keywords)
            return run.evaluate(known.made)
        atoms, keywords = tuple(map(_atom, call.args)), dict[ast.Call, Keywords]()
        run = _OperatorRun(dict(zip(atoms, values, strict=True)), keywords)
        try:
            made = translated(OperatorCall(name, atoms, call.attrs, run.info_of))
        except OperandError as error:
            raise IllFormedStop("RL-operator-operands", str(error)) from None
        self._prepared[call] = PreparedCall(signature, atoms, made, keywords)
        return run.evaluate(made)


def _signature(value: Value) -> object:
    """Shape and element type of a tensor, of each field of a tuple."""
    if isinstance(value, TupleValue):
        return tuple(map(_signature, value.fields))
    return (value.shape, value.dtype) if isinstance(value, Tensor) else type(value)


def _atom(arg: RelayExpr) -> ast.Expr:
    """A constant, or a variable that stands for a value."""
    return ast.Constant(arg.data) if isinstance(arg, RelayConstant) else ast.Var("x")


class _OperatorRun:
    """Evaluates nested calls of Relax's operators as Relax's machine does."""

    def __init__(self, values: dict[ast.Expr, Value], keywords: dict[ast.Call, Keywords]) -> None:
        self._values, self._keywords = values, keywords

    def info_of(self, expr: ast.Expr) -> ast.StructInfo:
        """The known struct info of an operand: its shape and element type."""
        if expr not in self._values:
            raise OperandError("the type of an operand that is a call is not known here")
        return struct_info_of(self._values[expr])

    def evaluate(self, expr: ast.Expr) -> Value:
        if expr not in self._values:
            self._values[expr] = self._evaluated(expr)
        return self._values[expr]

    def _evaluated(self, expr: ast.Expr) -> Value:
        match expr:
            case ast.Call(args=args):
                operator = lookup(expr.op_name)
                assert operator is not None
                prepared = self._keywords.get(expr)
                if prepared is None:
                    prepared = self._keywords[expr] = Keywords(expr, ScopeSlots(), {})
                return computed(
                    prepared, operator, expr, [self.evaluate(arg) for arg in args], NO_FRAME
                )
            case ast.Tuple(fields=fields):
                return TupleValue(tuple(self.evaluate(field) for field in fields))
            case ast.TupleGetItem(tuple_value=whole, index=index):
                found = self.evaluate(whole)
                assert isinstance(found, TupleValue)
                return found.fields[index]
            case ast.ShapeExpr(values=dims):
                return ShapeValue(tuple(dim.value for dim in dims if isinstance(dim, tir.IntImm)))
            case ast.PrimValue(value=(tir.IntImm() | tir.FloatImm()) as number):
                return Scalar(number.value, number.dtype)
            case ast.StringImm(value=text):
                return to_value(text)
            case ast.Constant(data=data):
                return to_value(array_of(data))
        raise AssertionError(f"no value for {expr!r}")
