"""Tensors as memory: reinterpretation of their bytes, and their layout."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from rlx.grammar.nodes.dtype import DataType
from rlx.operators.evaluate.arrays import Array, Function, kind_of, sizes
from rlx.operators.evaluation import OperatorFault, data_type
from rlx.spec.registry import rule


@rule("E-view", "2f5930b0", "computation")
def view(x: Array, shape: tuple[int, ...] | None, kind: DataType | None, offset: Any) -> Array:
    """The bytes of a tensor from an offset on, reinterpreted with another shape or element type."""
    made = kind_of(kind, x.dtype)
    wanted = x.shape if shape is None else sizes(shape)
    start, held = int(offset or 0), x.nbytes
    end = start + prod(wanted) * made.itemsize
    if start < 0 or end > held:
        raise OperatorFault(
            "E-view-size", (f"the view covers bytes {start} to {end}, but the tensor has {held}")
        )
    return np.frombuffer(x.tobytes()[start:end], made).reshape(wanted).copy()


@rule("E-inspect", "af2250b4", "computation")
def _axis(x: Array, axis: Any) -> int:
    if not 0 <= int(axis) < x.ndim:
        raise OperatorFault("E-inspect-axis", f"axis {axis} is out of range for rank {x.ndim}")
    return int(axis)


TYPE_CODES = {
    "int": 0,
    "uint": 1,
    "float": 2,
    "bfloat": 4,
    "bool": 6,
    "float8_e3m4": 7,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 9,
    "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11,
    "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
    "float8_e8m0fnu": 14,
    "float6_e2m3fn": 15,
    "float6_e3m2fn": 16,
    "float4_e2m1fn": 17,
}
"""DLPack's type codes, without the numbers of bits."""


def type_code(x: Array) -> int:
    """DLPack's code of an array's element type."""
    name = str(data_type(x.dtype))
    return TYPE_CODES[name if "_" in name else name.rstrip("0123456789")]


_FIELDS: dict[str, Any] = {
    "byte_offset": lambda x: np.uint64(0),
    "elem_offset": lambda x: np.uint64(0),
    "dtype_bits": lambda x: np.uint8(data_type(x.dtype).bits),
    "dtype_lanes": lambda x: np.uint16(1),
    "dtype_code": lambda x: np.uint8(type_code(x)),
    "ndim": lambda x: np.int32(x.ndim),
}
"""The fields of a tensor's descriptor."""


def tensor_shape_i(x: Array, axis: Any) -> Any:
    """The length of an axis."""
    return np.int64(x.shape[_axis(x, axis)])


def tensor_stride_i(x: Array, axis: Any) -> Any:
    """The stride of an axis in elements."""
    return np.int64(prod(x.shape[_axis(x, axis) + 1 :]))


OPERATORS: dict[str, Function] = {
    f"inspect.tensor_{name}": field for name, field in _FIELDS.items()
}
"""The operators that functions of this file make or share, by name."""
