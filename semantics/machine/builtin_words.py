"""Descriptions of the arguments of run-time functions, for messages about invalid calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlx.semantics.faults import FaultStop
from rlx.semantics.machine.message_text import show
from rlx.semantics.values import Value

_PLACE = ", and optionally a source location"
_NUMBERS = "then for each dimension a code and a number or a slot of the heap"
_OBJECT = "one value"
TAKES: Mapping[str, str] = {
    "vm.builtin.alloc_shape_heap": "a size",
    "vm.builtin.alloc_heap": "a size",
    "vm.builtin.store_shape": "a shape, a shape heap, and for each dimension a slot of the heap",
    "vm.builtin.load_shape": "a shape heap, and for each dimension a slot of the heap",
    "vm.builtin.free_storage": "any values",
    "vm.builtin.free_tensor": "any values",
    "vm.builtin.kill_object": "any values",
    "vm.builtin.move": _OBJECT,
    "vm.builtin.match_shape": f"a tensor or a shape, a shape heap, a rank, {_NUMBERS}{_PLACE}",
    "vm.builtin.match_prim_value": (
        f"an integer, a shape heap, a code and a number or a slot of the heap{_PLACE}"
    ),
    "vm.builtin.make_shape": f"a shape heap, a rank, {_NUMBERS}",
    "vm.builtin.make_prim_value": (
        "a shape heap, a code and a number or a slot of the heap, and optionally a data type"
    ),
    "vm.builtin.check_tensor_info": f"a value, a rank and a data type{_PLACE}",
    "vm.builtin.check_shape_info": f"a value and a rank{_PLACE}",
    "vm.builtin.check_tuple_info": f"a value and a number of fields{_PLACE}",
    "vm.builtin.check_prim_value_info": f"a value and a data type{_PLACE}",
    "vm.builtin.check_func_info": f"a value{_PLACE}",
    "vm.builtin.check_string_info": f"a value{_PLACE}",
    "vm.builtin.reshape": "a tensor and a shape",
    "vm.builtin.shape_of": "a tensor",
    "vm.builtin.tensor_to_shape": "a tensor of integers with one dimension",
    "vm.builtin.copy": _OBJECT,
    "vm.builtin.ensure_zero_offset": _OBJECT,
    "vm.builtin.to_device": "a tensor, the number of a kind of devices and the index of a device",
    "vm.builtin.multinomial_from_uniform": "a matrix of probabilities and a tensor of samples",
    "vm.builtin.make_tuple": "any values",
    "vm.builtin.null_value": "nothing",
    "vm.builtin.read_if_cond": "a Boolean",
    "vm.builtin.tuple_getitem": "a tuple and the number of one of its fields",
    "relax.run.unique": (
        "a tensor, and optionally four Booleans (sorted, index, inverse, counts) and an axis"
    ),
    "relax.run.nonzero": "a tensor",
    "relax.run.shape_to_tensor": "a shape",
    "relax.run.check_device": f"a value, the name of a target and the index of a device{_PLACE}",
    "relax.run.check_held_shape": f"a value and a shape{_PLACE}",
    "relax.run.check_function": (
        f"a value, a type of functions as text and the numbers of its shape variables{_PLACE}"
    ),
}
"""The arguments of each function in :data:`rlx.semantics.machine.builtins.BUILTINS`."""


def misused(name: str, takes: str, args: Sequence[Value]) -> FaultStop:
    """The fault for invalid arguments of a run-time function."""
    shown = ", ".join(show(arg) for arg in args[:_SHOWN]) or "nothing"
    more = f" and {len(args) - _SHOWN} more" if len(args) > _SHOWN else ""
    return FaultStop("E-packed-raised", f"{name} takes {takes}; found {shown}{more}")


_SHOWN = 12
