"""Reductions in tiles of columns and lanes of rows, at sizes around the edges of tiles."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlx.grammar.nodes import tir
from rlx.semantics import native
from rlx.semantics.tir import evaluate
from tests.semantics.tir.programs import prim_func

from .sanitised.batch import PLAIN, Case, processors, run

Array = np.ndarray[Any, Any]
SIZES = [0, 1, 2, 7, 16, 31, 33, 64, 129, 300]


def reduction(
    x: str, y: str, result: str, spatial: int, extents: str, init: str, update: str
) -> tir.PrimFunc:
    """A block that reduces over the loops behind the first ``spatial`` ones."""
    count = extents.count(",") + 1
    loops = ", ".join(f"i{at}" for at in range(count))
    axes = ", ".join(f"v{at}" for at in range(count))
    kinds = "S" * spatial + "R" * (count - spatial)
    return prim_func(f"""
@T.prim_func
def f(x: T.Buffer({x}), y: T.Buffer({y}), z: T.Buffer({result})):
    for {loops} in T.grid({extents}):
        with T.sblock("r"):
            {axes} = T.axis.remap("{kinds}", [{loops}])
            with T.init():
                {init}
            {update}
""")


MATMUL = reduction(
    *('("n", "k"), "float32"', '("k", "m"), "float32"', '("n", "m"), "float32"'),
    *(2, "n, m, k", "z[v0, v1] = T.float32(0)"),
    "z[v0, v1] = z[v0, v1] + x[v0, v2] * y[v2, v1]",
)


@pytest.mark.parametrize(
    ("n", "m"), [*itertools.product([0, 1, 7, 8, 19], [1, 31, 32, 70]), (3, 0)]
)
def test_matmul(n: int, m: int) -> None:
    numbers = np.random.default_rng(n * 100 + m)
    x, y = numbers.standard_normal((n, 13), "f"), numbers.standard_normal((13, m), "f")
    z = np.full((n, m), np.nan, "f")
    native.compile(MATMUL)([x, y, z])
    np.testing.assert_allclose(z, x.astype("d") @ y.astype("d"), 1e-5, 1e-5)


def test_nothing_is_initialised_where_the_reduction_is_empty() -> None:
    z = np.full((9, 40), 5, "f")
    native.compile(MATMUL)([np.zeros((9, 0), "f"), np.zeros((0, 40), "f"), z])
    assert (z == 5).all()


@pytest.mark.parametrize("kind", ["float32", "float64", "int32", "int8", "float16"])
@pytest.mark.parametrize("axis", [0, 1])
def test_sums(axis: int, kind: str) -> None:
    place = "v1, v0" if axis == 0 else "v0, v1"
    func = reduction(
        *(f'("n", "m"), "{kind}"', '(1,), "int8"', f'("{"mn"[axis]}",), "{kind}"'),
        *(1, "m, n" if axis == 0 else "n, m", f"z[v0] = T.{kind}(0)"),
        f"z[v0] = x[{place}] + z[v0]",
    )
    numbers = np.random.default_rng(1)
    for n, m in [(3, size) for size in SIZES] + [(size, 3) for size in SIZES]:
        x = (numbers.standard_normal((n, m)) * 4).astype(kind)
        if x.shape[axis] == 0:
            continue
        z = np.zeros(x.shape[1 - axis], kind)
        native.compile(func)([x, np.zeros(1, "b"), z])
        exact = x.astype("d").sum(axis)
        if kind.startswith("int"):
            assert (z == x.sum(axis, dtype=kind)).all()
        else:
            bound = np.finfo(kind).eps * max(n, m) * np.abs(x.astype("d")).sum(axis)
            assert (np.abs(z.astype("d") - exact) <= bound + 1e-30).all()


@pytest.mark.parametrize("word", ["max", "min"])
def test_extrema_are_those_in_order_with_nan(word: str) -> None:
    func = reduction(
        *('("n", "m"), "float32"', '(1,), "int8"', '("n",), "float32"'),
        *(1, "n, m", f"z[v0] = T.float32({-1e30 if word == 'max' else 1e30})"),
        f"z[v0] = T.{word}(z[v0], x[v0, v1])",
    )
    numbers = np.random.default_rng(2)
    x = numbers.standard_normal((12, 100)).astype("f")
    for row in range(1, 12):
        x[row, numbers.integers(0, 100, row % 4)] = np.nan
    x[5, 99] = x[6, 0] = np.nan
    mine, theirs = np.zeros((2, 12), "f")
    native.compile(func)([x, np.zeros(1, "b"), mine])
    evaluate(func, [x, np.zeros(1, "b"), theirs])
    np.testing.assert_array_equal(mine, theirs)
    assert np.isnan(mine[5]) and not np.isnan(mine[6])


@pytest.mark.parametrize(("sign", "first"), [("<", "-inf"), (">", "inf")])
def test_extrema_that_stay_nan_are_those_in_order(sign: str, first: str) -> None:
    """Over windows, columns and rows; infinities of both signs add up to NaN, but are none."""
    numbers = np.random.default_rng(3)
    x = numbers.standard_normal((20, 36)).astype("f")
    for special in (np.nan, np.inf, -np.inf):
        x[numbers.random(x.shape) < 0.05] = special
    for place, loops, count in (
        ("v0 * 2 + v2, v1 * 3 + v3", "10, 11, 2, 3", 2),
        ("v1, v0", "36, 20", 1),
        ("v0, v1", "20, 36", 1),
    ):
        at = "v0, v1" if count == 2 else "v0"
        shape = tuple(map(int, loops.split(", ")))[:count]
        running, new = f"z[{at}]", f"x[{place}]"
        func = reduction(
            *('(20, 36), "float32"', '(1,), "int8"', f'{shape}, "float32"'),
            *(count, loops, f'{running} = T.float32("{first}")'),
            f"{running} = T.Select({new} {sign} {running} or T.isnan({running}), {running}, {new})",
        )
        mine, theirs = np.zeros((2, *shape), "f")
        native.compile(func)([x, np.zeros(1, "b"), mine])
        evaluate(func, [x, np.zeros(1, "b"), theirs])
        np.testing.assert_array_equal(mine, theirs)
        assert np.isnan(mine).any() and np.isinf(mine).any()


def test_elements_of_other_buffers_at_the_same_time() -> None:
    func = prim_func("""
