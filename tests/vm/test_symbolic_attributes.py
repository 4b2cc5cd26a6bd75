"""Operators without a PrimFunc whose attributes name shape variables: the function that applies them takes their values."""

from __future__ import annotations

import numpy as np
import pytest

import rlx
from rlx import vm
from rlx.vm.code_generation import generate

TEXT = """
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    n = T.int64()
    m = T.int64()
    z = {}
    return z
"""


@pytest.mark.parametrize(
    "call",
    [
        "R.strided_slice(x, [0], [0], [m], [1])",
        "R.strided_slice(x, [0], [m - 1], [n - m + 1], [1])",
        "R.strided_slice(R.concat([y, x]), [0], [n], [m], [-1])",
        "R.memory.view(x, R.shape([m, n // m]))",
        "R.full(R.shape([m, n]), R.const(2.0))",
    ],
)
def test_values_are_those_of_the_source(call: str) -> None:
    module = rlx.parse(TEXT.format(call))
    x, y = np.arange(6, dtype="float32"), np.arange(2, dtype="float32")
    wanted = rlx.run(module, "main", [x, y]).numpy()
    found = vm.VirtualMachine(vm.build(module))["main"](x, y)
    assert found.shape == wanted.shape and found.tolist() == wanted.tolist()


def test_a_parameter_gives_its_own_variable() -> None:
    """If the shapes are not lowered, the values of shape variables are those of parameters."""
    text = """
@R.function
def main(n: R.Prim("int64"), x: R.Tensor((6,), "float32")):
    z = R.memory.view(x, R.shape([n, 6 // n]))
    return z
"""
    module = rlx.parse(text)
    found = vm.VirtualMachine(generate(module))["main"](3, np.arange(6, dtype="float32"))
    assert found.shape == (3, 2)
