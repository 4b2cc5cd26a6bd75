"""Whole operators as TVM lowers them, for several sizes, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.semantics.tir import TirProgram, evaluate

from .programs import prim_func

SOFTMAX = prim_func(
    """
    @T.prim_func(private=True)
    def softmax(x: T.Buffer(("n", "m"), "float32"), y: T.Buffer(("n", "m"), "float32")):
        n = T.int64()
        m = T.int64()
        top = T.sblock_alloc_buffer((n,))
        e = T.sblock_alloc_buffer((n, m))
        total = T.sblock_alloc_buffer((n,))
        for i, k in T.grid(n, m):
            with T.sblock("top"):
                v_i, v_k = T.axis.remap("SR", [i, k])
                with T.init():
                    top[v_i] = T.float32(-3.4028234663852886e38)
                top[v_i] = T.max(top[v_i], x[v_i, v_k])
        for i, j in T.grid(n, m):
            with T.sblock("exp"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                e[v_i, v_j] = T.exp(x[v_i, v_j] - top[v_i])
        for i, k in T.grid(n, m):
            with T.sblock("sum"):
                v_i, v_k = T.axis.remap("SR", [i, k])
                with T.init():
                    total[v_i] = T.float32(0.0)
                total[v_i] = total[v_i] + e[v_i, v_k]
        for i, j in T.grid(n, m):
            with T.sblock("norm"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.sblock_attr({"axis": 1})
                y[v_i, v_j] = e[v_i, v_j] / total[v_i]
    """
)
MATMUL = prim_func(
    """
    @T.prim_func(private=True)
    def matmul(a: T.Buffer(("n", "k"), "int32"), b: T.Buffer(("k", T.int64(3)), "int32"), c: T.Buffer(("n", T.int64(3)), "int32")):
        n = T.int64()
        k = T.int64()
        for i, j, r in T.grid(n, T.int64(3), k):
            with T.sblock("matmul"):
                v_i, v_j, v_r = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    c[v_i, v_j] = 0
                c[v_i, v_j] = c[v_i, v_j] + a[v_i, v_r] * b[v_r, v_j]
    """
)
CONV = prim_func(
    """
    @T.prim_func(private=True)
    def conv2d(x: T.Buffer((T.int64(1), T.int64(2), "h", "w"), "float64"), k: T.Buffer((T.int64(2), T.int64(2), T.int64(3), T.int64(3)), "float64"), y: T.Buffer((T.int64(1), T.int64(2), "h", "w"), "float64")):
        h = T.int64()
        w = T.int64()
        pad = T.sblock_alloc_buffer((T.int64(1), T.int64(2), h + T.int64(2), w + T.int64(2)), "float64")
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), h + T.int64(2), w + T.int64(2)):
            with T.sblock("pad"):
                v0, v1, v2, v3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                pad[v0, v1, v2, v3] = T.if_then_else(T.int64(1) <= v2 and v2 < h + T.int64(1) and T.int64(1) <= v3 and v3 < w + T.int64(1), x[v0, v1, v2 - T.int64(1), v3 - T.int64(1)], T.float64(0.0))
        for n, f, i, j, c, r, s in T.grid(T.int64(1), T.int64(2), h, w, T.int64(2), T.int64(3), T.int64(3)):
            with T.sblock("conv"):
                vn, vf, vi, vj, vc, vr, vs = T.axis.remap("SSSSRRR", [n, f, i, j, c, r, s])
                with T.init():
                    y[vn, vf, vi, vj] = T.float64(0.0)
                y[vn, vf, vi, vj] = y[vn, vf, vi, vj] + pad[vn, vc, vi + vr, vj + vs] * k[vf, vc, vr, vs]
    """
)
few = st.integers(0, 4)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


@settings(max_examples=20, deadline=None)
@given(few, few)
def test_softmax(n: int, m: int) -> None:
    x = normal(n, m).astype(np.float32)
    y = np.zeros_like(x)
    evaluate(SOFTMAX, [x, y], unwritten=[1])
    e = np.exp(x - x.max(axis=1, keepdims=True, initial=-np.inf)) if m else x
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True) if m else x, rtol=1e-6)


@settings(max_examples=20, deadline=None)
@given(few, few, st.integers(0, 2**32 - 1))
def test_matmul_of_integers_is_exact_and_wraps(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-(2**31), 2**31, s).astype(np.int32) for s in ((n, k), (k, 3)))
    c = np.zeros((n, 3), np.int32)
    evaluate(MATMUL, [a, b, c])
    exact = a.astype(object) @ b.astype(object) if k else np.zeros((n, 3), object)
    assert c.tolist() == [[(int(v) + 2**31) % 2**32 - 2**31 for v in row] for row in exact]


@pytest.mark.parametrize(("h", "w"), [(1, 1), (2, 3), (4, 4), (0, 3)])
def test_convolution(h: int, w: int) -> None:
    x, k, y = normal(1, 2, h, w), normal(2, 2, 3, 3), np.zeros((1, 2, h, w))
    evaluate(CONV, [x, k, y], unwritten=[2])
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    expected = sum(
        np.einsum("nchw,fc->nfhw", padded[:, :, r : r + h, s : s + w], k[:, :, r, s])
        for r in range(3)
        for s in range(3)
    )
    np.testing.assert_allclose(y, expected, atol=1e-12)


def test_a_program_is_compiled_once_and_run_often() -> None:
    program = TirProgram(SOFTMAX)
    for n in (1, 2):
        x, y = np.zeros((n, 2), np.float32), np.zeros((n, 2), np.float32)
        program.run([x, y])
        assert y.tolist() == [[0.5, 0.5]] * n
