"""Values of which more could be known."""

from __future__ import annotations

import pytest

import rlx
from rlx.transform.shapes.specialise import is_open

OPEN: tuple[str, ...] = (
    "R.Tensor((3,))",
    'R.Tensor(dtype="int8")',
    'R.Tensor(ndim=2, dtype="int8")',
    "R.Shape(ndim=2)",
)
OPEN += (
    "R.Object",
    'R.Tuple(R.Tensor((3,), "int8"), R.Shape(ndim=1))',
    "R.Tuple(R.Tuple(R.Object))",
)
CLOSED: tuple[str, ...] = (
    'R.Tensor((3,), "int8")',
    'R.Tensor(("n",), "int8")',
    "R.Shape([3])",
    'R.Prim("int64")',
)
CLOSED += ("R.Tuple()", 'R.Tuple(R.Tensor((), "bool"), R.Shape([]))')


@pytest.mark.parametrize("text", (*OPEN, *CLOSED))
def test_a_shape_a_rank_or_an_element_type_may_be_open(text: str) -> None:
    module = rlx.parse(f"@R.function\ndef main(x: {text}):\n    return x")
    (function,) = module.functions.values()
    info = function.params[0].struct_info  # type: ignore[union-attr]
    assert info is not None
    assert is_open(info) == (text in OPEN)
