"""Calls that legalization leaves, each with its reason: the program stays as it was, and legal."""

from __future__ import annotations

import pytest

import rlx
from rlx.grammar.nodes.equal import structural_equal
from rlx.transform import legalized

ATTENTION = ", ".join(f'{name}: R.Tensor((2, 3, 4, 8), "float32")' for name in "qkv")
X = 'x: R.Tensor((4,), "float32")'
INTEGERS = 'x: R.Tensor((4,), "int32")'
MATRIX = 'x: R.Tensor((4, 4), "float32")'
IMAGE = 'x: R.Tensor((1, 2, 4, 4), "float32")'
SIZED = 'x: R.Tensor((3, 8), "float32"), s: R.Tensor((1, 8), "float32"), sizes: R.Shape([n])'
INDICES = 'i: R.Tensor((2,), "int64")'
NUMBER, REAL = 'k: R.Prim("int64")', 'k: R.Prim("float32")'
UNBOUND = "k is not a shape variable: bind it with R.match_cast"

LEFT = [
    (ATTENTION, 'R.nn.attention(q, k, v, causal_mask="Left")', "unknown mask 'Left'"),
    (
        REAL,
        'R.hamming_window(R.prim_value(8), R.prim_value(True), k, R.prim_value(0.5), dtype="float32")',
        "its weights are not constants",
    ),
    ("s: R.Shape(ndim=2)", "R.shape_to_tensor(s)", "its dimensions are not constants"),
    (f"{X}, {REAL}", "R.clip(x, k, 1)", "its limits are not constant numbers"),
    (INTEGERS, "R.clip(x, 0.5, 1)", "its limits are not integers"),
    (REAL, "R.add(k, k)", "its result is not a tensor"),
    (INTEGERS, "R.power(x, x)", "te.power takes floats, found int32 and int32"),
    (f"{INTEGERS}, {INDICES}", 'R.take(x, i, mode="nan", axis=0)', "its elements cannot be NaN"),
    (
        f'x: R.Tensor(("n",), "float32"), {INDICES}',
        'R.take(x, i, mode="nan", axis=0)',
        "the axis may be empty, and no index into it is valid",
    ),
    (
        f'{X}, {INDICES}, u: R.Tensor((2,), "float32")',
        'R.scatter_elements(x, i, u, reduction="mean")',
        "the reduction 'mean' has no definition",
    ),
    (
        f'{X}, b: R.Tensor((3,), "float64")',
        "R.bucketize(x, b)",
        "its operands have two types",
    ),
    (MATRIX, 'R.einsum((x,), "i...->...i")', "its subscripts have an ellipsis"),
    (
        f'g: R.Tensor((2,), "float32"), {X}, {INDICES}',
        'R.grad.take_backward(g, x, i, axis=0, mode="nan")',
        "in mode 'nan' it has no definition",
    ),
    (INTEGERS, "R.nn.pad(x, (1, 1), pad_value=1.5)", "its value is not an integer"),
    (
        'x: R.Tensor((0,), "int32")',
        'R.nn.pad(x, (1, 1), pad_mode="replicate")',
        "it has no elements to repeat",
    ),
    (X, 'R.nn.pad(x, (1, 1), pad_mode="edge")', "unknown mode 'edge'"),
    (IMAGE, "R.nn.max_pool2d(x, (2, 2), padding=(-1, -1))", "its padding is negative"),
    (
        'x: R.Tensor((1, 4, 4, 4, 2), "float32")',
        'R.nn.max_pool2d(x, (2, 2), layout="NCHW2h")',
        "its result is in blocks: NCHW2h",
    ),
    (
        'x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((6, 4, 3, 3), "float32")',
        'R.nn.conv2d(x, w, out_layout="NCHW4c")',
        "its result is in blocks that are not filled",
    ),
    (
        SIZED,
        "R.strided_slice(x, (0,), (0,), (3,), (T.max(n, 1),))",
        "its strides are not constants",
    ),
    (
        SIZED,
        "R.slice_scatter(x, s, 0, 1, T.max(n, 1), axis=0)",
        "its stride is not a constant",
    ),
    (
        SIZED,
        'R.zeros((n // (n * 0),), "float32")',
        "the dimension n // 0 divides by 0, which a PrimFunc may not",
    ),
    (f"{MATRIX}, {NUMBER}", "R.tril(x, k)", UNBOUND),
    (f"{MATRIX}, {NUMBER}", "R.eye_like(x, k)", UNBOUND),
    (f"{INDICES}, {NUMBER}", "R.one_hot(i, k, R.prim_value(0), 3)", UNBOUND),
    (NUMBER, "R.arange(0, k, 1)", UNBOUND),
    (f"{IMAGE}, {NUMBER}", "R.image.resize2d(x, (k, 8))", UNBOUND),
]


@pytest.mark.parametrize(("params", "call", "reason"), LEFT)
def test_a_call_is_left_with_its_reason(params: str, call: str, reason: str) -> None:
    head = "" if '"n"' in params else 'n = TypeVar("n")\n'
    module = rlx.parse(f"{head}@R.function\ndef main({params}):\n    y = {call}\n    return y\n")
    assert rlx.check(module).ok
    made = legalized(module)
    name = call.partition("(")[0].removeprefix("R.")
    assert [(each.operator, each.reason) for each in made.left] == [(name, reason)]
    assert structural_equal(made.module, rlx.check(module).modules[0], map_free_vars=True)


SIZES_OF_DATA = [
    ("R.nonzero(x)", "(2, m)", "int64", "nonzero"),
    ("R.unique(x)", "(m,)", "float32", "unique"),
    ("R.arange(0, k, 1)", "(m,)", "int64", "k"),
]


@pytest.mark.parametrize(("call", "shape", "kind", "name"), SIZES_OF_DATA)
def test_a_size_without_a_name_does_not_get_one(
    call: str, shape: str, kind: str, name: str
) -> None:
    """Calls on such a tensor are legalised only if its size is not written."""
    lines = [
        'm = TypeVar("m")\n@R.function',
        f"def main({MATRIX}, {NUMBER}):",
        f"    y = {call}",
        "    a = R.add(y, y)",
        "    b = R.sum(y)",
        f'    c = R.match_cast(y, R.Tensor({shape}, "{kind}"))',
        "    d = R.add(c, c)",
        "    return (a, b, d)\n",
    ]
    made = legalized(rlx.parse("\n".join(lines)))
    operator, reasons = call[2 : call.index("(")], [each.reason for each in made.left]
    assert [each.operator for each in made.left] == [operator, "add"]
    assert reasons[1] == f"{name} is not a shape variable: bind it with R.match_cast"
    assert not rlx.check(made.module).errors


@pytest.mark.parametrize("bound", ["R.match_cast(k, R.Prim(value=m))", "k + 0"])
def test_a_scalar_that_a_shape_variable_names_is_passed(bound: str) -> None:
    lines = [
        'm = TypeVar("m")\n@R.function',
        f"def main({MATRIX}, {NUMBER}):",
        f"    l = {bound}",
        "    y = R.tril(x, l)",
        "    return y\n",
    ]
    made = legalized(rlx.parse("\n".join(lines)))
    assert not made.left and not rlx.check(made.module).errors
