"""E-rules of operators that call PrimFuncs and packed functions on results that the machine
allocates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Record
from rlx.semantics.arrays import identical, numpy_type
from rlx.semantics.faults import FaultStop, IllFormedStop, UnsupportedStop
from rlx.semantics.machine import prim_exprs
from rlx.semantics.machine.arguments import argument, keyword
from rlx.semantics.machine.configuration import (
    Configuration,
    Frame,
    Instruction,
    Reader,
    bind,
    received,
)
from rlx.semantics.machine.expression_rules import CALLS, copied, enter, external
from rlx.semantics.machine.message_text import kind, show
from rlx.semantics.machine.numpy_conversion import readable
from rlx.semantics.machine.prim_funcs import allocate, call_outside, memory, run_prim_func
from rlx.semantics.store import Change, Store
from rlx.semantics.struct_info_of import declared_by
from rlx.semantics.values import (
    UNIT,
    Closure,
    Device,
    PrimFuncValue,
    ShapeValue,
    Tensor,
    TupleValue,
    Value,
)
from rlx.spec.registry import rule


class CallResult(Record):
    """A tensor that a call declares: the readers of its dimensions, its element type and its
    device.
    """

    dims: Callable[[Frame], Sequence[int]]
    dtype: Any
    device: Device | None


class Results(Record):
    """The declared results of a call.

    Attributes
    ----------
    each
        The tensors, in order; None if something else is declared.
    single
        Whether the result is a single tensor, not a tuple.
    tir_vars
        The readers of further scalar arguments.
    inplace
        The arguments that the results overwrite, -1 for those that are new.
    """

    each: tuple[CallResult, ...] | None
    single: bool
    tir_vars: Reader | None
    inplace: tuple[int, ...] = ()


def results(body: Any, call: ast.Call, args: tuple[Reader, ...]) -> Results:
    """The declared results of a call with ``out_sinfo``."""
    types = call.sinfo_args
    declared = declared_by(types)
    single = not isinstance(declared, ast.TupleStructInfo)
    fields = declared.fields if isinstance(declared, ast.TupleStructInfo) else (declared,)
    each = tuple(_result(body, info) for info in fields)
    tir_vars = args[2] if len(args) > 2 else None
    if call.attrs.get("tir_vars") is not None:
        tir_vars = keyword(body, call.attrs["tir_vars"])
    given: Any = call.attrs.get("inplace_indices", ())
    indices = tuple(given) if isinstance(given, tuple | list) else (given,)
    inplace = tuple(int(getattr(k, "value", k)) for k in indices)
    whole = None if None in each or not types else each
    return Results(whole, single, tir_vars, inplace)  # type: ignore[arg-type]


def _result(body: Any, info: ast.StructInfo) -> CallResult | None:
    if not isinstance(info, ast.TensorStructInfo) or info.shape is None or info.dtype.is_void:
        return None
    device = None if info.vdevice is None else (info.vdevice.target, info.vdevice.index)
    if isinstance(info.shape, ast.ShapeExpr):
        readers = tuple(prim_exprs.prepare(dim, body.scope) for dim in info.shape.values)
        return CallResult(lambda frame: [read(frame) for read in readers], info.dtype, device)
    held = body.operand(info.shape)
    return CallResult(lambda frame: argument(held(frame), "shape"), info.dtype, device)


@rule("E-results", "part of a step")
def _new(found: Results, frame: Frame) -> list[Tensor]:
    """The results, newly allocated where no argument is overwritten."""
    if found.each is None:
        words = "expected a tensor of known shape and element type as declared result"
        raise UnsupportedStop("E-results-declared", words)
    overwrites = found.inplace or (-1,) * len(found.each)
    return [
        Tensor(allocate(each.dims(frame), numpy_type(each.dtype)), each.device)
        for each, k in zip(found.each, overwrites, strict=False)
        if k < 0
    ]


@rule("E-arguments", "part of a step")
def _arguments(at: Instruction[Any], frame: Frame) -> list[Value]:
    args = at.operands[1](frame)
    if not isinstance(args, TupleValue):  # D14 refuses what is none, and warns of what may be none
        raise FaultStop("E-arguments-tuple", f"expected a tuple of arguments, found {kind(args)}")
    return list(args.fields)


def _numbers(found: Results, frame: Frame) -> list[Value]:
    if found.tir_vars is None:
        return []
    value = found.tir_vars(frame)
    if isinstance(value, TupleValue):
        return list(value.fields)
    return [value if isinstance(value, Value) else ShapeValue(argument(value, "shape"))]


def _grouped(found: Results, made: Sequence[Value]) -> Value:
    if found.single:
        [value] = made
        return value
    return TupleValue(tuple(made))


def _behind(args: Sequence[Value], made: Sequence[Value]) -> range:
    """The positions of the results, which are passed after the arguments."""
    return range(len(args), len([*args, *made]))


@rule("E-call-tir", "step")
def call_tir(at: Instruction[Results], c: Configuration) -> Configuration:
    frame, found, store = c.frame, at.payload, c.version.store
    callee, args, made = at.operands[0](frame), _arguments(at, frame), _new(found, frame)
    new = _behind(args, made)
    with _Untouched(store, callee, args, ()):
        version = run_prim_func(store, callee, [*args, *made, *_numbers(found, frame)], new, new)
    return bind(at, c, _grouped(found, made), version)


@rule("E-call-tir-inplace", "step")
def call_tir_inplace(at: Instruction[Results], c: Configuration) -> Configuration:
    frame, found, store = c.frame, at.payload, c.version.store
    callee, args, made = at.operands[0](frame), _arguments(at, frame), _new(found, frame)
    reused = [_reused(found, k, args, frame) for k in range(len(found.inplace))]
    fresh = iter(made)
    out = [next(fresh) if tensor is None else tensor for tensor in reused]
    new = _behind(args, made)
    touched = {*new, *(k for k in found.inplace if k >= 0)}
    with _Untouched(store, callee, args, touched):
        version = run_prim_func(
            store, callee, [*args, *made, *_numbers(found, frame)], touched, new
        )
    return bind(at, c, _grouped(found, out), version)


def _reused(found: Results, at: int, args: Sequence[Value], frame: Frame) -> Tensor | None:
    """The argument that a result overwrites; None for a new one."""
    k = found.inplace[at]
    if k < 0:
        return None
    if k >= len(args):  # OBL-inplace
        raise IllFormedStop(
            "E-call-tir-inplace-index", f"argument index {k} of {len(args)} is out of range"
        )
    value, declared = args[k], found.each[at]  # type: ignore[index]
    shape = tuple(declared.dims(frame))
    if (
        not isinstance(value, Tensor)
        or value.shape != shape
        or value.data.dtype != numpy_type(declared.dtype)
    ):
        raise FaultStop(
            "E-call-tir-inplace-shape",
            f"the result is declared {list(shape)} {declared.dtype}, but overwrites {show(value)}",
            value=value,
        )
    return value


class _Untouched:
    """Holds a PrimFunc to what a pure call may do: arguments that are not named stay as they
    are.
    """

    def __init__(
        self, store: Store, callee: Value, args: Sequence[Value], touched: Collection[int]
    ) -> None:
        known = isinstance(callee, PrimFuncValue)
        suspects = store.program.writes(callee) if known else ()
        self.args = [
            (k, value, array, array.copy())
            for k, value in enumerate(args)
            if k in suspects and k not in touched
            for array in memory([value])
        ]
        self.callee = callee

    def __enter__(self) -> None:
        pass

    def __exit__(self, raised: object, *_: object) -> None:
        for k, value, array, before in self.args if raised is None else ():
            if not identical(array, before):
                words = f"{show(self.callee)} wrote to its input, argument {k}"
                raise FaultStop("E-call-tir-pure", words, value=value)


@rule("E-call-dps-packed", "step")
def call_dps_packed(at: Instruction[Results], c: Configuration) -> Configuration:
    frame, found, store = c.frame, at.payload, c.version.store
    callee, args, made = at.operands[0](frame), _arguments(at, frame), _new(found, frame)
    if isinstance(callee, PrimFuncValue):
        new = _behind(args, made)
        version = run_prim_func(store, callee, [*args, *made], new, new)
    else:
        fill_untouched(made)
        _believed(store, callee, args, (), made)
        version = store.commit(untouched(store, made))
    return bind(at, c, _grouped(found, made), version)


@rule("E-call-pure-packed", "step")
def call_pure_packed(at: Instruction[None], c: Configuration) -> Configuration:
    callee, *args = [read(c.frame) for read in at.operands]
    value = _believed(c.version.store, callee, args, ())
    received(at, c.frame, value)
    return bind(at, c, value, c.version.store.version)


@rule("E-call-inplace-packed", "step")
def call_inplace_packed(at: Instruction[Results], c: Configuration) -> Configuration:
    callee, *args = [read(c.frame) for read in at.operands]
    value = _believed(c.version.store, callee, args, at.payload.inplace)
    received(at, c.frame, value)
    return bind(at, c, value, c.version.store.version)


@rule("E-believed", "part of a step")
def _believed(
    store: Store,
    callee: Value,
    args: Sequence[Value],
    named: Collection[int],
    new: Sequence[Value] = (),
) -> Value:
    """Call a packed function that may change the named arguments alone."""
    read = [value for k, value in enumerate(args) if k not in named]
    readable(store, read, "E-packed-written")
    kept = [
        (k, given, array, array.copy())
        for k, given in enumerate(args)
        if k not in named
        for array in memory([given])
    ]
    value, _ = call_outside(store, callee, args, new)
    for k, given, array, before in kept:
        if not identical(array, before):
            words = f"{show(callee)} wrote to its input, argument {k}"
            raise FaultStop("E-believed-pure", words, value=given)
    return value


@rule("E-call-builtin", "step")
def call_builtin(at: Instruction[None], c: Configuration) -> Configuration:
    callee, args = at.operands[0](c.frame), _arguments(at, c.frame)
    value, version = call_outside(c.version.store, callee, args)
    received(at, c.frame, value)
    return bind(at, c, value, version)


@rule("E-call-py-func", "step")
def call_py_func(at: Instruction[None], c: Configuration) -> Configuration:
    frame, store = c.frame, c.version.store
    callee = external(store, argument(at.operands[0](frame), "string"))
    value, version = call_outside(store, callee, _arguments(at, frame))
    received(at, frame, value)
    return bind(at, c, value, version)


@rule("E-call-tir-dyn", "step")
def call_tir_dyn(at: Instruction[None], c: Configuration) -> Configuration:
    version = run_prim_func(c.version.store, at.operands[0](c.frame), _arguments(at, c.frame), None)
    return bind(at, c, UNIT, version)


@rule("E-make-closure", "step")
def make_closure(at: Instruction[None], c: Configuration) -> Configuration:
    callee = at.operands[0](c.frame)
    if not isinstance(callee, Closure):
        words = f"expected a Relax function for the closure, found {kind(callee)}"
        stop = UnsupportedStop if type(callee) in CALLS else FaultStop
        raise stop("E-make-closure-func", words, value=callee)
    return bind(at, c, copied(callee, tuple(_arguments(at, c.frame))))


@rule("E-invoke-closure", "step")
def invoke_closure(at: Instruction[None], c: Configuration) -> Configuration:
    callee, args = at.operands[0](c.frame), _arguments(at, c.frame)
    if not isinstance(callee, Closure):
        if type(callee) not in CALLS:  # OBL-closure refuses what is none, and an Object may be none
            words = f"expected a function, found {kind(callee)}"
            raise FaultStop("E-invoke-closure-func", words, value=callee)
        return CALLS[type(callee)](at, c, callee, args)
    frame = enter(callee, args, c.frame, at)
    return Configuration(frame.code.entry, frame, at.rule, c.version)


# ---------------------------------------------------------------- elements that were written

_PATTERN = bytes.fromhex("a96bd3f15e7788c3a96bd3f15e7788c3")
"""A bit pattern that does not occur in useful numbers."""
_NARROWEST = 4
"""The element size in bytes below which every pattern may be a valid number."""


def _elements(tensor: Tensor) -> Any:
    """The bytes of each element; None of elements that are too narrow."""
    data = tensor.data
    if data.itemsize < _NARROWEST:
        return None
    return data.ravel().view(np.uint8).reshape(data.size, data.itemsize)


def fill_untouched(tensors: Sequence[Tensor]) -> None:
    """Fill new memory with the pattern."""
    for tensor in tensors:
        elements = _elements(tensor)
        if elements is not None:
            elements[...] = np.frombuffer(_PATTERN, np.uint8)[: tensor.data.itemsize]


def untouched(store: Store, tensors: Sequence[Tensor]) -> list[Change]:
    """Record the elements that still have the pattern."""
    changes: list[Change] = []
    for tensor in tensors:
        elements = _elements(tensor)
        if elements is not None:
            pattern = np.frombuffer(_PATTERN, np.uint8)[: tensor.data.itemsize]
            written = np.any(elements != pattern, axis=1).view(np.uint8)
            changes += store.blanked(tensor, written if written.any() else None)
    return changes
