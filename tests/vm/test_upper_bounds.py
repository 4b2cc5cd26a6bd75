"""A dimension larger than its declared upper bound: the run says so, or its values are right; memory is never shared wrongly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.grammar.read.parser import parse
from rlx.vm import CheckFailed, VirtualMachine, build

PROGRAM = """
@R.function
def main(x: R.Tensor(("n",), "float32"), w: R.Tensor((SIZE,), "float32")):
    R.func_attr({"tir_var_upper_bound": {"n": 10}})
    n = T.int64()
    a = R.call_dps_packed("twice", (x,), R.Tensor((n,), "float32"))
    b = R.call_dps_packed("twice", (w,), R.Tensor((SIZE,), "float32"))
    a2 = R.call_dps_packed("twice", (a,), R.Tensor((n,), "float32"))
    b2 = R.call_dps_packed("twice", (b,), R.Tensor((SIZE,), "float32"))
    return (R.add(a2, R.const(0.0, "float32")), R.add(b2, R.const(0.0, "float32")))
"""
LATER = """
@R.function(pure=False)
def main(v: R.Tensor("float32", ndim=1), w: R.Tensor((SIZE,), "float32")):
    R.func_attr({"tir_var_upper_bound": {"n": 10}})
    n = T.int64()
    b = R.call_dps_packed("twice", (w,), R.Tensor((SIZE,), "float32"))
    x = R.match_cast(v, R.Tensor((n,), "float32"))
    a = R.call_dps_packed("twice", (x,), R.Tensor((n,), "float32"))
    a2 = R.call_dps_packed("twice", (a,), R.Tensor((n,), "float32"))
    b2 = R.call_dps_packed("twice", (b,), R.Tensor((SIZE,), "float32"))
    return (R.add(a2, R.const(0.0, "float32")), R.add(b2, R.const(0.0, "float32")))
"""


def twice(x: Any, y: Any) -> None:
    y[...] = 2 * x


SIZES = pytest.mark.parametrize("size", [1, 8, 12, 100])


def run(program: str, size: int, n: int) -> None:
    module = parse(program.replace("SIZE", str(size))).modules[0]
    machine = VirtualMachine(build(module), {"twice": twice})
    a, b = machine["main"](np.ones(n, np.float32), np.full(size, 3, np.float32))
    assert a.tolist() == [4] * n and b.tolist() == [12] * size


@SIZES
def test_a_size_beyond_its_bound_is_named(size: int) -> None:
    for n in (0, 9, 10):
        run(PROGRAM, size, n)
    for n in (11, 16, 17, 20, 300):
        with pytest.raises(CheckFailed, match=f"n is {n} .* promises at most 10"):
            run(PROGRAM, size, n)


@SIZES
def test_a_bound_is_one_of_parameters_alone(size: int) -> None:
    """A variable of that name which a cast binds may be larger: memory is laid out for all its sizes."""
    for n in (0, 10, 17, 300):
        run(LATER, size, n)
