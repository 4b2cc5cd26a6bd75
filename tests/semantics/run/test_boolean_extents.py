"""A truth value as an extent is the integer that it stands for, wherever the shape goes."""

from __future__ import annotations

import pytest

import rlx
from rlx.semantics.outcome import Returned
from rlx.semantics.values import ShapeValue

PROGRAM = """
@R.function(pure=False)
def main(x: R.Tensor((2,), "float32")):
    storage = R.vm.alloc_storage(R.shape([True, 2]), 0, R.dtype("float32"), R.str("global"))
    y = R.vm.alloc_tensor(storage, 0, R.shape([True, 2]), R.dtype("float32"), 0)
    s = R.shape([True, 2])
    return s
"""


@pytest.mark.parametrize("backend", ["steps", "native"])
def test_an_extent_is_an_integer(backend: str) -> None:
    found = rlx.run(PROGRAM, backend=backend)
    assert isinstance(found, Returned) and isinstance(found.value, ShapeValue)
    assert found.value.values == (1, 2)
    assert all(type(each) is int for each in found.value.values)