@T.prim_func
def argmax(x: T.Buffer(("n", "m"), "float32"), at: T.Buffer(("n",), "int64")):
    best = T.alloc_buffer((n,), "float32")
    for i, k in T.grid(n, m):
        with T.sblock("r"):
            a, b = T.axis.remap("SR", [i, k])
            with T.init():
                at[a] = T.int64(-1)
                best[a] = T.float32(-1e30)
            place: T.let[T.int64] = T.Select(best[a] >= x[a, b], at[a], b)
            value: T.let[T.float32] = T.Select(best[a] >= x[a, b], best[a], x[a, b])
            at[a] = place
            best[a] = value
""")
    x = np.random.default_rng(3).standard_normal((17, 65), np.float32)
    at = np.zeros(17, np.int64)
    native.compile(func)([x, at])
    np.testing.assert_array_equal(at, x.argmax(1))


def test_a_reduction_that_reads_its_neighbours_is_left_in_order() -> None:
    func = prim_func("""
@T.prim_func
def running(x: T.Buffer((40,), "int64"), z: T.Buffer((41,), "int64")):
    for i, k in T.grid(40, 1):
        with T.sblock("r"):
            a, b = T.axis.remap("SR", [i, k])
            with T.init():
                z[a + 1] = x[a]
            z[a + 1] = z[a + 1] + z[a]
""")
    x, z = np.arange(40), np.zeros(41, np.int64)
    native.compile(func)([x, z])
    np.testing.assert_array_equal(z[1:], x.cumsum())


def test_convolution() -> None:
    func = prim_func("""
@T.prim_func
def conv(x: T.Buffer((2, 3, 12, 21), "float32"), w: T.Buffer((5, 3, 3, 3), "float32"),
         z: T.Buffer((2, 5, 10, 19), "float32")):
    for n, f, i, j, c, a, b in T.grid(2, 5, 10, 19, 3, 3, 3):
        with T.sblock("conv"):
            vn, vf, vi, vj, vc, va, vb = T.axis.remap("SSSSRRR", [n, f, i, j, c, a, b])
            with T.init():
                z[vn, vf, vi, vj] = T.float32(0)
            z[vn, vf, vi, vj] = z[vn, vf, vi, vj] + x[vn, vc, vi + va, vj + vb] * w[vf, vc, va, vb]
