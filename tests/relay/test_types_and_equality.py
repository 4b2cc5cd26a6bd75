"""Types as texts for each rank; functions are equal only if their parameters, results and attributes are."""

from __future__ import annotations

from itertools import combinations

import pytest

from rlx import relay
from rlx.grammar.nodes.ast import TensorStructInfo
from rlx.grammar.nodes.dtype import dtype
from rlx.relay.type_text import relay_type

FUNCTIONS = (
    "fn (%x: Tensor[(2), float32]) { %x }",
    "fn (%x: Tensor[(2), float32]) -> Tensor[(2), float32] { %x }",
    "fn (%x: Tensor[(2), float32], Primitive=1) { %x }",
    "fn (%x: Tensor[(2), float32], Primitive=2) { %x }",
    "fn (%x: Tensor[(2), float32], %y: Tensor[(2), float32]) { %x }",
    "fn (%x: Tensor[(2), float16]) { %x }",
)


@pytest.mark.parametrize(
    ("ndim", "text"),
    [(-1, "_"), (0, "float32"), (1, "Tensor[(?,), float32]"), (2, "Tensor[(?, ?), float32]")],
)
def test_a_tensor_of_each_rank(ndim: int, text: str) -> None:
    assert relay_type(TensorStructInfo(None, dtype("float32"), ndim)) == text


def test_functions_that_differ_in_one_part() -> None:
    modules = [relay.parse(text) for text in FUNCTIONS]
    for text, module in zip(FUNCTIONS, modules, strict=True):
        assert relay.structural_equal(relay.parse(text), module), text
    for (a, one), (b, other) in combinations(enumerate(modules), 2):
        assert not relay.structural_equal(one, other), (FUNCTIONS[a], FUNCTIONS[b])
