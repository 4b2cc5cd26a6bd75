"""Constants without elements keep the shape that nested lists cannot say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rlx

SHAPES = [shape for rank in range(4) for shape in itertools.product((0, 1, 3), repeat=rank)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "float16", "uint64"])
def test_a_constant_has_the_shape_of_its_array(shape: tuple[int, ...], dtype: str) -> None:
    bb = rlx.BlockBuilder()
    with bb.function("main", []):
        bb.emit_func_output(bb.emit(rlx.const(np.zeros(shape, dtype))))
    report = rlx.check(rlx.show(bb.get()))
    assert report.ok and not report.warnings
    value = rlx.run(bb.get())
    assert (np.asarray(value).shape, str(np.asarray(value).dtype)) == (shape, dtype)
