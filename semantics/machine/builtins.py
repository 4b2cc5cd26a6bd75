"""The functions of the virtual machine's run time that lowered programs call by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from rlx.grammar.nodes.dtype import INT64, DataType, dtype
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.semantics.cast import CastFailed
from rlx.semantics.cast import check as check_values
from rlx.semantics.faults import CheckStop, FaultStop
from rlx.semantics.machine.message_text import kind_of, show
from rlx.semantics.struct_info_of import head_of
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
    fitted_scalar,
)
from rlx.spec.registry import rule

# ---------------------------------------------------------------- shape heaps and memory


@rule("V-store-shape", "machine instruction")
def _store_shape(shape: Value, heap: Value, *at: Value) -> Value:
    """``(shape, heap, i0, i1, …)``: stores the dimensions in these slots of the heap."""
    sizes = _dims(shape)
    places = _places("vm.builtin.store_shape", heap, at)
    if len(places) != len(sizes):
        words = f"expected one slot for each of {len(sizes)} dimensions, found {len(places)}"
        raise FaultStop("V-store-shape-count", words)
    for place, size in zip(places, sizes, strict=True):
        heap.data[place] = size  # type: ignore[attr-defined]
    return UNIT


@rule("V-load-shape", "machine instruction")
def _load_shape(heap: Value, *at: Value) -> Value:
    """``(heap, i0, i1, …)``: the shape of the numbers in these slots of the heap."""
    places = _places("vm.builtin.load_shape", heap, at)
    return ShapeValue(tuple(int(heap.data[place]) for place in places))  # type: ignore[attr-defined]


@rule("V-heap", "machine instruction")
def _places(name: str, heap: Value, at: tuple[Value, ...]) -> list[int]:
    """Places of a shape heap, which they must be inside."""
    if not isinstance(heap, Tensor) or heap.data.ndim != 1 or not holds_sizes(heap):
        raise FaultStop("V-heap-tensor", f"{name} expects a shape heap, found {show(heap)}")
    places = [int(v.value) if isinstance(v, Scalar) else -1 for v in at]
    for place in places:
        if not 0 <= place < len(heap.data):
            raise FaultStop(
                "V-heap-place",
                f"{name}: slot {place} is outside the heap, which has {len(heap.data)} slots",
            )
    return places


def holds_sizes(heap: Tensor) -> bool:
    """Whether a tensor has the element type of a shape heap."""
    return np.issubdtype(heap.data.dtype, np.signedinteger)


def _dims(value: Value) -> tuple[int, ...]:
    match value:
        case ShapeValue(values=values):
            return values
        case Tensor():
            return value.shape
        case Scalar(value=int() as number):
            return (number,)
    raise TypeError


def _nothing(*_: Value) -> Value:
    return UNIT


def _move(value: Value) -> Value:
    return value


HEAP_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "store_shape": _store_shape,
    "load_shape": _load_shape,
    "free_storage": _nothing,
    "free_tensor": _nothing,
    "kill_object": _nothing,
    "move": _move,
}
"""The functions by their names without `vm.builtin.`."""


# ---------------------------------------------------------------- values of tensors


@rule("E-builtin-unique", "part of a step")
def _unique(x: Tensor, *rest: Value) -> Value:
    """The distinct elements, ascending or in order of appearance, and on demand three more
    tensors.
    """
    from rlx.operators.evaluation import OperatorFault
    from rlx.operators.indexing import unique_value

    ordered, index, inverse, counts, axis, *_ = [*map(_number, rest), None]
    try:
        values, *extra = unique_value(x.data, ordered or 0, True, True, True, axis)
    except OperatorFault as fault:
        raise FaultStop(fault.code, fault.message) from None
    found = [
        values,
        *(a for a, asked in zip(extra, (index, inverse, counts), strict=True) if asked),
    ]
    tensors = tuple(Tensor(np.ascontiguousarray(each), x.device) for each in found)
    return tensors[0] if len(tensors) == 1 else TupleValue(tensors)


def _number(value: Value) -> int | None:
    return int(value.value) if isinstance(value, Scalar) else None


def _nonzero(x: Tensor) -> Value:
    from rlx.operators.indexing import nonzero_value

    return Tensor(nonzero_value(x.data), x.device)


SETS: Mapping[str, Callable[..., Any]] = {
    "relax.run.unique": _unique,
    "relax.run.nonzero": _nonzero,
}
"""The functions by their full names; both read the elements of their arguments."""


IMMEDIATE, STORE, NOTHING, LOAD = range(4)
"""The codes of ``match_shape`` for a dimension: compare with a number, store, ignore, compare with
a stored number.
"""


def _refuse(code: str, expected: str, found: object) -> NoReturn:
    raise CheckStop(code, f"expected {expected}, found {found}")


def _with_place(call: Callable[..., Value]) -> Callable[..., Value]:
    """The check with the place in the source that its last argument says, in front of what it
    says.
    """

    def check_there(*args: Value) -> Value:
        try:
            return call(*args)
        except CheckStop as refused:
            if isinstance(args[-1], StringValue) and args[-1].value:
                words = f"{args[-1].value}: {refused.message}"
                raise CheckStop(refused.code, words, refused.span, refused.value) from None
            raise

    return check_there


def _alloc_shape_heap(size: Scalar) -> Value:
    count = _integer(size)
    if count > MOST_PLACES:
        raise ValueError(count)
    return Tensor(np.zeros(count, np.int64))


MOST_PLACES = 1 << 24
"""The maximum number of slots of a shape heap."""


def _integer(value: Value) -> int:
    """The integer that a value is; the caller says what is wrong where it is none."""
    if type(value) is Scalar and type(value.value) is int:
        return value.value
    raise ValueError


@rule("E-builtin-match", "part of a step")
def match(found: int, heap: Tensor, code: int, operand: int, what: str = "") -> None:
    """Match one dimension, or one number, by one code."""
    if code == STORE:
        heap.data[_place(heap, operand)] = found
    elif code == IMMEDIATE or code == LOAD:
        wanted = operand if code == IMMEDIATE else int(heap.data[_place(heap, operand)])
        if wanted != found:
            _refuse("E-builtin-match-number", f"{what}{wanted}", found)
    elif code != NOTHING:
        raise ValueError(code)


def _place(heap: Tensor, operand: int) -> int:
    """A slot of the heap; NumPy would count negative indices from the end."""
    if operand < 0 or type(heap) is not Tensor or heap.data.ndim != 1 or not holds_sizes(heap):
        raise IndexError(operand)
    return operand


def _match_shape(value: Value, heap: Tensor, ndim: Scalar, *program: Value) -> Value:
    sizes = value.values if isinstance(value, ShapeValue) else getattr(value, "shape", None)
    if sizes is None or len(sizes) != ndim.value:
        _refuse("E-builtin-check-rank", f"rank {ndim.value}", show(value))
    placed = bool(program) and isinstance(program[-1], StringValue)
    steps = _pairs(program[:-1] if placed else program)
    for axis, (size, (code, operand)) in enumerate(zip(sizes, steps, strict=True)):
        match(size, heap, code, operand, f"dimension {axis} to be ")
    return UNIT


def _pairs(program: tuple[Value, ...]) -> list[tuple[int, int]]:
    numbers = [_integer(item) for item in program]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _match_prim(
    value: Scalar, heap: Tensor, code: Scalar, operand: Scalar, _: Value = NULL
) -> Value:
    if not isinstance(value, Scalar) or isinstance(value.value, float):
        raise FaultStop(
            "E-binding-scalar", f"expected an integer scalar as a dimension, found {show(value)}"
        )
    match(int(value.value), heap, _integer(code), _integer(operand))
    return UNIT


@rule("E-builtin-make", "part of a step")
def make(heap: Tensor, code: int, operand: int) -> int:
    """One number: the operand itself, or from the heap."""
    return operand if code == IMMEDIATE else int(heap.data[_place(heap, operand)])


def _make_shape(heap: Tensor, ndim: Scalar, *program: Value) -> Value:
    steps = _pairs(program)
    if len(steps) != ndim.value:
        raise ValueError(ndim)
    return ShapeValue(tuple(make(heap, code, operand) for code, operand in steps))


def _make_prim(heap: Tensor, code: Scalar, operand: Scalar, kind: Value | None = None) -> Value:
    number = make(heap, _integer(code), _integer(operand))
    return fitted_scalar(number, INT64 if kind is None else _data_type(kind))


@rule("E-builtin-check", "part of a step")
def check(value: Value, kind: type, rank: int, wanted: object) -> None:
    """Check the kind of a value, its rank (or number of fields), and its element type; -1 and Void
    match everything, as no data type does.
    """
    if not isinstance(value, kind):
        _refuse("E-builtin-check-kind", kind_of(kind), show(value))
    size = _SIZE[kind](value) if kind in _SIZE else -1
    if rank not in (-1, size):
        _refuse("E-builtin-check-rank", f"{rank} dimensions or fields", show(value))
    held = str(getattr(value, "dtype", ""))
    if wanted is not None and str(wanted) not in ("void", "", held):
        _refuse("E-builtin-check-dtype", str(wanted), show(value))


_SIZE: dict[type, Callable[[Any], int]] = {
    Tensor: lambda x: len(x.shape),
    ShapeValue: lambda x: len(x.values),
    TupleValue: lambda x: len(x.fields),
}


def _check_tensor(value: Value, ndim: Scalar, dtype: Value, _: Value = NULL) -> Value:
    check(value, Tensor, _integer(ndim), None if dtype is NULL else _data_type(dtype))
    return UNIT


def _data_type(value: Value) -> DataType:
    match value:
        case DataTypeValue(value=kind):
            return kind
        case StringValue(value=name):
            return dtype(name)
    raise ValueError


def _check_shape(value: Value, ndim: Scalar, _: Value = NULL) -> Value:
    check(value, ShapeValue, _integer(ndim), None)
    return UNIT


def _check_tuple(value: Value, size: Scalar, _: Value = NULL) -> Value:
    check(value, TupleValue, _integer(size), None)
    return UNIT


def _check_prim(value: Value, dtype: Value, _: Value = NULL) -> Value:
    check(value, Scalar, -1, _data_type(dtype))
    return UNIT


def _check_func(value: Value, _: Value = NULL) -> Value:
    if not isinstance(value, Packed | PrimFuncValue):
        check(value, Closure, -1, None)
    return UNIT


@rule("E-builtin-reshape", "part of a step")
def _reshape(value: Tensor, shape: ShapeValue) -> Value:
    total = int(np.prod(shape.values, dtype=object))
    if total != value.data.size:
        words = f"a tensor of {value.data.size} elements cannot have the shape {list(shape.values)}"
        raise FaultStop("E-builtin-reshape-size", words)
    return Tensor(value.data.reshape(shape.values), value.device, value.storage)


def _read_if_cond(value: Value) -> Value:
    from rlx.grammar.nodes.dtype import BOOL
    from rlx.semantics.machine.control import truth

    return Scalar(truth(value), BOOL)


def _shape_to_tensor(value: ShapeValue) -> Value:
    return Tensor(np.array(value.values, np.int64))


def _tensor_to_shape(value: Tensor) -> Value:
    return ShapeValue(tuple(int(size) for size in value.data))


@rule("E-builtin-device", "part of a step")
def _to_device(value: Tensor, kind: Scalar, index: Scalar, _: Value = NULL) -> Value:
    target = _TARGETS.get(_integer(kind))
    if target is None:
        raise FaultStop("E-builtin-device-kind", f"unknown kind of device: {kind.value}")
    return Tensor(value.data.copy(), (target, _integer(index)))


_TARGETS = {1: "llvm", 2: "cuda", 4: "opencl", 7: "vulkan", 8: "metal", 10: "rocm", 15: "webgpu"}
"""The targets of devices by DLPack's numbers."""


