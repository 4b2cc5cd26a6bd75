"""E-rules of expressions that have no parts to be evaluated, and of those that only put values together."""

from __future__ import annotations

from rlx.grammar.node import replace
from rlx.semantics.faults import Fault, IllFormed, Unsupported
from rlx.semantics.machine.builtins import ELSEWHERE
from rlx.semantics.machine.configuration import Configuration, Instruction
from rlx.semantics.machine.step import bind
from rlx.semantics.machine.words import kind
from rlx.semantics.store import Store
from rlx.semantics.values import (
    NULL,
    Closure,
    DataTypeValue,
    Scalar,
    ShapeValue,
    StringValue,
    Tensor,
    TupleValue,
    Value,
)
from rlx.spec.registry import rule


@rule("E-constant", "b6b97dab")
def constant(at: Instruction, c: Configuration) -> Configuration:
    return bind(at, c, Tensor(at.payload().copy()), "E-constant")


@rule("E-var", "9010cc85")
def variable(at: Instruction, c: Configuration) -> Configuration:
    # WF02: every variable is defined before it is used.
    return bind(at, c, at.operands[0](c.frame), "E-var")


@rule("E-tuple", "fd35faae")
def tuple_(at: Instruction, c: Configuration) -> Configuration:
    frame = c.frame
    return bind(at, c, TupleValue(tuple([read(frame) for read in at.operands])), "E-tuple")


@rule("E-tuple-get-item", "e89d7548")
def tuple_get_item(at: Instruction, c: Configuration) -> Configuration:
    value = at.operands[0](c.frame)
    # D12: the operand is a tuple and has that field.
    if not isinstance(value, TupleValue):
        raise IllFormed("E-tuple-get-item-tuple", f"only a tuple has fields, not {kind(value)}")
    if not 0 <= at.payload < len(value.fields):
        count = len(value.fields)
        raise IllFormed("E-tuple-get-item-index", f"there is no field {at.payload} of {count}")
    return bind(at, c, value.fields[at.payload], "E-tuple-get-item")


@rule("E-prim", "7bd25dc3")
def prim(at: Instruction, c: Configuration) -> Configuration:
    number, dtype = at.payload
    return bind(at, c, Scalar(number(c.frame), dtype), "E-prim")


@rule("E-shape", "99d456a6")
def shape(at: Instruction, c: Configuration) -> Configuration:
    frame = c.frame
    return bind(at, c, ShapeValue(tuple([dim(frame) for dim in at.payload])), "E-shape")


@rule("E-string", "5f50d6d6")
def string(at: Instruction, c: Configuration) -> Configuration:
    return bind(at, c, StringValue(at.payload), "E-string")


@rule("E-dtype", "7712c523")
def data_type(at: Instruction, c: Configuration) -> Configuration:
    return bind(at, c, DataTypeValue(at.payload), "E-dtype")


@rule("E-null", "bfd79d2a")
def null_value(at: Instruction, c: Configuration) -> Configuration:
    return bind(at, c, NULL, "E-null")


@rule("E-extern", "085d1b1d")
def extern_func(at: Instruction, c: Configuration) -> Configuration:
    return bind(at, c, external(c.version.store, at.payload), "E-extern")


def external(store: Store, name: str) -> Value:
    """What an external name stands for."""
    found: Value | None = store.program.external(name)
    if found is None and ELSEWHERE.match(name):
        raise Unsupported("E-extern-modelled", f"TVM's run time has {name}; rlx cannot run it")
    if found is None:
        raise Fault("E-extern-registered", f"no packed function is registered as {name!r}")
    return found


@rule("E-function", "fb7b725e")
def function(at: Instruction, c: Configuration) -> Configuration:
    frame, code = c.frame, at.payload
    captured = tuple([read(frame) for read in code.captures])
    return bind(at, c, Closure(code, captured), "E-function")


def copied(value: Closure, trailing: tuple[object, ...]) -> Closure:
    """The closure with its last arguments given."""
    return replace(value, trailing=(*trailing, *value.trailing))
