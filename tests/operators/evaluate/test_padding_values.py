"""The value that `layout_transform` pads with: what the element type holds stands there, all else is a fault."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from rlx.operators.arrays import integer_range, is_float
from rlx.operators.evaluation import OperatorFault
from rlx.operators.index_map import layout_transform_value

KINDS = tuple(
    np.dtype(kind)
    for kind in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn),
        *(ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2),
    )
)
VALUES = (
    *(None, 0, 1, -1, 2, True, False, 0.5, -0.0, 1e300, -1e300, math.inf, math.nan),
    *(edge + by for bits in (1, 2, 3, 4, 7, 8, 31, 32, 63, 64) for edge in (-1 << bits, 1 << bits) for by in (-1, 0)),
)  # fmt: skip


def _held(value: Any, kind: np.dtype[Any]) -> bool:
    if value is None or is_float(kind):
        return True
    low, high = (0, 1) if kind.kind == "b" else integer_range(kind)
    return not isinstance(value, float) and low <= value <= high


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_each_value_stands_there_or_is_a_fault(kind: np.dtype[Any]) -> None:
    x = np.ones(3, kind)
    for value in VALUES:
        if not _held(value, kind):
            with pytest.raises(OperatorFault) as fault:
                layout_transform_value(x, "lambda i: (i // 2, i % 2)", value)
            assert fault.value.code == "E-layout-pad"
            continue
        found = layout_transform_value(x, "lambda i: (i // 2, i % 2)", value)
        with np.errstate(all="ignore"):
            expected = np.asarray(
                0 if value is None else value, np.float64 if is_float(kind) else None
            ).astype(kind)
        assert found.dtype == kind and found[:1].tolist() == [[1, 1]]
        assert found[1, 1].tobytes() == expected.tobytes(), (value, found)
