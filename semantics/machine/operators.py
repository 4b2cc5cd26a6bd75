"""E-rules of operators: operators evaluated with NumPy, and the table of the machine's own
operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, Generic, NamedTuple

import numpy as np

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.vdevices import NUMBERS, SHORT, numbered
from rlx.operators import lookup
from rlx.operators.arrays import MOST_ELEMENTS
from rlx.operators.registry import Operator
from rlx.semantics.faults import CheckStop, FaultStop, IllFormedStop, UnsupportedStop
from rlx.semantics.live_memory import TooMuchMemory, current
from rlx.semantics.machine import memory, obligations, prim_exprs, tir_calls
from rlx.semantics.machine.arguments import Arguments, argument, named
from rlx.semantics.machine.configuration import (
    Apply,
    Configuration,
    Frame,
    Instruction,
    P,
    Reader,
    ScopeSlots,
    bind,
)
from rlx.semantics.machine.control import truth
from rlx.semantics.machine.expression_rules import null_value
from rlx.semantics.machine.message_text import formatted
from rlx.semantics.machine.numpy_conversion import Plain, readable, to_plain, to_value
from rlx.semantics.operator_memory import bounded
from rlx.semantics.values import (
    UNIT,
    Device,
    Opaque,
    Scalar,
    ShapeValue,
    StringValue,
    Tensor,
    Value,
    rebuilt,
    values_inside,
)
from rlx.spec.registry import rule

Prepare = Callable[[Any, ast.Call, tuple[Reader, ...]], P]
"""Makes the data of a rule from the enclosing body, the call, and the readers of its operands."""


class Special(NamedTuple, Generic[P]):
    """An operator with its own rule.

    Attributes
    ----------
    apply
        The rule.
    prepare
        Makes the payload of its instructions.
    """

    apply: Apply[P]
    prepare: Prepare[P]


class OperatorRun:
    """Queries of an operator's evaluation: numbers and values of expressions in keywords."""

    __slots__ = ("_frame", "_keywords")

    def __init__(self, keywords: Keywords, frame: Frame) -> None:
        self._keywords, self._frame = keywords, frame

    def prim(self, expr: tir.PrimExpr) -> int | float | bool:
        """The number of a prim expression."""
        number: int | float | bool = self._keywords.prim(expr)(self._frame)
        return number

    def value(self, expr: ast.Expr) -> Plain:
        """The plain value of an expression."""
        return to_plain(self._keywords.expr(expr)(self._frame))


class Keywords:
    """The prepared expressions in a call's keywords."""

    __slots__ = ("_bound", "_bytes", "_factor", "_known", "_prims", "_readers", "_scope")

    def __init__(self, call: ast.Call, scope: ScopeSlots, readers: dict[ast.Expr, Reader]) -> None:
        self._scope, self._readers = scope, readers
        self._prims: dict[tir.PrimExpr, Reader] = {}
        self._factor = obligations.memory_factor(call)
        self._known: obligations.Key | None = None
        self._bound = 0.0
        self._bytes = 0

    def evaluate(
        self, found: Operator, call: ast.Call, values: Sequence[Value], frame: Frame
    ) -> Plain:
        """The value of a call, if the operator accepts its operands.

        Obligations are checked last, because evaluations have more specific messages. They are not
        checked again for operands with the same struct infos as the last ones.
        """
        from rlx.operators.evaluation import OperatorFault

        key = obligations.memory_key(values)
        plain = [to_plain(value) for value in values]
        if key == self._known:
            current().require(self._bytes)
            with bounded() if _may_exceed(self._bound) else nullcontext():
                return found.evaluate(call, plain, OperatorRun(self, frame))
        bound = obligations.memory_bound(key) * self._factor
        self._fit(bound, found, call, values, frame)
        try:
            with bounded() if _may_exceed(bound) else nullcontext():
                result = found.evaluate(call, plain, OperatorRun(self, frame))
        except (OperatorFault, MemoryError, TooMuchMemory):
            raise
        except Exception:
            obligations.hold(found, call, values, self._number(frame))
            raise
        obligations.hold(found, call, values, self._number(frame))
        if self._factor < float("inf"):  # else the keywords have other numbers another time
            self._known, self._bound = key, bound
            self._bytes = sum(array.nbytes for array in _arrays(result))
        return result

    @rule("E-result-memory", "part of a step")
    def _fit(
        self,
        bound: float,
        found: Operator,
        call: ast.Call,
        values: Sequence[Value],
        frame: Frame,
    ) -> None:
        """Ask whether there is memory for the results."""
        if _may_exceed(bound):
            obligations.ask_memory(found, call, values, self._number(frame))

    def _number(self, frame: Frame) -> obligations.Number:
        return lambda dim: prim_exprs.prepare(dim, self._scope)(frame)

    def prim(self, expr: tir.PrimExpr) -> Reader:
        """Prepare the reader of a prim expression's number."""
        found = self._prims.get(expr)
        if found is None:
            found = self._prims[expr] = prim_exprs.prepare(expr, self._scope)
        return found

    def expr(self, expr: ast.Expr) -> Reader:
        """Prepare the reader of an expression's value."""
        return self._readers[expr]