@rule("E-builtin-draw", "part of a step")
def _multinomial(prob: Tensor, sample: Tensor) -> Value:
    from rlx.operators.evaluation import OperatorFault
    from rlx.operators.sorting import multinomial_from_uniform_value

    if prob.data.ndim != 2 or sample.data.size != prob.data.shape[0]:
        words = f"probabilities of {list(prob.shape)}, samples of {list(sample.shape)}"
        raise FaultStop("E-builtin-draw-rows", words)
    try:
        found = multinomial_from_uniform_value(
            prob.data, sample.data.ravel()[:, np.newaxis], np.arange(sample.data.size), None
        )
    except OperatorFault as fault:
        raise FaultStop(fault.code, fault.message) from None
    return Tensor(found, prob.device)


def _check_string(value: Value, _: Value = NULL) -> Value:
    check(value, StringValue, -1, None)
    return UNIT


@rule("E-builtin-device-held", "part of a step")
def _check_device(value: Value, target: StringValue, index: Scalar, _: Value = NULL) -> Value:
    wanted = (target.value, _integer(index))
    if isinstance(value, Tensor) and value.device not in (None, wanted):
        _refuse("E-cast-device", "a tensor on {}:{}".format(*wanted), show(value))
    return UNIT


@rule("E-builtin-shape-held", "part of a step")
def _check_held_shape(value: Value, held: Value, _: Value = NULL) -> Value:
    if not isinstance(held, ShapeValue) or getattr(value, "shape", None) != held.values:
        _refuse("E-cast-dimension", f"the shape {show(held)}", show(value))
    return UNIT


