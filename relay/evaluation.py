"""Evaluation of Relay: the nodes of a scope in their order, each once.

A function is evaluated by its :class:`~rlx.relay.scopes.Schedule`; calls of functions and branches
wait on a stack of their own, so that recursion has no limit but the fuel.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Literal
from rlx.grammar.stack import finished
from rlx.operators import lookup
from rlx.relay.nodes import (
    RelayCall,
    RelayConstant,
    RelayExpr,
    RelayFunction,
    RelayFuncType,
    RelayGlobalVar,
    RelayIf,
    RelayLet,
    RelayModule,
    RelayOp,
    RelayProjection,
    RelayTensorType,
    RelayTuple,
    RelayTupleType,
    RelayType,
)
from rlx.relay.operator_table import is_in_table, translated
from rlx.relay.scopes import EvaluationScope, Schedule
from rlx.relay.translated_call import OperandError, TranslatedCall
from rlx.semantics import faults
from rlx.semantics.faults import IllFormedStop, UnsupportedStop
from rlx.semantics.machine.configuration import ScopeSlots
from rlx.semantics.machine.numpy_conversion import to_plain, to_value
from rlx.semantics.machine.operators import Keywords, computed
from rlx.semantics.outcome import Outcome, Returned
from rlx.semantics.struct_info_of import struct_info_of
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value
from rlx.spec.registry import rule

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
    return data.numpy()


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
            made = translated(TranslatedCall(name, atoms, call.attrs, run.info_of))
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


FUEL = 2_000_000
"""How many nodes a run evaluates where nothing else is said."""

Packed = Callable[..., Any]
Run = Generator["Run", Value, Value]
"""A part of a run: it yields the part that it waits for, and is sent that part's value."""


class Memo:
    """The values of nodes and variables in one activation of a function, and around it; the numbers
    of the dimensions that signatures name.
    """

    __slots__ = ("dims", "outer", "values")

    def __init__(self, outer: Memo | None) -> None:
        self.outer = outer
        self.values: dict[RelayExpr, Value] = {}
        self.dims: dict[str, int] = {} if outer is None else dict(outer.dims)

    def find(self, node: RelayExpr) -> Value:
        memo: Memo | None = self
        while memo is not None:
            if node in memo.values:
                return memo.values[node]
            memo = memo.outer
        raise AssertionError(f"{node!r} was not evaluated")


class RelayClosure(Value):
    """A function with the activation around it; None around a function of the module."""

    function: RelayFunction
    memo: Memo | None
    schedule: Schedule
    scope: EvaluationScope

    def __repr__(self) -> str:
        """``closure of (%x, %y)``: what it holds may be large, and may hold itself."""
        return f"closure of ({', '.join(f'%{param.name}' for param in self.function.params)})"


class Evaluator:
    """Runs the functions of a module.

    Parameters
    ----------
    packed
        What runs the operators that the table does not have, by name: functions of arrays.
    trace
        Called with the name of each operator when it runs, in order.
    """

    def __init__(
        self,
        module: RelayModule,
        packed: Mapping[str, Packed] | None = None,
        trace: Callable[[str], None] | None = None,
    ) -> None:
        self._operators, self._trace = OperatorRunner(packed or {}), trace
        self._globals: dict[RelayGlobalVar, RelayClosure] = {}
        for var, function in module.functions.items():
            schedule = Schedule(function.body)
            self._globals[var] = RelayClosure(function, None, schedule, schedule.root)
        self._fuel = 0

    def run(self, entry: str, args: Sequence[Value], fuel: int = FUEL) -> Outcome:
        """Call a function of the module.

        Parameters
        ----------
        args
            Values of :mod:`rlx.semantics.values`.

        Returns
        -------
        Outcome
            As runs of Relax have it.
        """
        from rlx.semantics.machine.outcome_of_stop import ended

        closure = next(c for var, c in self._globals.items() if var.name == entry)
        self._fuel, self._span = fuel, closure.function.span
        try:
            value = finished(self._call(closure, args))
        except faults.Stop as stop:
            return ended(stop, None, "RL-run", (), self._span)
        return Returned(value)

    # ------------------------------------------------------------ rules

    @rule("RL-run", "Relay evaluation")
    def _scope(
        self, scope: EvaluationScope, schedule: Schedule, memo: Memo, outer: Mapping[str, int]
    ) -> Run:
        """Evaluate the nodes of a scope in order; its value is that of its result."""
        dims = dict(outer)
        for item in scope.items:
            self._span = item.span or self._span  # type: ignore[attr-defined]
            self._fuel -= 1
            if self._fuel < 0:
                words = "the run did not end within its limit of nodes"
                raise faults.OutOfFuelStop("RL-run-fuel", words)
            match item:
                case RelayLet(var=var, value=value):
                    found = self._value(value, memo)
                    belongs(found, var.annotation, dims, f"%{var.name}")
                    memo.values[var] = found
                case RelayIf(cond=cond):
                    branch = schedule.inner[item][0 if self._truth(cond, memo) else 1]
                    memo.values[item] = yield self._scope(branch, schedule, memo, dims)
                case RelayCall(op=RelayOp(name=name), args=args):
                    if self._trace is not None:
                        self._trace(name)
                    values = [self._value(arg, memo) for arg in args]
                    memo.values[item] = self._operators.run(item, name, values)
                case RelayCall(op=op, args=args):
                    callee = self._value(op, memo)
                    values = [self._value(arg, memo) for arg in args]
                    memo.values[item] = yield self._call(callee, values)
                case RelayFunction():
                    memo.values[item] = RelayClosure(item, memo, schedule, schedule.inner[item][0])
                case _:
                    memo.values[item] = self._made(item, memo)
        return self._value(scope.result, memo)

    def _call(self, callee: Value, args: Sequence[Value]) -> Run:
        """Evaluate the body of a function with values for its parameters."""
        if not isinstance(callee, RelayClosure):
            raise faults.IllFormedStop("RL-run-function", "expected a function as the callee")
        function = callee.function
        if len(args) != len(function.params):
            words = f"expected {len(function.params)} arguments, found {len(args)}"
            raise faults.IllFormedStop("RL-run-arity", words)
        memo = Memo(callee.memo)
        for param, value in zip(function.params, args, strict=True):
            belongs(value, param.annotation, memo.dims, f"the parameter %{param.name}")
        memo.values.update(zip(function.params, args, strict=True))
        result = yield self._scope(callee.scope, callee.schedule, memo, memo.dims)
        belongs(result, function.ret, memo.dims, "the result")
        return result

    def _made(self, item: RelayExpr, memo: Memo) -> Value:
        """A tuple, or a field of one."""
        if isinstance(item, RelayTuple):
            return TupleValue(tuple(self._value(field, memo) for field in item.fields))
        assert isinstance(item, RelayProjection)
        value = self._value(item.value, memo)
        if not isinstance(value, TupleValue) or not item.index < len(value.fields):
            raise faults.IllFormedStop("RL-run-field", f"there is no field {item.index}")
        return value.fields[item.index]

    def _value(self, node: RelayExpr, memo: Memo) -> Value:
        """The value of an atom, or of a node that was evaluated."""
        while isinstance(node, RelayLet):
            node = node.body
        match node:
            case RelayConstant(data=data):
                return Tensor(array_of(data))
            case RelayGlobalVar():
                return self._globals[node]
            case RelayOp(name=name):
                raise faults.UnsupportedStop("RL-run-function", f"{name} cannot be used as a value")
        return memo.find(node)

    def _truth(self, cond: RelayExpr, memo: Memo) -> bool:
        from rlx.semantics.machine.control import truth

        return truth(self._value(cond, memo))


