"""E-rules of explicit memory in lowered programs: storage, tensors in it, their lifetimes."""

from __future__ import annotations

import numpy as np

from rlx.semantics.arrays import numpy_type
from rlx.semantics.machine.arguments import Arguments, argument
from rlx.semantics.machine.configuration import Configuration, Instruction, bind
from rlx.semantics.machine.prim_funcs import allocate, laid_into
from rlx.semantics.values import UNIT, Device, Storage, Tensor
from rlx.spec.registry import rule


@rule("E-alloc-storage", "step")
def alloc_storage(at: Instruction[Arguments], c: Configuration) -> Configuration:
    given = at.payload
    if "size" in given:  # of memory.alloc_storage, whose type is a hint only
        made = allocate(argument(given["size"](c.frame), "shape"), np.dtype(np.uint8))
    else:
        kind = numpy_type(argument(given["dtype"](c.frame), "dtype"))
        made = allocate(argument(given["shape"](c.frame), "shape"), kind)
    storage = Storage(made.ravel().view(np.uint8), _device(given, c))
    return bind(at, c, storage)


@rule("E-alloc-device", "part of a step")
def _device(given: Arguments, c: Configuration) -> Device | None:
    """The device that an index stands for; the operators have several names for it."""
    read = next((given[name] for name in _INDEX if name in given), None)
    if read is None:
        return None
    index = argument(read(c.frame), "number")
    devices = c.version.store.program.devices
    return devices[index] if 0 <= index < len(devices) else None


_INDEX = ("runtime_device_index", "virtual_device_index")


@rule("E-alloc-tensor", "step")
def alloc_tensor(at: Instruction[Arguments], c: Configuration) -> Configuration:
    given, frame, store = at.payload, c.frame, c.version.store
    shape = argument(given["shape"](frame), "shape")
    dtype = numpy_type(argument(given["dtype"](frame), "dtype"))
    if "storage" in given:
        made = laid_into(
            given["storage"](frame), argument(given["offset"](frame), "number"), shape, dtype
        )
    else:
        made = Tensor(allocate(shape, dtype), _device(given, c))
    version = store.commit(store.blanked(made))
    return bind(at, c, made, version)


@rule("E-kill", "step")
def kill(at: Instruction[None], c: Configuration) -> Configuration:
    [read] = at.operands
    read(c.frame)  # it was not killed before
    return bind(at, c, UNIT)
