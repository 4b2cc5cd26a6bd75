"""Constants are read as they were written, at the limits of what they hold; what is beyond is refused."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from rlx.grammar.nodes.dtype import dtype
from rlx.semantics.values import (
    NULL,
    DataTypeValue,
    Scalar,
    ShapeValue,
    StringValue,
    Tensor,
    TupleValue,
    Value,
)
from rlx.vm.constants import DEEPEST, ConstantError, constant, from_json, to_json

MOST = (1 << 63) - 1
NUMBERS = sorted({s * (1 << bits) + d for bits in range(64) for s in (1, -1) for d in (-1, 0, 1)})
HELD = [number for number in NUMBERS if -MOST <= number <= MOST]
KINDS = ("bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64")


def nested(deep: int) -> Value:
    value: Value = NULL
    for _ in range(deep):
        value = TupleValue((value,))
    return value


VALUES: list[Value] = [
    *(ShapeValue((number,)) for number in HELD),
    *(Scalar(number, dtype("int64")) for number in HELD),
    *(Scalar(number, dtype("float64")) for number in (0.1, -0.0, 1e308, float("inf"))),
    *(Scalar(truth, dtype("bool")) for truth in (True, False)),
    ShapeValue(()),
    StringValue(""),
    StringValue('"\u2026\n'),
    NULL,
    *(DataTypeValue(dtype(kind)) for kind in (*KINDS, "bfloat16", "int4")),
    nested(DEEPEST),
    TupleValue(()),
]


def back(value: Value) -> Value:
    return from_json(json.loads(json.dumps(to_json(constant(value)))))


def test_what_is_written_is_read_back() -> None:
    for value in VALUES:
        found = back(value)
        assert type(found) is type(value) and repr(found) == repr(value)
        assert to_json(found) == to_json(value)


@pytest.mark.parametrize("kind", [*KINDS, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
@pytest.mark.parametrize("shape", [(), (0,), (64,), (1, 100), (2, 0, 70)])
def test_tensors_are_read_back(kind: Any, shape: tuple[int, ...]) -> None:
    data = np.arange(int(np.prod(shape))).reshape(shape).astype(kind)
    for device in (None, ("llvm", 3)):
        found = back(Tensor(data, device))
        assert isinstance(found, Tensor) and found.device == device
        assert found.data.dtype == data.dtype and found.data.shape == shape
        assert found.data.tobytes() == data.tobytes() and found.data.flags.writeable


@pytest.mark.parametrize(
    "written",
    [
        *({"shape": [number]} for number in NUMBERS if abs(number) > MOST),
        {"shape": [True]},
        {"shape": [1.0]},
        {"tensor": "int8", "shape": [-1], "data": ""},
        {"tensor": "int8", "shape": [-1, -1], "data": "AA=="},
        {"tensor": "int8", "shape": [2], "data": "AA=="},
        {"tensor": "int8", "shape": [0], "data": "AA=="},
        {"tensor": "int8", "shape": [1], "data": "?"},
        {"tensor": "int9000", "shape": [1], "data": "AA=="},
        {"tensor": "int8", "shape": [1], "data": "AA==", "device": ["llvm"]},
        {"scalar": "int64", "value": "x"},
        {"scalar": "int", "value": "--1"},
        {"null": False},
        to_json(TupleValue((nested(DEEPEST - 1), TupleValue((nested(DEEPEST - 1),))))),
    ],
    ids=lambda written: json.dumps(written)[:40],
)
def test_what_is_no_constant_is_refused(written: Any) -> None:
    with pytest.raises(ConstantError):
        from_json(written)


def test_tuples_are_not_nested_deeper() -> None:
    with pytest.raises(ConstantError, match="nested more than"):
        constant(nested(DEEPEST + 1))


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ([1] * 70, "70 dimensions"),
        ([1 << 62] * 100_000, "100000 dimensions"),
        ([1 << 32, 1 << 32], "more bytes than 64 bits can count"),
        ([0, 1 << 62, 1 << 62], "more bytes than 64 bits can count"),
        ([1 << 40], "0 bytes of content"),
        ([1 << 64], "has the shape"),
        ([[[]]], "has the shape"),
        ([-1], "has the shape"),
    ],
)
def test_shapes_beyond_the_file_are_refused(shape: list[Any], reason: str) -> None:
    with pytest.raises(ConstantError, match=reason):
        from_json({"tensor": "float32", "shape": shape, "data": ""})