def _may_exceed(bound: float) -> bool:
    """Whether an operator may need more memory than is left, by the bound of its elements."""
    return bound > MOST_ELEMENTS or bound * LARGEST_ELEMENT > current().free


def keywords(body: Any, call: ast.Call, args: tuple[Reader, ...]) -> Keywords:
    """Prepare the expressions in the keywords of a call."""
    found: dict[ast.Expr, Reader] = {}
    for value in call.attrs.values():
        for item in value if isinstance(value, tuple | list) else (value,):
            if isinstance(item, ast.Expr):
                found[item] = body.operand(item)
    return Keywords(call, body.scope, found)


@rule("E-evaluate", "step")
def operator(at: Instruction[Keywords], c: Configuration) -> Configuration:
    call = at.expr
    assert isinstance(call, ast.Call) and isinstance(call.op, ast.Op)
    name = call.op.op_name
    found = lookup(name)
    if found is None:  # D14 notes that nothing is known of it
        raise UnsupportedStop("E-evaluate-known", f"unknown operator {name}")
    if found.compute is None:
        raise UnsupportedStop("E-evaluate-possible", f"rlx cannot evaluate {name}")
    values = [read(c.frame) for read in at.operands]
    readable(c.version.store, values, "E-evaluate-written")
    return bind(at, c, computed(at.payload, found, call, values, c.frame))


def computed(
    prepared: Keywords, found: Operator, call: ast.Call, values: Sequence[Value], frame: Frame
) -> Value:
    """The value that an operator computes from these operands. Raises FaultStop if there is no
    value, or not enough memory.
    """
    from rlx.operators.evaluation import OperatorFault, numpy_dtype

    try:
        with np.errstate(all="ignore"):  # floating-point numbers have infinities and NaN for it
            result = prepared.evaluate(found, call, values, frame)
        live = current()
        for array in _arrays(result):
            live.take(array)
    except OperatorFault as fault:
        operand = fault.operand
        wrong = (
            None
            if operand is None
            else next(
                (v for v in values_inside(values) if isinstance(v, Tensor) and v.data is operand),
                None,
            )
        )
        raise FaultStop(fault.code, fault.message, value=wrong) from None
    except (MemoryError, TooMuchMemory) as error:
        raise FaultStop("E-result-memory-there", f"{call.op_name}: {error}") from None
    if type(result) is tuple and not result:  # of a tuple without fields there is no operator
        return ShapeValue(())
    if isinstance(result, int | float | np.generic):
        return _scalar(result, values)
    typed = _TYPED_BY.get(call.op_name)
    if typed is not None and isinstance(given := values[typed], Scalar):
        result = result.astype(numpy_dtype(given.dtype))
    return to_value(result, values, _device(values))


LARGEST_ELEMENT = 8
"""The bytes of the largest element."""


def _arrays(result: Any) -> Iterator[Any]:
    """The arrays in what an operator gave; tuples may share their fields."""
    seen: set[int] = set()
    pending = [result]
    while pending:
        item = pending.pop()
        if isinstance(item, np.ndarray):
            yield item
        elif isinstance(item, tuple | list) and id(item) not in seen:
            seen.add(id(item))
            pending.extend(item)


_TYPED_BY = {"relax.one_hot": 1}
"""The scalar operand whose type the elements of an operator's result have."""


def _scalar(result: Any, values: Sequence[Value]) -> Value:
    """A number that an operator gave: of the type that it says, else of that of the scalars it was
    made of.
    """
    if isinstance(result, np.generic):
        return Scalar(result.item(), dtype(str(result.dtype)))
    if not isinstance(result, bool):
        for value in values:
            if isinstance(value, Scalar):
                return Scalar(result, value.dtype)
    return to_value(result)


def _device(values: Sequence[Value]) -> Device | None:
    """The device of the operands: OBL-place has them on one."""
    for value in values_inside(values):
        if isinstance(value, Tensor) and value.device is not None:
            return value.device
    return None


@rule("E-to-vdevice", "step")
def to_vdevice(at: Instruction[Device | None], c: Configuration) -> Configuration:
    (read, *_), device = at.operands, at.payload
    value = read(c.frame)
    readable(c.version.store, (value,), "E-evaluate-written")
    if device is None:
        raise IllFormedStop(
            "E-to-vdevice-device", "the device is not a virtual device of the module"
        )

    def moved(part: Value) -> Value:
        return Tensor(part.data.copy(), device) if isinstance(part, Tensor) else part

    return bind(at, c, rebuilt(value, moved))


