"""Calls that leave Relax: packed functions and PrimFuncs, with what they change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from rlx.semantics.faults import FaultStop, IllFormedStop, Stop
from rlx.semantics.machine.builtin_words import TAKES, misused
from rlx.semantics.machine.builtins import BUILTINS, READING
from rlx.semantics.machine.message_text import kind
from rlx.semantics.machine.numpy_conversion import parts, readable
from rlx.semantics.store import Blank, Change, Store, Version
from rlx.semantics.values import (
    UNIT,
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


@rule("E-packed", "956dd4ce", "step")
def call_outside(
    store: Store, callee: Value, args: Sequence[Value], new: Sequence[Value] = ()
) -> tuple[Value, Version]:
    """Call a packed function: what it returns, and the store with what it did to its arguments.

    ``new`` are arguments that only this call knows of so far.
    """
    if isinstance(callee, PrimFuncValue):  # of the module, by its global symbol
        return UNIT, run_prim_func(store, callee, [*args, *new], None)
    if not isinstance(
        callee, Packed
    ):  # OBL-packed refuses what is none, and warns of what may be none
        raise FaultStop("E-packed-func", f"a packed function is called, not {kind(callee)}")
    own = BUILTINS.get(callee.name) is callee
    if own and callee.name in READING:
        readable(store, args, "E-packed-written")
    before = store.before(memory(args))
    try:
        result = callee.call(*args, *new)
    except (Stop, KeyboardInterrupt):
        raise
    except BaseException as error:
        if own:
            raise misused(callee.name, TAKES[callee.name], [*args, *new]) from None
        words = f"{callee.name} raised {type(error).__name__}: {error}"
        raise FaultStop("E-packed-raised", words) from error
    finally:
        version = store.commit(before + ([] if own else written(store, args)))
    if own and isinstance(result, Tensor):
        version = store.commit(inherited(store, args, result))
    if not isinstance(result, Value):
        raise FaultStop(
            "E-packed-value", f"{callee.name} returned {type(result).__name__}, not a value"
        )
    return result, version


def written(store: Store, values: Sequence[Value]) -> list[Change]:
    """Note that tensors, and those in tuples, may have been written."""
    changes: list[Change] = []
    if store.blank:
        for value in parts(values):
            if id(value) in store.blank:
                changes += store.filled(store.blank[id(value)].tensor)
    return changes


def inherited(store: Store, args: Sequence[Value], made: Tensor) -> list[Change]:
    """A tensor that the run time made in the memory of another has as much written as that."""
    for value in args:
        blank = store.blank.get(id(value))
        if blank is not None and made.data.size == blank.tensor.data.size:
            return store.blanked(made, blank.written)
    return []


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
                # OBL-passed refuses what is none of these, and warns of what may be none.
                words = f"argument {at} of a PrimFunc is {kind(value)}"
                raise FaultStop("E-prim-func-argument", words, value=value)
    return found


@rule("E-prim-func", "ac8fcec0", "step")
def run_prim_func(
    store: Store,
    callee: Value,
    args: Sequence[Value],
    writes: Collection[int] | None,
    blank: Collection[int] = (),
) -> Version:
    """Run a PrimFunc on values, of which it may change those at the positions ``writes``.

    ``blank`` are the positions of tensors that only this call knows of so far; None for ``writes``
    means any.
    """
    if not isinstance(callee, PrimFuncValue):  # OBL-callee names a global PrimFunc
        raise IllFormedStop("E-prim-func-callee", f"a PrimFunc is called, not {kind(callee)}")
    numbers = plain(args)
    unwritten = _unwritten(store, args, blank)
    for k, known in unwritten.items():
        if known is None and k in store.program.only_reads(callee):
            words = f"argument {k} is read: {Blank(args[k])}"  # type: ignore[arg-type]
            raise FaultStop("E-prim-func-written", words, value=args[k])
    changed = [a for i, a in enumerate(args) if i not in blank and (writes is None or i in writes)]
    changes = store.before(memory(changed))
    try:
        left = store.program.run_prim_func(callee, numbers, unwritten)
        for k in unwritten:
            changes += store.blanked(args[k], left.get(k, _WHOLE))  # type: ignore[arg-type]
    finally:
        version = store.commit(changes)
    return version


_WHOLE = np.ones(1, np.uint8)


def _unwritten(
    store: Store, args: Sequence[Value], blank: Collection[int]
) -> dict[int, np.ndarray[Any, Any] | None]:
    """The positions of tensors that are not whole, each with what was written of it, None if
    nothing.
    """
    found: dict[int, np.ndarray[Any, Any] | None] = dict.fromkeys(blank)
    if store.blank:
        for at, value in enumerate(args):
            known = store.blank.get(id(value))
            if known is not None:
                found[at] = known.written
    return found


@rule("E-alloc", "c70bea4c", "step")
def allocate(shape: Sequence[int], dtype: Any) -> Any:
    """New memory.

    Raises
    ------
    FaultStop
        ``E-alloc-shape``: a negative dimension. ``E-alloc-size``: more bytes than there can be.
    """
    if min(shape, default=0) < 0:
        raise FaultStop("E-alloc-shape", f"the shape {list(shape)} has a negative dimension")
    total = prod(shape) * dtype.itemsize
    if total > LIMIT:
        raise FaultStop("E-alloc-size", f"{total} bytes are asked for; the limit is {LIMIT}")
    return np.zeros(tuple(shape), dtype)


LIMIT = 1 << 34
"""Bytes that one tensor may have."""
