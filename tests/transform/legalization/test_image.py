"""Resizing, in every way of placing coordinates, gives what the evaluation gives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import rlx
from rlx.transform import legalized
from tests.transform.legalization.law import disagreement, run

MODES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn")
METHODS = ("nearest_neighbor", "linear", "cubic")
ROUNDINGS = ("round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "")


@pytest.mark.parametrize(
    ("mode", "method", "rounding"),
    [*product(MODES, METHODS[1:], [""]), *zip(MODES, METHODS[:1] * 5, ROUNDINGS, strict=False)],
)
def test_resize(mode: str, method: str, rounding: str) -> None:
    module = rlx.parse(
        f"""
@R.function
def main(x: R.Tensor((1, 1, "h", 3), "float32"), s: R.Shape(["h", "m"])):
    h, m = T.int64(), T.int64()
    y = R.image.resize2d(x, R.shape([m, 5]), layout="NCHW", method="{method}",
        coordinate_transformation_mode="{mode}", rounding_method="{rounding}", cubic_exclude=1)
    return y
"""
    )
    found = legalized(module)
    assert not found.left
    rng = np.random.default_rng(1)
    for height, wanted in ((2, 3), (3, 0)):
        values = [rng.normal(size=(1, 1, height, 3)).astype(np.float32), (height, wanted)]
        first, second = run(module, values, "steps"), run(found.module, values, "steps")
        assert disagreement(first, second) is None
