"""A law: the checker warns of an operand that the text states where every run faults, and only there.

The oracle is the evaluator. It runs the call with the operand as a parameter, which the checker
knows nothing about.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rlx
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import dtype
from tests.operators.context import constant, derive, tensor

Case = tuple[str, str, str, tuple[int, ...], range]

X = 'x: R.Tensor((2, 4), "float32")'
I32 = 'x: R.Tensor((2, 4), "int32")'
SAMPLE = 's: R.Tensor((2, 1), "float32")'
Q = 'x: R.Tensor((1, 3, 2, 4), "float32")'
IMAGES = 'x: R.Tensor((2, 1, 4, 4), "float32")'
NEAR = range(-6, 7)

CASES: list[Case] = [
    ("R.take(x, k, axis=1)", X, "int64", (2,), NEAR),
    ('R.take(x, k, axis=1, mode="wrap")', X, "int64", (2,), NEAR),
    ('R.take(x, k, axis=1, mode="clip")', X, "int32", (2,), NEAR),
    ('R.take(x, k, axis=1, mode="nan")', X, "int64", (2,), NEAR),
    ('R.take(x, k, axis=0, mode="nan")', I32, "int64", (2,), NEAR),
    ("R.take(x, k, axis=1)", X, "int32", (), NEAR),
    ("R.gather_elements(x, k, axis=0)", X, "int64", (1, 3), NEAR),
    ("R.gather_nd(x, k)", X, "int64", (2, 2), NEAR),
    ("R.gather_nd(x, k, batch_dims=1)", X, "int64", (2, 1), NEAR),
    ("R.scatter_elements(x, k, u, axis=1)", X + ', u: R.Tensor((1, 2), "float32")', "int64", (1, 2), NEAR),
    ("R.scatter_nd(x, k, u)", X + ', u: R.Tensor((2,), "float32")', "int64", (2, 2), NEAR),
    ("R.index_tensor(x, (k, k))", X, "int64", (2,), range(-3, 4)),
    ("R.index_put(x, (k, k), u)", X + ', u: R.Tensor((2,), "float32")', "int64", (2,), range(-3, 4)),
    ("R.nn.nll_loss(x, k, ignore_index=-2)", X, "int64", (2,), NEAR),
    ("R.one_hot(k, R.prim_value(1), R.prim_value(0), 4)", X, "int64", (2,), NEAR),
    ("R.divide(x, k)", I32, "int32", (4,), range(-2, 3)),
    ("R.floor_divide(x, k)", I32, "int32", (), range(-2, 3)),
    ("R.mod(x, k)", I32, "int32", (4,), range(-2, 3)),
    ("R.floor_mod(x, k)", I32, "int32", (2, 1), range(-2, 3)),
    ("R.divide(k, x)", X, "float32", (4,), range(-2, 3)),
    ("R.divide(x, k)", X, "float32", (4,), range(-2, 3)),
    ("R.power(x, k)", I32, "int32", (4,), range(-1, 5)),
    ("R.power(x, k)", X, "float32", (4,), range(-1, 5)),
    ("R.left_shift(x, k)", I32, "int32", (2, 1), range(-1, 34)),
    ("R.right_shift(x, k)", 'x: R.Tensor((2,), "uint8")', "uint8", (2,), range(11)),
    ("R.multiply(x, k)", I32, "int32", (4,), range(-1, 2)),
    ("R.dynamic_strided_slice(x, k, k, k)", X, "int64", (2,), range(-2, 3)),
    ("R.bucketize(x, k)", X, "float32", (3,), range(5)),
    ('R.multinomial_from_uniform(k, s, R.const([[0], [1]], "int64"))', SAMPLE, "float32", (2, 2), range(-1, 3)),
    ('R.multinomial_from_uniform(k, s, R.zeros(R.shape([2, 1]), "int64"))', SAMPLE, "float32", (1, 2), range(-1, 3)),
    ('R.multinomial_from_uniform(R.const([[1.0], [1.0]], "float32"), s, k)', SAMPLE, "int64", (2, 1), range(-1, 3)),
    ('R.nn.attention_var_len(x, x, x, k, R.const(2, "int32"))', Q, "int32", (3,), range(-1, 5)),
    ('R.nn.attention_var_len(x, x, x, R.const([0, 1, 3], "int32"), R.const(2, "int32"), k)', Q, "int32", (3,), range(-1, 5)),
    ('R.nn.attention_var_len(x, x, x, R.const([0, 1, 3], "int32"), k)', Q, "int32", (), range(5)),
    ("R.vision.roi_pool(x, k, pooled_size=[2, 2], spatial_scale=1.0)", IMAGES, "float32", (2, 5), range(-1, 4)),
    ('R.vision.roi_align(x, k, pooled_size=[2, 2], spatial_scale=1.0)', IMAGES, "float32", (2, 5), range(-1, 4)),
    ("R.reverse_sequence(x, k, seq_axis=1, batch_axis=0)", X, "int64", (2,), range(-1, 7)),
]  # fmt: skip


def program(parameters: str, body: str) -> str:
    return f"@R.function\ndef main({parameters}):\n{body}    return y\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[2]}")
@given(st.data())
def test_there_is_a_warning_where_the_evaluator_faults(case: Case, data: st.DataObject) -> None:
    call, others, kind, shape, numbers = case
    size = int(np.prod(shape, dtype=int))
    drawn = data.draw(st.lists(st.sampled_from(numbers), min_size=size, max_size=size))
    operand: Any = np.array(drawn, kind).reshape(shape)
    stated = f'    k = R.const({operand.tolist()}, "{kind}")\n    y = {call}\n'
    found = rlx.check(program(others, stated)).diagnostics
    assert {each.severity for each in found} <= {"warning"}
    parameter = f'k: R.Tensor({shape}, "{kind}")'
    called = program(f"{others}, {parameter}", f"    y = {call}\n")
    outcomes = [rlx.run(called, inputs={"k": operand}, seed=seed) for seed in range(3)]
    assert {outcome.ok for outcome in outcomes} == {not found}, (found, outcomes)


@pytest.mark.parametrize("kind", ["int8", "int32", "int64"])
@pytest.mark.parametrize(("index", "codes"), [(5, []), (6, ["OBL-bounds-index"])])
def test_elements_in_metadata_are_looked_at(kind: str, index: int, codes: list[str]) -> None:
    content = np.array([0, index], kind).tobytes()
    held = ast.Constant(
        ast.Literal(None, dtype(kind), (2,), 'metadata["ir.GenericConst"][0]', content)
    )
    assert derive("take", tensor((2, 6)), held, axis=1).codes == codes


def test_the_gradient_of_take_has_its_indices_behind_the_data() -> None:
    x, outside = constant((7, 8), "int32"), constant((2,), "int64")
    gradient = tensor((1,), "int32")
    assert derive("grad.take_backward", gradient, x, constant((1,), "int64"), axis=0).codes == []
    found = derive("grad.take_backward", gradient, x, outside, axis=0)
    assert found.codes == ["OBL-bounds-index"] and "(of x: " in found.message


@pytest.mark.parametrize(
    "given",
    [
        "    t = (k, j)\n    y = R.index_tensor(x, t)\n",
        "    t = (k, j)\n    s = t\n    y = R.index_tensor(x, s)\n",
        "    t = ((j, k), k)\n    s = t[0]\n    y = R.gather_elements(x, s[1], axis=1)\n",
        "    i = k\n    y = R.index_tensor(x, (j, i))\n",
    ],
)
@pytest.mark.parametrize(("index", "codes"), [(1, []), (9, ["OBL-bounds-index"])])
def test_constants_are_followed_through_names_and_tuples(
    given: str, index: int, codes: list[str]
) -> None:
    stated = f'    k = R.const([[{index}, 0]], "int64")\n    j = R.const([[0, 1]], "int64")\n'
    found = rlx.check(program(X, stated + given))
    assert [each.code for each in found.diagnostics] == codes