def target_device(body: Any, call: ast.Call, args: tuple[Reader, ...]) -> Device | None:
    """The device that a call of ``to_vdevice`` names."""
    _, *rest = call.args
    given: Any = call.attrs.get("dst_vdevice", next(iter(rest), None))
    if isinstance(given, ast.VDevice):
        return given.target, given.index
    name = getattr(given, "value", given)
    if not isinstance(name, str):
        return None
    target, index, *_ = *name.split(":"), ""
    return target, int(index) if index.isdigit() else 0


@rule("E-hint-on-device", "step")
def hint_on_device(at: Instruction[Device | None], c: Configuration) -> Configuration:
    value, *named = (read(c.frame) for read in at.operands)
    device = at.payload
    for each in named:
        device = device or _named(each, c)
    if device is not None and isinstance(value, Tensor) and value.device != device:
        readable(c.version.store, (value,), "E-evaluate-written")
        value = Tensor(value.data.copy(), device)
    return bind(at, c, value)


def _named(value: Value, c: Configuration) -> Device | None:
    """The device of the module that a device of `R.device` names; None if it has no such device."""
    named = value.value if isinstance(value, Opaque) else None
    if (
        not isinstance(named, tuple)
        or len(named) != 2
        or not all(isinstance(n, int) for n in named)
    ):
        return None
    return numbered(c.version.store.program.devices, *named)


@rule("E-device", "step")
def device(at: Instruction[Arguments], c: Configuration) -> Configuration:
    given, frame = at.payload, c.frame
    kind, index = given["device_type"](frame), argument(given["index"](frame), "number")
    name = kind.value if isinstance(kind, StringValue) else kind
    number = (NUMBERS | SHORT).get(name) if isinstance(name, str) else None
    return bind(at, c, Opaque((argument(kind, "number") if number is None else number, index)))


@rule("E-assert", "step")
def assert_op(at: Instruction[Arguments], c: Configuration) -> Configuration:
    given, frame = at.payload, c.frame
    readable(c.version.store, [read(frame) for read in at.operands], "E-evaluate-written")
    if not truth(given["condition"](frame)):
        raise CheckStop("E-assert-holds", _formatted(given, "format_args", frame) or "assertion")
    return bind(at, c, UNIT)


@rule("E-print", "step")
def print_(at: Instruction[Arguments], c: Configuration) -> Configuration:
    store = c.version.store
    readable(store, [read(c.frame) for read in at.operands], "E-evaluate-written")
    store.program.output(_formatted(at.payload, "values", c.frame))
    return bind(at, c, UNIT)


def _formatted(given: Arguments, rest: str, frame: Frame) -> str:
    return formatted(argument(given["format"](frame), "string"), given[rest](frame))


def nothing(body: Any, call: ast.Call, args: tuple[Reader, ...]) -> None:
    """Makes no payload, for rules that need only the operands."""


OTHERS = Special(operator, keywords)
"""The rule of all operators without their own rule."""

_CALL_TIR = Special(tir_calls.call_tir, tir_calls.results)
_INVOKE = Special(tir_calls.invoke_closure, nothing)
_STORAGE = Special(memory.alloc_storage, named)
_TENSOR = Special(memory.alloc_tensor, named)
_KILL = Special(memory.kill, nothing)

SPECIAL: dict[str, Special[Any]] = {
    "relax.call_tir": _CALL_TIR,
    "relax.call_tir_with_grad": _CALL_TIR,
    "relax.call_tir_inplace": Special(tir_calls.call_tir_inplace, tir_calls.results),
    "relax.call_dps_packed": Special(tir_calls.call_dps_packed, tir_calls.results),
    "relax.call_pure_packed": Special(tir_calls.call_pure_packed, nothing),
    "relax.call_inplace_packed": Special(tir_calls.call_inplace_packed, tir_calls.results),
    "relax.call_builtin_with_ctx": Special(tir_calls.call_builtin, nothing),
    "relax.call_py_func": Special(tir_calls.call_py_func, nothing),
    "relax.vm.call_tir_dyn": Special(tir_calls.call_tir_dyn, nothing),
    "relax.make_closure": Special(tir_calls.make_closure, nothing),
    "relax.invoke_closure": _INVOKE,
    "relax.invoke_pure_closure": _INVOKE,
    "relax.null_value": Special(null_value, nothing),
    "relax.to_vdevice": Special(to_vdevice, target_device),
    "relax.hint_on_device": Special(hint_on_device, target_device),
    "relax.device": Special(device, named),
    "relax.assert_op": Special(assert_op, named),
    "relax.print": Special(print_, named),
    "relax.builtin.alloc_tensor": _TENSOR,
    "relax.memory.alloc_storage": _STORAGE,
    "relax.memory.alloc_tensor": _TENSOR,
    "relax.vm.alloc_storage": _STORAGE,
    "relax.vm.alloc_tensor": _TENSOR,
    "relax.memory.kill_storage": _KILL,
    "relax.memory.kill_tensor": _KILL,
    "relax.vm.kill_object": _KILL,
}
"""The operators with their own rules."""

KILLS = frozenset(name for name, special in SPECIAL.items() if special is _KILL)
"""The operators that end a variable's lifetime."""
