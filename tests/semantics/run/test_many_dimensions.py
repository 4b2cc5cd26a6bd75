"""A tensor of more dimensions than NumPy has: the run is not supported, which is told."""

from __future__ import annotations

import numpy as np
import pytest

import rlx
from rlx.semantics.outcome import Unsupported

ONES = "1, " * 70


@pytest.mark.parametrize(
    "call",
    [
        f"R.reshape(x, (2, {ONES}))",
        f'R.full(({ONES}), R.const(1.0, "float32"), dtype="float32")',
        f"R.broadcast_to(x, ({ONES}2))",
        f"R.tile(x, ({ONES}2))",
        f"R.expand_dims(x, axis=[{', '.join(map(str, range(70)))}])",
    ],
)
def test_not_supported(call: str) -> None:
    text = f'@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    y = {call}\n    return y\n'
    assert isinstance(rlx.run(text, "main", [np.ones(2, np.float32)]), Unsupported)
