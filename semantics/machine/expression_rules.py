"""E-rules of expressions that have no parts to be evaluated, and of those that only put values
together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlx.grammar.dtype import DataType
from rlx.grammar.node import replace
from rlx.semantics.faults import FaultStop, IllFormedStop, UnsupportedStop
from rlx.semantics.machine.builtins import ELSEWHERE
from rlx.semantics.machine.configuration import Configuration, FunctionCode, Instruction
from rlx.semantics.machine.message_text import kind
from rlx.semantics.machine.scopes import Reader
from rlx.semantics.machine.step import bind
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


@rule("E-constant", "bbebb310", "step")
def constant(at: Instruction[Callable[[], Any]], c: Configuration) -> Configuration:
    return bind(at, c, Tensor(at.payload().copy()))


@rule("E-var", "9265ce87", "step")
def variable(at: Instruction[None], c: Configuration) -> Configuration:
    # WF02: every variable is defined before it is used.
    return bind(at, c, at.operands[0](c.frame))


@rule("E-tuple", "76c70969", "step")
def tuple_(at: Instruction[None], c: Configuration) -> Configuration:
    frame = c.frame
    return bind(at, c, TupleValue(tuple([read(frame) for read in at.operands])))


@rule("E-tuple-get-item", "4d62b6d2", "step")
def tuple_get_item(at: Instruction[int], c: Configuration) -> Configuration:
    value = at.operands[0](c.frame)
    # D12: the operand is a tuple and has that field.
    if not isinstance(value, TupleValue):
        raise IllFormedStop("E-tuple-get-item-tuple", f"only a tuple has fields, not {kind(value)}")
    if not 0 <= at.payload < len(value.fields):
        count = len(value.fields)
        raise IllFormedStop("E-tuple-get-item-index", f"there is no field {at.payload} of {count}")
    return bind(at, c, value.fields[at.payload])


@rule("E-prim", "a6637b80", "step")
def prim(at: Instruction[tuple[Reader, DataType]], c: Configuration) -> Configuration:
    number, dtype = at.payload
    return bind(at, c, Scalar(number(c.frame), dtype))


@rule("E-shape", "0235abb1", "step")
def shape(at: Instruction[tuple[Reader, ...]], c: Configuration) -> Configuration:
    frame = c.frame
    return bind(at, c, ShapeValue(tuple([dim(frame) for dim in at.payload])))


@rule("E-string", "80ce8053", "step")
def string(at: Instruction[str], c: Configuration) -> Configuration:
    return bind(at, c, StringValue(at.payload))


@rule("E-dtype", "e849e211", "step")
def data_type(at: Instruction[DataType], c: Configuration) -> Configuration:
    return bind(at, c, DataTypeValue(at.payload))


@rule("E-null", "374db912", "step")
def null_value(at: Instruction[None], c: Configuration) -> Configuration:
    return bind(at, c, NULL)


@rule("E-extern", "bf80cb52", "step")
def extern_func(at: Instruction[str], c: Configuration) -> Configuration:
    return bind(at, c, external(c.version.store, at.payload))


def external(store: Store, name: str) -> Value:
    """What an external name stands for."""
    found: Value | None = store.program.external(name)
    if found is None and ELSEWHERE.match(name):
        raise UnsupportedStop("E-extern-modelled", f"TVM's run time has {name}; rlx cannot run it")
    if found is None:
        raise FaultStop("E-extern-registered", f"no packed function is registered as {name!r}")
    return found


@rule("E-function", "0333a3aa", "step")
def function(at: Instruction[FunctionCode], c: Configuration) -> Configuration:
    frame, code = c.frame, at.payload
    captured = tuple([read(frame) for read in code.captures])
    return bind(at, c, Closure(code, captured))


def copied(value: Closure, trailing: tuple[object, ...]) -> Closure:
    """The closure with its last arguments given."""
    return replace(value, trailing=(*trailing, *value.trailing))