""")
    numbers = np.random.default_rng(4)
    x, w = numbers.standard_normal((2, 3, 12, 21), "f"), numbers.standard_normal((5, 3, 3, 3), "f")
    z = np.zeros((2, 5, 10, 19), "f")
    native.compile(func)([x, w, z])
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    np.testing.assert_allclose(z, np.einsum("ncijab,fcab->nfij", windows, w), 1e-4, 1e-4)
    assert "RLX_ROWS" in native.compile(func).source, "this is computed in tiles"


BYTES = (1, 3, 16, 32, 64, 128, 256, 24)
"""Widths of vectors: those that processors have, and others."""


def test_tiles_are_right_for_every_number_of_columns_and_every_width(tmp_path: Path) -> None:
    numbers = np.random.default_rng(5)
    cases, wanted = [], []
    for columns in range(1, 101):
        kind = ["int8", "int16", "uint8", "int32", "float32", "int8"][columns % 6]
        x = numbers.integers(0, 3, (2, 17)).astype(kind)
        y = numbers.integers(0, 3, (17, columns)).astype(kind)
        sums = reduction(
            *(f'(1,), "{kind}"', f'(17, {columns}), "{kind}"', f'({columns},), "{kind}"'),
            *(1, f"{columns}, 17", f"z[v0] = T.{kind}(0)"),
            "z[v0] = z[v0] + y[v1, v0]",
        )
        product = reduction(
            *(f'(2, 17), "{kind}"', f'(17, {columns}), "{kind}"', f'(2, {columns}), "{kind}"'),
            *(2, f"2, {columns}, 17", f"z[v0, v1] = T.{kind}(0)"),
            "z[v0, v1] = z[v0, v1] + x[v0, v2] * y[v2, v1]",
        )
        cases.append(Case(sums, [x[0, :1], y, np.zeros(columns, kind)], f"sum {columns}"))
        cases.append(Case(product, [x, y, np.zeros((2, columns), kind)], f"product {columns}"))
        wanted += [y.sum(0, dtype=kind), np.matmul(x, y, dtype=kind)]
    vectors = [BYTES[at // 2 % len(BYTES)] for at in range(len(cases))]
    answers = run(cases, tmp_path / "batch", vectors, PLAIN, processors()[0])
    for case, answer, result in zip(cases, answers, wanted, strict=True):
        assert answer.ending == "returned", (case.label, answer.ending)
        np.testing.assert_array_equal(answer.arrays[-1], result, case.label)


@pytest.mark.parametrize("vector", BYTES)
def test_rows_are_right_for_every_width(vector: int) -> None:
    func = reduction(
        *('("n", "m"), "int16"', '(1,), "int8"', '("n",), "int16"'),
        *(1, "n, m", "z[v0] = T.int16(0)"),
        "z[v0] = z[v0] + x[v0, v1]",
    )
    largest = reduction(
        *('("n", "m"), "float32"', '(1,), "int8"', '("n",), "float32"'),
        *(1, "n, m", 'z[v0] = T.float32("nan")'),
        "z[v0] = T.max(z[v0], x[v0, v1])",
    )
    for size in range(1, 70, 3):
        x = np.random.default_rng(size).integers(-9, 9, (2, size)).astype("int16")
        z, top = np.zeros(2, "int16"), np.zeros(2, "f")
        native.compile(func, vector=vector)([x, np.zeros(1, "b"), z])
        np.testing.assert_array_equal(z, x.sum(1, dtype="int16"))
        native.compile(largest, vector=vector)([x.astype("f"), np.zeros(1, "b"), top])
        np.testing.assert_array_equal(top, x.max(1))


def test_a_loop_that_never_runs_starts_no_sum() -> None:
    for extents in ("4, 0", "50, 0", "0, 4"):
        func = reduction(
            *('(50,), "int8"', '(50,), "int8"', '(50,), "int8"'),
            *(1, extents, "z[v0] = T.int8(0)"),
            "z[v0] = z[v0] + x[v1]",
        )
        z = np.full(50, 7, "b")
        native.compile(func)([np.ones(50, "b"), np.ones(50, "b"), z])
        assert (z == 7).all(), extents
