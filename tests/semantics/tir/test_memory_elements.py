"""Elements of every type are read as Python numbers, and as what was written."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.grammar.nodes.dtype import dtype, numpy_type
from rlx.semantics.tir.memory import Cells

INTEGERS = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "int4", "uint4"),
)
FLOATS = ("float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2")


@pytest.mark.parametrize("name", (*INTEGERS, *FLOATS, "bool"))
def test_an_element_is_a_python_number(name: str) -> None:
    kind = numpy_type(dtype(name))
    assert kind is not None
    cells = Cells(np.array([0, 1, 3]).astype(kind), None)
    found = [cells.read(at) for at in range(3)]
    wanted = bool if name == "bool" else int if name in INTEGERS else float
    assert [type(number) for number in found] == [wanted] * 3
    assert found == [0, 1, 1 if name == "bool" else 3]
