"""Binding of a PrimFunc's arguments: memory, scalars, and the sizes in the shapes of its
buffers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType, limits
from rlx.grammar.nodes.visit import shape_vars_of
from rlx.semantics.arrays import address
from rlx.semantics.tir.memory import (
    Array,
    BoundBuffer,
    Cells,
    Written,
    compact,
    numpy_type,
    strided,
)
from rlx.semantics.tir.values import Number, fault, into, unsupported, vector_element
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.spec.registry import rule

Values = dict[tir.Var | tir.Buffer, Any]


@rule("E-tir-argument", "TIR statement")
def bind(func: tir.PrimFunc, args: Sequence[Any], unwritten: Collection[int]) -> Values:
    """The values of parameters, of their buffers, and of the variables in their shapes.

    Parameters
    ----------
    args
        An array for each handle with a buffer, a number for each scalar. Trailing scalars may be
        omitted if shapes determine them.
    unwritten
        Positions of the arrays that hold nothing yet; in a mapping, with a byte for each element
        that says whether it was written, which is kept up to date.

    Raises
    ------
    FaultStop
        `E-tir-argument`
    """
    left = func.params[len(args) :]
    if len(args) > len(func.params) or any(p in func.buffer_map for p in left):
        wrong(f"the function takes {len(func.params)} arguments, found {len(args)}")
    values: Values = {}
    arrays: list[tuple[int, tir.Buffer, Array]] = []
    for at, (param, arg) in enumerate(zip(func.params, args, strict=False)):
        buffer = func.buffer_map.get(param)
        if buffer is not None:
            arrays.append((at, buffer, _array(at, buffer, arg)))
        else:
            values[param] = _scalar(at, param.dtype, arg)
    _sizes(arrays, values)
    for var in (v for _, buffer, _ in arrays for v in shape_vars_of(buffer) if v not in values):
        wrong(f"the arguments do not determine {var.name}")
    for var in (v for v in left if v not in values):
        wrong(f"the argument {var.name} is missing")
    memories = _memories(arrays, unwritten)
    for (at, buffer, array), memory in zip(arrays, memories, strict=True):
        values[buffer] = _bound(at, buffer, array, memory, values)
    return values


def wrong(message: str) -> NoReturn:
    """Reject an argument."""
    fault("E-tir-argument", message)


def _array(at: int, buffer: tir.Buffer, arg: Any) -> Array:
    if not isinstance(arg, np.ndarray):
        wrong(f"argument {at} ({buffer.name}): expected an array, found {type(arg).__name__}")
    wanted = numpy_type(vector_element(buffer.dtype))
    if arg.dtype != wanted:
        wrong(f"argument {at} ({buffer.name}): expected elements of {wanted}, found {arg.dtype}")
    if arg.ndim != len(buffer.shape):
        wrong(f"argument {at} ({buffer.name}): expected {len(buffer.shape)} axes, found {arg.ndim}")
    return arg


def _scalar(at: int, dtype: DataType, arg: Any) -> Number:
    if dtype.code == "handle":
        return arg  # type: ignore[no-any-return]
    only_number(at, arg)
    if dtype.is_float:
        return into(dtype)(float(arg))
    if isinstance(arg, (float, np.floating)):
        wrong(f"argument {at}: expected a number of type {dtype}, found {arg}")
    low, high = limits(dtype)
    if not low <= int(arg) <= high:
        wrong(f"argument {at}: {arg} does not fit into {dtype}")
    return into(dtype)(int(arg))


def only_number(at: int, arg: Any) -> None:
    """Reject what is no number."""
    if not isinstance(arg, (int, float, np.generic)):
        found = "an array" if isinstance(arg, np.ndarray) else type(arg).__name__
        wrong(f"argument {at}: expected a number, found {found}")


def _strides(array: Array) -> tuple[int, ...]:
    """The strides of an array in elements; an axis of one element has that of a compact array."""
    gaps = zip(array.shape, array.strides, compact(array.shape), strict=True)
    return tuple(by // array.itemsize if n > 1 else usual for n, by, usual in gaps)


def _sizes(arrays: list[tuple[int, tir.Buffer, Array]], values: Values) -> None:
    """Give every variable that stands alone in a shape, in strides or as an offset its number."""
    for _, buffer, array in arrays:
        strides: Any = buffer.attrs.get("strides") or ()
        dims = [*zip(buffer.shape, array.shape, strict=True)]
        dims += zip(strides, _strides(array), strict=False)
        dims.append((buffer.attrs.get("elem_offset"), 0))  # type: ignore[arg-type]
        for expr, number in dims:
            if isinstance(expr, tir.Var) and expr not in values:
                low, high = limits(expr.dtype)
                if expr.dtype.is_float or not low <= number <= high:
                    wrong(f"{expr.name} is {number}, which does not fit into {expr.dtype}")
                values[expr] = int(number)


def _number(expr: tir.PrimExpr, values: Values, what: str) -> int:
    try:
        return evaluate(expr, values, int64=True)  # type: ignore[arg-type]
    except UndefinedError as error:
        wrong(f"{what} has no value: {error}")


def _bound(at: int, buffer: tir.Buffer, array: Array, memory: Cells, values: Values) -> BoundBuffer:
    """The buffer of an argument, its shape and strides compared with the array's."""
    name = f"argument {at} ({buffer.name})"
    for axis, (dim, found) in enumerate(zip(buffer.shape, array.shape, strict=True)):
        wanted = _number(dim, values, f"axis {axis} of {name}")
        if wanted != found:
            wrong(f"axis {axis} of {name}: expected the extent {wanted}, found {found}")
    if isinstance(buffer.attrs.get("layout"), tir.OpaqueExpr):
        unsupported("E-tir-opaque", f"{name} has a layout of its own", buffer.span)
    said: Any = buffer.attrs.get("strides")
    strides = _strides(array)
    if said and array.size:
        asked = tuple(
            by if isinstance(s, tir.StringImm) else _number(s, values, f"a stride of {name}")
            for s, by in zip(said, strides, strict=False)  # a quoted name is any number
        )
        if asked != strides:
            wrong(f"{name}: expected the strides {asked}, found {strides}")
    offset = buffer.attrs.get("elem_offset")
    start = _number(offset, values, "the offset") if isinstance(offset, tir.PrimExpr) else 0
    return BoundBuffer(buffer.name, memory, array.shape, strides, start)


def _memories(
    arrays: list[tuple[int, tir.Buffer, Array]], unwritten: Collection[int]
) -> list[Cells]:
    """The memory of each array; an array that is passed twice has one, and it is what the first
    says.
    """
    filled = {_place(array) for at, _, array in arrays if at not in unwritten}
    flags: dict[object, Written] = {}
    found: list[Cells] = []
    for at, buffer, array in arrays:
        span = 1 + sum((n - 1) * s for n, s in zip(array.shape, _strides(array), strict=True))
        if array.size == 0:
            span = 0
        elif span < 0 or any(s < 0 for s in _strides(array)):
            wrong(f"the array for {buffer.name} runs backwards through its memory")
        flat = strided(array, (span,), (array.itemsize,))
        place = _place(array)
        known = None
        if place not in filled:
            given = isinstance(unwritten, Mapping) and span == array.size
            known = memoryview(unwritten[at]) if given else bytearray(span)  # type: ignore[index]
            known = flags.setdefault(place, known)
        found.append(Cells(flat, known))
    return found


def _place(array: Array) -> object:
    return address(array), array.nbytes