def _field(value: TupleValue, at: Scalar) -> Value:
    index = _integer(at)
    if index < 0:
        raise IndexError(index)
    return value.fields[index]


@rule("E-builtin-function", "part of a step")
def _check_function(value: Value, text: StringValue, sizes: ShapeValue, _: Value = NULL) -> Value:
    """Check a function against a type: the second parameter of a function without a body, whose
    first has the shape variables of that type.
    """
    if not isinstance(text, StringValue) or not isinstance(sizes, ShapeValue):
        raise TypeError
    infos = [param.struct_info_annotation or OBJECT for param in head_of(text.value).params]
    try:
        check_values([sizes, value], infos, {})
    except CastFailed as failed:
        words = f"expected {failed.expected}, found {failed.found}"
        raise CheckStop(failed.code, words, value=value) from None
    return UNIT


_CALLS: dict[str, Callable[..., Value]] = {
    **HEAP_FUNCTIONS,
    "alloc_shape_heap": _alloc_shape_heap,
    "alloc_heap": _alloc_shape_heap,
    "match_shape": _with_place(_match_shape),
    "match_prim_value": _with_place(_match_prim),
    "make_shape": _make_shape,
    "make_prim_value": _make_prim,
    "check_tensor_info": _with_place(_check_tensor),
    "check_shape_info": _with_place(_check_shape),
    "check_tuple_info": _with_place(_check_tuple),
    "check_prim_value_info": _with_place(_check_prim),
    "check_func_info": _with_place(_check_func),
    "check_string_info": _with_place(_check_string),
    "reshape": _reshape,
    "shape_of": lambda value: ShapeValue(value.shape),
    "tensor_to_shape": _tensor_to_shape,
    "copy": lambda value: value,
    "ensure_zero_offset": lambda value: value,
    "to_device": _to_device,
    "multinomial_from_uniform": _multinomial,
    "make_tuple": lambda *fields: TupleValue(fields),
    "null_value": lambda: NULL,
    "read_if_cond": _read_if_cond,
    "tuple_getitem": _field,
}
BUILTINS = {
    name: Packed(call, name)
    for name, call in {
        **{f"vm.builtin.{k}": v for k, v in _CALLS.items()},
        **SETS,
        "relax.run.shape_to_tensor": _shape_to_tensor,
        "relax.run.check_device": _with_place(_check_device),
        "relax.run.check_held_shape": _with_place(_check_held_shape),
        "relax.run.check_function": _with_place(_check_function),
    }.items()
}
"""The functions, which take and return values; `spec/evaluation.md` defines them."""
READING = frozenset(
    f"vm.builtin.{name}"
    for name in ("tensor_to_shape", "read_if_cond", "to_device", "multinomial_from_uniform")
).union(SETS)
"""The functions that read the elements of their arguments."""
ELSEWHERE = re.compile(
    r"vm\.builtin\.(\w*kv_cache\w*|distributed\.\w+|kv_state_\w+|rnn_state_\w+|cuda_graph\.\w+"
    r"|(param_(array|module)|tensor_cache|memory_manager)\w*(\.\w+)?|apply_\w+|sample_top_p_\w+"
    r"|\w*(py_func|debug)\w*|compute_alloc_shape|tuple_reset_item)\Z"
)
"""Names of other run-time functions, which have a state of their own or are specific to one model;
they are not supported.
"""
