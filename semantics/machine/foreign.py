"""Calls that leave Relax: packed functions and PrimFuncs, with what they change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from rlx.semantics.faults import Fault, IllFormed, Stop
from rlx.semantics.machine.words import kind
from rlx.semantics.store import Change, Store, Version
from rlx.semantics.values import (
    Packed,
    PrimFuncValue,
    Scalar,
    ShapeValue,
    Storage,
    Tensor,
    TupleValue,
    Value,
)
from rlx.spec.registry import rule


def memory(values: Sequence[Value]) -> Iterator[Any]:
    """The arrays of the tensors that values hold."""
    pending = list(reversed(values))
    while pending:
        value = pending.pop()
        match value:
            case Tensor(data=data) | Storage(data=data):
                yield data
            case TupleValue(fields=fields):
                pending.extend(reversed(fields))


@rule("E-packed", "7b7d1a83")
def call_outside(
    store: Store, callee: Value, args: Sequence[Value], new: Sequence[Value] = ()
) -> tuple[Value, Version]:
    """Call a packed function: what it returns, and the store with what it did to its arguments.

    ``new`` are arguments that only this call knows of so far.
    """
    if not isinstance(callee, Packed):  # D14: the callee of such a call is a packed function
        raise IllFormed("E-packed-func", f"a packed function is called, not {kind(callee)}")
    before = store.before(memory(args))
    try:
        result = callee.call(*args, *new)
    except Stop:
        raise
    except Exception as error:
        words = f"{callee.name} raised {type(error).__name__}: {error}"
        raise Fault("E-packed-raised", words) from error
    finally:
        version = store.commit(before + written(store, args))
    if not isinstance(result, Value):
        raise Fault(
            "E-packed-value", f"{callee.name} returned {type(result).__name__}, not a value"
        )
    return result, version


def written(store: Store, values: Sequence[Value]) -> list[Change]:
    """Note that tensors may have been written."""
    changes: list[Change] = []
    if store.blank:
        for value in values:
            if id(value) in store.blank:
                changes += store.mark(store.blank, value, False)
    return changes


def plain(args: Sequence[Value]) -> list[Any]:
    """Arguments as PrimFuncs take them: arrays and numbers, shapes dimension by dimension."""
    found: list[Any] = []
    for at, value in enumerate(args):
        match value:
            case Tensor(data=data):
                found.append(data)
            case Scalar(value=number):
                found.append(number)
            case ShapeValue(values=numbers):
                found.extend(numbers)
            case _:
                words = f"argument {at} of a PrimFunc is {kind(value)}"
                raise IllFormed("E-prim-func-argument", words)
    return found


@rule("E-prim-func", "04be1f4f")
def run_prim_func(
    store: Store,
    callee: Value,
    args: Sequence[Value],
    writes: Collection[int] | None,
    blank: Collection[int] = (),
) -> Version:
    """Run a PrimFunc on values, of which it may change those at the positions ``writes``.

    ``blank`` are the positions of tensors that nobody has written yet; None for ``writes`` means any.
    """
    if not isinstance(callee, PrimFuncValue):  # OBL-callee
        raise IllFormed("E-prim-func-callee", f"a PrimFunc is called, not {kind(callee)}")
    numbers = plain(args)
    unwritten = {*blank, *(i for i, a in enumerate(args) if id(a) in store.blank)}
    for k in unwritten - store.program.writes(callee) if unwritten else ():
        raise Fault("E-prim-func-written", f"nothing was written into argument {k}, which is read")
    old = [i for i in range(len(args)) if writes is None or i in writes]
    touched = [args[i] for i in old]
    before = store.before(memory([args[i] for i in old if i not in unwritten]))
    try:
        store.program.run_prim_func(callee, numbers, unwritten)
    finally:
        version = store.commit(before + written(store, touched))
    return version


@rule("E-alloc", "b0b200e0")
def allocate(shape: Sequence[int], dtype: Any) -> Any:
    """New memory.

    Raises
    ------
    Fault
        ``E-alloc-shape``: a negative dimension. ``E-alloc-size``: more bytes than there can be.
    """
    if min(shape, default=0) < 0:
        raise Fault("E-alloc-shape", f"the shape {list(shape)} has a negative dimension")
    total = prod(shape) * dtype.itemsize
    if total > LIMIT:
        raise Fault("E-alloc-size", f"{total} bytes are asked for; the limit is {LIMIT}")
    return np.zeros(tuple(shape), dtype)


LIMIT = 1 << 34
"""Bytes that one tensor may have."""
