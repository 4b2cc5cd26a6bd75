"""E-rules of control: branches, sequences and their blocks, casts."""

from __future__ import annotations

from rlx.grammar.nodes.dtype import BOOL
from rlx.semantics.faults import FaultStop
from rlx.semantics.machine.configuration import (
    Code,
    Compare,
    Configuration,
    Frame,
    Instruction,
    bind,
    number_of,
    place,
)
from rlx.semantics.machine.message_text import show
from rlx.semantics.machine.numpy_conversion import readable
from rlx.semantics.values import Scalar, Tensor, Value
from rlx.spec.registry import rule


@rule("E-if", "step")
def branch(at: Instruction[tuple[Code, ...]], c: Configuration) -> Configuration:
    frame = c.frame
    [read] = at.operands
    condition = read(frame)
    readable(c.version.store, (condition,), "E-if-written")
    first, second = at.payload
    code = first if truth(condition) else second
    return Configuration(code.entry, Frame(code, [], frame, frame, at), at.rule, c.version)


def truth(value: Value) -> bool:
    """The truth value of a condition."""
    if type(value) is Scalar and value.dtype is BOOL:
        return bool(value.value)
    if type(value) is Tensor and value.data.ndim == 0 and value.data.dtype == bool:
        return bool(value.data)
    # D09 refuses what is no condition for certain, and warns of what may be none.
    words = f"expected a Boolean scalar as the condition, found {show(value)}"
    raise FaultStop("E-if-condition", words, value=value)


@rule("E-seq", "step")
def sequence_end(at: Instruction[None], c: Configuration) -> Configuration:
    frame = c.frame
    [read] = at.operands
    value = read(frame)
    outer = frame.caller
    assert outer is not None  # only functions have no frame around them
    return bind(frame.resume, Configuration(at, outer, "", c.version), value, applied=at.rule)


@rule("E-dataflow-end", "step")
def dataflow_end(at: Instruction[None], c: Configuration) -> Configuration:
    return Configuration(at.next, c.frame, at.rule, c.version)


@rule("E-match-cast", "step")
def match_cast(at: Instruction[Compare], c: Configuration) -> Configuration:
    frame = place(c.frame, at.index)
    [read] = at.operands
    value = read(frame)
    bound = at.payload(frame, (value,))
    if at.var is not None:
        frame.slots.append(value)
        if at.number:
            frame.slots.append(number_of(value))
    frame.slots.extend(bound)
    return Configuration(at.next, frame, at.rule, c.version)
