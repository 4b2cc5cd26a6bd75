"""E-rules of calls, and of expressions that combine values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import replace
from rlx.semantics.faults import FaultStop, UnsupportedStop
from rlx.semantics.machine.builtins import ELSEWHERE
from rlx.semantics.machine.configuration import (
    Compare,
    Configuration,
    Frame,
    FunctionCode,
    Instruction,
    Reader,
    bind,
    dropped,
    received,
)
from rlx.semantics.machine.message_text import kind, kind_of
from rlx.semantics.machine.numpy_conversion import readable
from rlx.semantics.machine.prim_funcs import call_outside, run_prim_func
from rlx.semantics.outcome import Outcome, Returned
from rlx.semantics.store import Store
from rlx.semantics.values import (
    NULL,
    UNIT,
    Closure,
    DataTypeValue,
    Packed,
    PrimFuncValue,
    Scalar,
    ShapeValue,
    StringValue,
    Tensor,
    TupleValue,
    Value,
)
from rlx.spec.registry import choice, rule, rule_of


@rule("E-constant", "step")
def constant(at: Instruction[Callable[[], Any]], c: Configuration) -> Configuration:
    return bind(at, c, Tensor(at.payload()))


@rule("E-var", "step")
def variable(at: Instruction[None], c: Configuration) -> Configuration:
    # WF02: every variable is defined before it is used.
    [read] = at.operands
    return bind(at, c, read(c.frame))


@rule("E-tuple", "step")
def tuple_(at: Instruction[None], c: Configuration) -> Configuration:
    frame = c.frame
    return bind(at, c, TupleValue(tuple([read(frame) for read in at.operands])))


@rule("E-tuple-get-item", "step")
def tuple_get_item(at: Instruction[int], c: Configuration) -> Configuration:
    [read] = at.operands
    value = read(c.frame)
    # D12 rejects what is known to be no tuple, or to lack the field; D11 warns of what may be none.
    if not isinstance(value, TupleValue):
        raise FaultStop("E-tuple-get-item-tuple", f"expected a tuple, found {kind(value)}")
    if not 0 <= at.payload < len(value.fields):
        count = len(value.fields)
        raise FaultStop("E-tuple-get-item-index", f"there is no field {at.payload} of {count}")
    return bind(at, c, value.fields[at.payload])


@rule("E-prim", "step")
def prim(at: Instruction[tuple[Reader, DataType]], c: Configuration) -> Configuration:
    number, dtype = at.payload
    return bind(at, c, Scalar(number(c.frame), dtype))


@rule("E-shape", "step")
def shape(at: Instruction[tuple[Reader, ...]], c: Configuration) -> Configuration:
    frame = c.frame
    return bind(at, c, ShapeValue(tuple([int(dim(frame)) for dim in at.payload])))


@rule("E-string", "step")
def string(at: Instruction[str], c: Configuration) -> Configuration:
    return bind(at, c, StringValue(at.payload))


@rule("E-dtype", "step")
def data_type(at: Instruction[DataType], c: Configuration) -> Configuration:
    return bind(at, c, DataTypeValue(at.payload))


@rule("E-null", "step")
def null_value(at: Instruction[None], c: Configuration) -> Configuration:
    return bind(at, c, NULL)


@rule("E-extern", "step")
def extern_func(at: Instruction[str], c: Configuration) -> Configuration:
    return bind(at, c, external(c.version.store, at.payload))


def external(store: Store, name: str) -> Value:
    """The value of an external name."""
    found: Value | None = store.program.external(name)
    if found is None and ELSEWHERE.match(name):
        raise UnsupportedStop(
            "E-extern-modelled", f"rlx does not implement {name} of TVM's run time"
        )
    if found is None:
        raise FaultStop("E-extern-registered", f"no packed function is registered as {name!r}")
    return found


@rule("E-function", "step")
def function(at: Instruction[FunctionCode], c: Configuration) -> Configuration:
    frame, code = c.frame, at.payload
    captured = tuple([read(frame) for read in code.captures])
    return bind(at, c, Closure(code, captured))


def copied(value: Closure, trailing: tuple[object, ...]) -> Closure:
    """The closure with bound last arguments."""
    return replace(value, trailing=(*trailing, *value.trailing))


@rule("E-call", "step")
def call_closure(
    at: Instruction[Any], c: Configuration, callee: Closure, args: Sequence[Value]
) -> Configuration:
    frame = enter(callee, args, c.frame, at)
    return Configuration(frame.code.entry, frame, at.rule, c.version)


def enter(
    callee: Closure, args: Sequence[Value], caller: Frame | None, resume: Instruction[Any] | None
) -> Frame:
    """The frame of a call: the closure itself, captured values, arguments, shape variables."""
    code = callee.code
    if callee.trailing:
        args = (*args, *callee.trailing)
        callee = replace(callee, trailing=())
    if len(args) != len(code.node.params):
        # D14 counts the arguments of what it knows; of an opaque function it does not.
        raise FaultStop(
            "E-call-arity",
            f"{code.name} takes {len(code.node.params)} arguments, found {len(args)}",
        )
    frame = Frame(code, [callee, *callee.captured, *args], None, caller, resume)
    frame.slots.extend(code.enter(frame, args))
    return frame


@rule("E-return", "step")
def return_(at: Instruction[Compare | None], c: Configuration) -> Configuration | Outcome:
    frame = c.frame
    [read] = at.operands
    value, leave = read(frame), at.payload
    if leave is not None:
        leave(frame, (value,))
    if frame.caller is None:
        readable(c.version.store, (value,), "E-return-written")
        return Returned(value, c)
    if frame.resume.receive is not None:
        received(frame.resume, frame.caller, value)
    below = Configuration(at, frame.caller, "", c.version)
    return bind(frame.resume, below, value, applied=at.rule)


@rule("E-call-packed", "step")
def call_packed(
    at: Instruction[Any], c: Configuration, callee: Packed, args: Sequence[Value]
) -> Configuration:
    value, version = call_outside(c.version.store, callee, args)
    received(at, c.frame, value)
    kept = UNIT if at.receive is dropped else value
    return bind(at, c, kept, version, rule_of(call_packed))


@rule("E-call-prim-func", "step")
def call_prim_func(
    at: Instruction[Any], c: Configuration, callee: PrimFuncValue, args: Sequence[Value]
) -> Configuration:
    store = c.version.store
    version = run_prim_func(store, callee, args, None)
    kind_of_result, found = callee.func.ret_type, store.program.returned()
    made: Value = UNIT
    if kind_of_result is not None and found is not None:
        made = Scalar(found, kind_of_result)
    return bind(at, c, made, version, rule_of(call_prim_func))


CALLS: dict[
    type, Callable[[Instruction[Any], Configuration, Any, Sequence[Value]], Configuration]
] = {
    Closure: call_closure,
    Packed: call_packed,
    PrimFuncValue: call_prim_func,
}


@choice(call_closure)
def call(at: Instruction[None], c: Configuration) -> Configuration:
    """Apply the call rule for the kind of the callee."""
    frame = c.frame
    callee, *args = [read(frame) for read in at.operands]
    apply = CALLS.get(type(callee))
    if apply is None:
        raise _not_callable(callee)
    return apply(at, c, callee, args)


def _not_callable(callee: Value) -> FaultStop:
    found = f"the callee is {kind(callee)}"
    # D14 rejects what is known to be no function; D11 warns of what may be none.
    stop = FaultStop("E-call-callee", f"only functions can be called; {found}")
    stop.considered = tuple(
        (rule_of(apply), f"the callee is {kind_of(of)}: {found}") for of, apply in CALLS.items()
    )
    return stop
