"""Tensors that external functions, PrimFuncs and scans fill; tags and attributes."""

from __future__ import annotations

import numpy as np
import pytest

import rlx
from rlx import te
from rlx.grammar.nodes.ast import GlobalVar, IRModule
from rlx.semantics.tir import evaluate


def test_an_external_function_fills_two_tensors() -> None:
    n = te.var("n")
    a = te.placeholder((n, 4), "float32", name="A")
    doubled, _ = te.extern(
        [(n, 4), (n,)],
        [a],
        lambda ins, outs: te.call_packed("double", ins[0], outs[0], outs[1], 3),
        name="C",
        dtype=["float32", "int32"],
    )
    result = te.compute((n, 4), lambda i, j: doubled[i, j] + 1.0, name="D")
    kernel = te.create_prim_func([a, result], "int64")
    module = rlx.check(IRModule({GlobalVar("main"): kernel}))
    assert module.ok

    def double(x: object, out: object, counts: object, number: int) -> None:
        np.multiply(x, 2.0, out=out)  # type: ignore[call-overload]
        counts[:] = number  # type: ignore[index]

    given = np.ones((2, 4), "float32")
    found = rlx.run(
        rlx.parse(
            rlx.show(module.modules[0])
            + """
    @R.function
    def whole(x: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        y = R.call_tir(cls.main, (x,), out_ty=R.Tensor((n, 4), "float32"))
        return y
"""
        ),
        "whole",
        inputs={"x": given},
        packed={"double": double},
    )
    np.testing.assert_array_equal(found.numpy(), given * 2 + 1)


DOUBLE = """
@T.prim_func(s_tir=True)
def double(A: T.Buffer((m, 8), "float32"), B: T.Buffer((m, 8), "float32")):
    for i, j in T.grid(m, 8):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
"""


def test_a_prim_func_fills_a_tensor() -> None:
    kernel = rlx.parse('m = TypeVar("m")\n' + DOUBLE)["double"]
    n = te.var("n")
    x = te.placeholder((n, 8), "float32", name="X")
    filled = te.extern_primfunc([x], kernel, name="filled")  # type: ignore[arg-type]
    made = te.create_prim_func(
        [x, te.compute((n, 8), lambda i, j: filled[i, j] + 1.0, name="D")], "int64"
    )
    given, out = np.ones((3, 8), "float32"), np.zeros((3, 8), "float32")
    evaluate(made, [given, out])
    np.testing.assert_array_equal(out, given * 2 + 1)
    with pytest.raises(te.TensorExpressionError, match="A has 2 axes, Y has 1"):
        te.extern_primfunc([te.placeholder((8,), name="Y")], kernel)  # type: ignore[arg-type]


def test_a_scan_of_two_states() -> None:
    n = te.var("n")
    x = te.placeholder((6, n), "int32", name="X")
    s, p = te.placeholder((6, n), "int32", name="s"), te.placeholder((6, n), "int32", name="p")
    first = te.compute((2, n), lambda t, i: x[t, i])
    total, fib = te.scan(
        [first, first],
        [
            te.compute((6, n), lambda t, i: s[t - 1, i] + x[t, i]),
            te.compute((6, n), lambda t, i: p[t - 1, i] + p[t - 2, i]),
        ],
        [s, p],
        [x],
    )
    made = te.create_prim_func([x, total, fib], "int64")
    given = np.ones((6, 2), "int32")
    sums, fibs = np.zeros_like(given), np.zeros_like(given)
    evaluate(made, [given, sums, fibs])
    assert sums[:, 0].tolist() == [1, 1, 2, 3, 4, 5]
    assert fibs[:, 1].tolist() == [1, 1, 2, 3, 5, 8]


def test_an_update_may_not_hide_the_state() -> None:
    s = te.placeholder((6,), "int32", name="s")
    hidden = te.compute((6,), lambda t: s[t] + 1, name="hidden")
    first, then = te.compute((1,), lambda t: 0), te.compute((6,), lambda t: hidden[t - 1])
    with pytest.raises(te.TensorExpressionError, match="reads the state through hidden"):
        te.scan(first, then, s)


def test_tags_and_attributes() -> None:
    a = te.placeholder((4,), name="A")
    with te.tag_scope("injective"):
        b = te.compute((4,), lambda i: a[i] + 1.0, attrs={"rule": "none", "free": [1, 2]})
        with pytest.raises(te.TensorExpressionError, match="tags do not nest"):
            te.compute((4,), lambda i: a[i], tag="other")
    weights = te.compute((4,), lambda i: b[i] * a[i], attrs={"layout_free_placeholders": [a]})
    assert (b.op.tag, weights.op.tag) == ("injective", "")
    made = str(te.create_prim_func([a, weights]))
    assert 'T.sblock_attr({"rule": "none", "free": [1, 2]})' in made
    assert '"layout_free_buffers": [0]' in made and "layout_free_placeholders" not in made


def test_what_an_operation_says() -> None:
    n = te.var("n")
    a, b = te.placeholder((n, 4), name="A"), te.placeholder((4,), name="B")
    k = te.reduce_axis((0, 4), name="k")
    op = te.compute((n,), lambda i: te.sum(a[i, k] * b[k], axis=k), name="C").op
    assert [axis.var.name for axis in (*op.axis, *op.reduce_axis)] == ["i", "k"]
    assert [t.name for t in op.input_tensors] == ["A", "B"]
    assert (op.num_outputs, str(op.body[0])) == (1, "A[i, k] * B[k]")
    named = te.compute((n, 4), lambda *i: a(*i), varargs_names=["row", "column"]).op
    assert [axis.var.name for axis in named.axis] == ["row", "column"]
