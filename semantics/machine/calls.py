"""E-rules of calls: of closures and their return, of packed functions, of PrimFuncs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.grammar.node import replace
from rlx.semantics.faults import Fault, IllFormed
from rlx.semantics.machine.configuration import Configuration, Frame, Instruction
from rlx.semantics.machine.foreign import call_outside, run_prim_func
from rlx.semantics.machine.reading import readable
from rlx.semantics.machine.step import bind, received
from rlx.semantics.machine.words import kind
from rlx.semantics.outcome import Outcome, Returned
from rlx.semantics.values import UNIT, Closure, Packed, PrimFuncValue, Scalar, Value
from rlx.spec.registry import rule


def call(at: Instruction, c: Configuration) -> Configuration:
    """The choice between the rules for calls, by what the callee is."""
    frame = c.frame
    callee, *args = [read(frame) for read in at.operands]
    apply = CALLS.get(type(callee))
    if apply is None:
        raise _not_callable(callee)
    return apply(at, c, callee, args)


@rule("E-call", "dc03e819")
def call_closure(
    at: Instruction, c: Configuration, callee: Closure, args: Sequence[Value]
) -> Configuration:
    frame = enter(callee, args, c.frame, at)
    return Configuration(frame.code.entry, frame, "E-call", c.version)


def enter(
    callee: Closure, args: Sequence[Value], caller: Frame | None, resume: Instruction | None
) -> Frame:
    """The frame of a call: the closure itself, what it captured, the arguments, the shape variables."""
    code = callee.code
    if callee.trailing:
        args = (*args, *callee.trailing)
        callee = replace(callee, trailing=())
    if len(args) != len(code.node.params):
        raise Fault(  # D14 counts the arguments of what it knows; of an opaque function it does not.
            "E-call-arity",
            f"{code.name} takes {len(code.node.params)} arguments, {len(args)} are given",
        )
    frame = Frame(code, [callee, *callee.captured, *args], None, caller, resume)
    frame.slots.extend(code.enter(frame, args))
    return frame


@rule("E-return", "2ad55918")
def return_(at: Instruction, c: Configuration) -> Configuration | Outcome:
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
    return bind(frame.resume, below, value, "E-return")


@rule("E-call-packed", "903b08aa")
def call_packed(
    at: Instruction, c: Configuration, callee: Packed, args: Sequence[Value]
) -> Configuration:
    value, version = call_outside(c.version.store, callee, args)
    received(at, c.frame, value)
    return bind(at, c, value, "E-call-packed", version)


@rule("E-call-prim-func", "564d5bc2")
def call_prim_func(
    at: Instruction, c: Configuration, callee: PrimFuncValue, args: Sequence[Value]
) -> Configuration:
    store = c.version.store
    version = run_prim_func(store, callee, args, None)
    kind_of_result, found = callee.func.ret_type, store.program.returned()
    made: Value = UNIT
    if kind_of_result is not None and found is not None:
        made = Scalar(found, kind_of_result)
    return bind(at, c, made, "E-call-prim-func", version)


CALLS: dict[type, Callable[[Instruction, Configuration, Any, Sequence[Value]], Configuration]] = {
    Closure: call_closure,
    Packed: call_packed,
    PrimFuncValue: call_prim_func,
}


def _not_callable(callee: Value) -> IllFormed:
    found = f"the callee is {kind(callee)}"
    considered = (
        ("E-call", f"the callee is a closure: {found}"),
        ("E-call-packed", f"the callee is a packed function: {found}"),
        ("E-call-prim-func", f"the callee is a PrimFunc: {found}"),
    )
    # D14: only functions are called.
    return IllFormed("E-call-callee", f"only functions can be called; {found}", None, considered)
