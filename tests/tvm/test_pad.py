"""Every pair of widths around a small tensor, negative ones too: padded as TVM's compiled code does."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import tvm
from tvm import relax

from rlx.operators.padding import pad_value
from tests.tvm.target import QUICK

X = np.arange(12, dtype=np.float32).reshape(3, 4)
WIDTHS = [
    *(pair for pair in product(range(-2, 3), repeat=2)),
    *((-4, 0), (0, -4), (-1, -3)),
]
BEYOND = [(-5, 5), (6, -7), (-4, 2)]
"""One side takes away what the other adds: only the constant is defined there."""


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_the_elements_are_those_of_tvm(mode: str) -> None:
    widths = [(-1, 2, *pair) for pair in (*WIDTHS, *(BEYOND if mode == "constant" else ()))]
    builder = relax.BlockBuilder()
    for at, given in enumerate(widths):
        x = relax.Var("x", relax.TensorType((3, 4), "float32"))
        with builder.function(f"f{at}", [x]):
            value = relax.op.nn.pad(x, given, pad_mode=mode, pad_value=7.0)
            builder.emit_func_output(builder.emit(value))
    machine = relax.VirtualMachine(relax.build(builder.finalize(), target=QUICK), tvm.cpu())
    operand = tvm.runtime.tensor(X)
    for at, given in enumerate(widths):
        theirs = machine[f"f{at}"](operand).numpy()
        assert np.array_equal(pad_value(X, given, mode, 7.0), theirs), given
