"""A maximum or minimum of elements with a NaN is NaN, wherever it stands, as in NumPy: also where kernels are vectors."""

from __future__ import annotations

import numpy as np
import pytest

import rlx
from rlx.transform.legalization import legalized

TEXT = """
@R.function
def main(x: R.Tensor(("n", "m"), "{kind}")):
    y = R.{word}(x, axis=[{axis}])
    return y
"""


@pytest.mark.parametrize("kind", ["float32", "float16"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("word", ["max", "min"])
def test_a_nan_stays(word: str, axis: int, kind: str) -> None:
    made = legalized(rlx.parse(TEXT.format(word=word, axis=axis, kind=kind)))
    assert not made.left
    random = np.random.default_rng(3)
    for length in (1, 5, 33, 70):
        x = random.standard_normal((length, length)).astype(kind)
        for at in range(0, length, 2):
            x[random.integers(0, length), at] = np.nan
        found = rlx.run(made.module, inputs=[x]).numpy()
        np.testing.assert_array_equal(found, getattr(np, word)(x, axis=axis))