@rule("RL-check", "Relay evaluation")
def belongs(value: Value, type_: RelayType | None, dims: dict[str, int], what: str) -> None:
    """Compare a value with a type.

    Parameters
    ----------
    dims
        The numbers of named dimensions; those that are new are put into it.

    Raises
    ------
    CheckStop
        ``RL-check-type`` if it is another kind of value, has another rank or element type;
        ``RL-check-dimension`` if a dimension differs.
    """
    match type_:
        case RelayTensorType(shape=shape, dtype=kind):
            if not isinstance(value, Tensor):
                raise faults.CheckStop("RL-check-type", f"{what}: expected a tensor")
            if len(value.shape) != len(shape) or value.dtype != str(kind):
                found = f"{value.dtype} of rank {len(value.shape)}"
                words = f"{what}: expected {kind} of rank {len(shape)}, found {found}"
                raise faults.CheckStop("RL-check-type", words)
            for at, (wanted, size) in enumerate(zip(shape, value.shape, strict=True)):
                number = dims.setdefault(wanted, size) if isinstance(wanted, str) else wanted
                if number is not None and number != size:
                    words = f"{what}: dimension {at}: expected {number}, found {size}"
                    raise faults.CheckStop("RL-check-dimension", words)
        case RelayTupleType(fields=fields):
            if not isinstance(value, TupleValue) or len(value.fields) != len(fields):
                words = f"{what}: expected a tuple of {len(fields)} fields"
                raise faults.CheckStop("RL-check-type", words)
            for at, (field, part) in enumerate(zip(fields, value.fields, strict=True)):
                belongs(part, field, dims, f"{what}, field {at}")
        case RelayFuncType():
            if isinstance(value, Tensor | TupleValue):
                raise faults.CheckStop("RL-check-type", f"{what}: expected a function")


def run(
    module: RelayModule,
    *args: Any,
    entry: str = "main",
    packed: Mapping[str, Callable[..., Any]] | None = None,
    fuel: int = FUEL,
) -> Outcome:
    """Run a function of a module.

    Parameters
    ----------
    args
        NumPy arrays, numbers, tuples of them, or values of an earlier run.
    entry
        The function.
    packed
        The functions that run operators which the table does not have, by name.
    fuel
        The largest number of nodes to evaluate.

    Returns
    -------
    Outcome
        ``ok`` says whether there is a value; ``numpy()`` gives it.

    Raises
    ------
    KeyError
        If there is no such function.
    """
    module[entry]
    values = [_value(arg) for arg in args]
    return Evaluator(module, packed).run(entry, values, fuel)


def _value(arg: Any) -> Value:

    if isinstance(arg, Value):
        return arg
    if isinstance(arg, Sequence) and not isinstance(arg, str | bytes):
        return TupleValue(tuple(map(_value, arg)))
    return Tensor(np.asarray(arg))
