"""Elements of results whose type is that of a scalar operand."""

from __future__ import annotations

import numpy as np
import pytest

import rlx

MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "int64")):
        y = R.one_hot(x, R.prim_value(T.{kind}(1)), R.prim_value(T.{kind}(0)), depth=3)
        return y
"""


@pytest.mark.parametrize("backend", ["steps", "native"])
@pytest.mark.parametrize("kind", ["int8", "int64", "bool", "float16", "float32", "float64"])
def test_one_hot_has_elements_of_the_type_of_its_values(kind: str, backend: str) -> None:
    given = np.array([2, 0, 5])
    found = rlx.run(MODULE.format(kind=kind), inputs={"x": given}, backend=backend).numpy()
    assert str(found.dtype) == kind
    assert found.astype(int).tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 0]]
