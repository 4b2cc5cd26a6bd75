"""Calls at corners that random calls seldom meet: what is said of them, and what they give.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/operators/test_same_corners.py` writes the digests anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operators.test_same_picked import answers
from tests.snapshots import assert_digest

SNAPSHOT = Path(__file__).parent / "snapshots" / "corner_calls.txt"
X, B, I = 'R.Tensor((2, 3), "float32")', 'R.Tensor((2, 3), "bool")', 'R.Tensor((2,), "int64")'
NAMES = {"x": X, "b": B, "i": I}
PARAMETERS = {
    "e": 'R.Tensor((0, 3), "float32")', "u": "R.Tensor", "s": "R.Shape(ndim=2)", "o": "R.Object",
    "p": 'R.Prim("float32")', "q": 'R.Prim("int64")', "k": "R.Prim(value=2)", "t": f"R.Tuple({X}, R.Object)",
    "w": f"R.Tuple({X}, R.Shape([2]))", "f": 'R.Tensor((1, 1, 4, 4), "float32")', "g": 'R.Tensor((1, 1, 0, 0), "float32")',
    "n": 'R.Tensor(("n", 3), "float32")', "r": 'R.Tensor((1, 5), "float32")',
}  # fmt: skip
CALLS = (
    "R.expand_dims(x, axis=[])", "R.expand_dims(u, axis=[])", "R.squeeze(x, axis=[])", "R.squeeze(u, axis=[])",
    "R.squeeze(u)", "R.arange(0, p, 1)", "R.arange(q)", "R.arange(True)", "R.arange(0, 5, p)", "R.eye(True)",
    "R.eye(3, True, 0)", "R.eye(p)", "R.eye(3, p)", "R.add(True, x)", "R.add(x, True)", "R.add(1, x)", "R.add(x, 1.5)",
    "R.concat(t)", "R.concat(w)", "R.concat(())", "R.stack(())", "R.stack(t)", "R.einsum((), 'ij->ji')",
    'R.einsum((x,), "ij->ji")', 'R.einsum(t, "ij,jk->ik")', 'R.einsum(o, "ij->ji")', "R.median(e)", "R.median(e, axis=0)", "R.median(e, axis=[0, 1])",
    "R.median(e, axis=1, keepdims=True)", "R.cumsum(b)", "R.cumprod(b, axis=0)", "R.cumsum(b, axis=1, exclusive=True)",
    "R.clip(b, 0, 1)", "R.max(b)", "R.argmax(b, axis=1)", "R.topk(b, k=1)", "R.argsort(b)", "R.sort(b, axis=0)",
    "R.repeat(x, 0)", "R.tile(x, [0, 2])", "R.repeat(x, -1)", "R.tile(x, [-1, 2])", "R.unique(i, sorted=False)",
    "R.unique(x, sorted=False, axis=0)", "R.unique(x, sorted=False, return_index=True, return_inverse=True, return_counts=True, axis=1)",
    "R.one_hot(i, R.prim_value(1), R.prim_value(0), depth=0)", "R.one_hot(i, R.prim_value(1), R.prim_value(0), depth=-1)", "R.one_hot(i, R.prim_value(1), R.prim_value(0), depth=2, axis=0)",
    "R.take(e, i, axis=0)", 'R.take(e, i, axis=0, mode="nan")', 'R.take(x, i, axis=1, mode="nan")', 'R.take(x, i, axis=0, mode="wrap")',
    'R.grad.take_backward(x, x, i, axis=None)', 'R.scatter_elements(x, R.const([[0, 1, 0]], "int64"), R.const([[1.0, 2.0, 3.0]], "float32"), reduction="mean")',
    "R.dynamic_strided_slice(u, i, i, i)", "R.dynamic_strided_slice(x, i, i, i)", "R.strided_slice(x, axes=[0], begin=[0], end=[q])",
    "R.strided_slice(x, axes=[k], begin=[0], end=[1])", "R.strided_slice(x, axes=[0, 1], begin=[0], end=[1])", "R.strided_slice(u, axes=[0], begin=[0], end=[1])",
    "R.image.affine_grid(R.const([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]], 'float32'), (1,))", "R.image.affine_grid(R.const([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]], 'float32'), (2, 3))",
    'R.image.grid_sample(f, R.const([[[[0.5]], [[-2.0]]]], "float32"), method="bilinear", layout="NCHW", padding_mode="reflection", align_corners=True)',
    'R.image.grid_sample(f, R.const([[[[0.5]], [[-2.0]]]], "float32"), method="nearest", layout="NCHW", padding_mode="border")',
    'R.vision.roi_align(g, r, (2, 2), 1.0, sample_ratio=2, layout="NCHW")', 'R.vision.roi_pool(g, r, (2, 2), 1.0)', 'R.vision.roi_align(f, r, (2, 2), 1.0, sample_ratio=0, layout="NCHW")',
    "R.reverse_sequence(x, x)", "R.reverse_sequence(x, i)", "R.reverse_sequence(x, R.const([1.0, 2.0], 'float32'))", 'R.hint_on_device(w, R.device("cpu", 0))', 'R.to_vdevice(x, "llvm")',
    "R.multiply(x, R.null_value())", "R.sum(x, axis=R.null_value())", "R.layout_transform(x, index_map=lambda i, j: (j, i), pad_value=p)",
    "R.layout_transform(x, index_map=lambda i, j: (j, i // 2, i % 2), pad_value=q)", "R.layout_transform(x, index_map=lambda i, j: (i // 2, i % 2, j), pad_value=1)",
    "R.layout_transform(i, index_map=lambda i: (i // 4, i % 4), pad_value=0.5)", "R.layout_transform(x, index_map=lambda i, j: (j - i, -i))", "R.layout_transform(b, index_map=lambda i, j: (i // 4, i % 4, j), pad_value=2)",
    "R.nn.nll_loss(x, i)", "R.nn.cross_entropy_with_logits(x, x)", "R.nn.cross_entropy_with_logits(x, f)", "R.nn.nll_loss(x, i, i)", "R.full(k, 1)", "R.full((k, q), True)", "R.broadcast_to(x, (k, 3))",
    "R.reshape(x, (k, -1))", "R.reshape(x, s)", "R.permute_dims(x, axes=[k, 0])", "R.split(x, k)", "R.split(x, R.const(3), axis=1)", "R.assert_op(True)", "R.assert_op(b)", "R.print(True, 1.5, x, format='{}')",
    "R.ones((o,), 'float32')", "R.zeros(o, 'float32')", "R.sum(n, axis=0)", "R.nn.softmax(e)", "R.nn.softmax(e, axis=0)", "R.mean(e, axis=0)", "R.variance(e)", "R.linspace(0, 1, k)",
)  # fmt: skip


def program(call: str) -> str:
    """A function that returns a call; its parameters are what the call mentions."""
    words = (
        call.replace("(", " ")
        .replace(",", " ")
        .replace(")", " ")
        .replace("]", " ")
        .replace("[", " ")
        .split()
    )
    used = {name: info for name, info in (NAMES | PARAMETERS).items() if name in words}
    params = ", ".join(f"{name}: {info}" for name, info in used.items())
    return f"@R.function\ndef main({params}) -> R.Object:\n    y = {call}\n    return y\n"


@pytest.mark.parametrize("call", CALLS)
def test_a_call_at_a_corner(call: str) -> None:
    text = program(call)
    assert_digest(SNAPSHOT, call, f"{text}\n{answers(text)}")
