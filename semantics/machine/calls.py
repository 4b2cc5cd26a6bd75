"""E-rules of calls: of closures and their return, of packed functions, of PrimFuncs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.grammar.node import replace
from rlx.semantics.faults import FaultStop, IllFormedStop
from rlx.semantics.machine.access_checks import readable
from rlx.semantics.machine.configuration import Compare, Configuration, Frame, Instruction
from rlx.semantics.machine.foreign import call_outside, run_prim_func
from rlx.semantics.machine.message_text import kind, kind_of
from rlx.semantics.machine.step import bind, received
from rlx.semantics.outcome import Outcome, Returned
from rlx.semantics.values import UNIT, Closure, Packed, PrimFuncValue, Scalar, Value
from rlx.spec.registry import choice, rule, rule_of


@rule("E-call", "3c1d278f", "step")
def call_closure(
    at: Instruction[Any], c: Configuration, callee: Closure, args: Sequence[Value]
) -> Configuration:
    frame = enter(callee, args, c.frame, at)
    return Configuration(frame.code.entry, frame, at.rule, c.version)


def enter(
    callee: Closure, args: Sequence[Value], caller: Frame | None, resume: Instruction[Any] | None
) -> Frame:
    """The frame of a call: the closure itself, what it captured, the arguments, the shape
    variables.
    """
    code = callee.code
    if callee.trailing:
        args = (*args, *callee.trailing)
        callee = replace(callee, trailing=())
    if len(args) != len(code.node.params):
        # D14 counts the arguments of what it knows; of an opaque function it does not.
        raise FaultStop(
            "E-call-arity",
            f"{code.name} takes {len(code.node.params)} arguments, {len(args)} are given",
        )
    frame = Frame(code, [callee, *callee.captured, *args], None, caller, resume)
    frame.slots.extend(code.enter(frame, args))
    return frame


@rule("E-return", "957f898d", "step")
def return_(at: Instruction[Compare | None], c: Configuration) -> Configuration | Outcome:
    frame = c.frame
    value = at.operands[0](frame)
    leave = at.payload
    if leave is not None:
        leave(frame, (value,))
    if frame.caller is None or frame.resume is None:
        readable(c.version.store, (value,), "E-return-written")
        return Returned(value, c)
    if frame.resume.receive is not None:
        received(frame.resume, frame.caller, value)
    below = Configuration(at, frame.caller, "", c.version)
    return bind(frame.resume, below, value, applied=at.rule)


@rule("E-call-packed", "056e8bd3", "step")
def call_packed(
    at: Instruction[Any], c: Configuration, callee: Packed, args: Sequence[Value]
) -> Configuration:
    value, version = call_outside(c.version.store, callee, args)
    received(at, c.frame, value)
    return bind(at, c, value, version, rule_of(call_packed))


@rule("E-call-prim-func", "d63fb676", "step")
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
    """The choice between the rules for calls, by what the callee is."""
    frame = c.frame
    callee, *args = [read(frame) for read in at.operands]
    apply = CALLS.get(type(callee))
    if apply is None:
        raise _not_callable(callee)
    return apply(at, c, callee, args)


def _not_callable(callee: Value) -> IllFormedStop:
    found = f"the callee is {kind(callee)}"
    considered = tuple(
        (rule_of(apply), f"the callee is {kind_of(of)}: {found}") for of, apply in CALLS.items()
    )
    # D14: only functions are called.
    return IllFormedStop(
        "E-call-callee", f"only functions can be called; {found}", None, considered
    )
