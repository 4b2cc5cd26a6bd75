"""Sorted lines of many lengths: longer ones than the law has, on both backends, in n log n steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rlx
from rlx.grammar.nodes.dtype import dtype, numpy_type
from rlx.semantics.machine import load
from rlx.semantics.machine.numpy_conversion import to_value
from rlx.semantics.outcome import Returned
from rlx.transform import legalized

KINDS = ("float32", "float16", "bfloat16", "float8_e4m3fn", "int64", "uint8", "int4", "bool")
SPECIAL = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0]
CALLS = (
    "R.sort(x, axis={axis}, descending={turned})",
    'R.argsort(x, axis={axis}, descending={turned}, dtype="int64")',
    "R.topk(x, k={k}, axis={axis}, largest={turned})",
    "R.median(x, axis=[{axis}])",
)


def module(call: str, shape: str, kind: str) -> rlx.IRModule:
    text = f'@R.function\ndef main(x: R.Tensor({shape}, "{kind}")):\n    y = {call}\n    return y\n'
    found = rlx.parse(text)
    assert rlx.check(found).ok
    return found


def elements(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Few different numbers, so that many are equal; NaN, infinities and both zeros."""
    found: np.ndarray[Any, Any] = rng.integers(0, 5, shape).astype(np.float64)
    if "float" in kind:
        found = np.where(rng.random(shape) < 0.2, rng.choice(SPECIAL, shape), found - 2)
    elif kind == "bool":
        found = found > 2
    return np.asarray(found).astype(numpy_type(dtype(kind)))


def ran(module: rlx.IRModule, x: object, backend: str, iterations: int) -> list[Any]:
    """The bits of what a run gives: NaN and the sign of zero count."""
    made = load(module, backend=backend, iterations=iterations).run("main", [to_value(x)], fuel=100)
    assert isinstance(made, Returned), made
    value = made.numpy()
    return [
        (v.dtype, v.shape, v.tobytes()) for v in (value if isinstance(value, tuple) else [value])
    ]


def agree(call: str, shape: str, kind: str, x: object, backend: str) -> None:
    before = module(call, shape, kind)
    found = legalized(before)
    assert not found.left and rlx.check(found.module).ok
    assert ran(found.module, x, backend, 1_000_000) == ran(before, x, "steps", 1)


@settings(max_examples=20)
@given(
    st.sampled_from(CALLS),
    st.sampled_from(KINDS),
    st.tuples(st.integers(1, 70), st.integers(0, 3)),
    st.sampled_from((0, 1, -1, -2)),
    st.booleans(),
    st.booleans(),
    st.integers(0, 1 << 32),
)
def test_lines_of_many_lengths(
    call: str, kind: str, sizes: tuple[int, int], axis: int, turned: bool, known: bool, seed: int
) -> None:
    shape = sizes if axis in (0, -2) else sizes[::-1]
    written = str(shape) if known else '("n", "m")'
    text = call.format(axis=axis, turned=turned, k=min(3, sizes[0]) if known else -1)
    x = elements(kind, shape, np.random.default_rng(seed))
    agree(text, written, kind, x, "steps")


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", ["float32", "int64"])
def test_machine_code_sorts_long_lines(kind: str, turned: bool) -> None:
    x = elements(kind, (2, 1000, 3), np.random.default_rng(7))
    for call in CALLS[:3]:
        agree(call.format(axis=1, turned=turned, k=-1), '("a", "n", 3)', kind, x, "native")


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
@pytest.mark.parametrize("backend", ["steps", "native"])
def test_lines_without_elements(shape: tuple[int, ...], backend: str) -> None:
    letters = '("n",)' if len(shape) == 1 else '("n", "m")'
    x = np.zeros(shape, np.float32)
    for written in (letters, str(shape)):
        for call in CALLS[1:3]:
            text = call.format(axis=0, turned=True, k=-1)
            agree(text, written, "float32", x, backend)


@pytest.mark.parametrize(
    "call", ["R.sort(x)", "R.argsort(x)", "R.topk(x, k=-1)", "R.median(x, axis=[0])"]
)
def test_the_time_is_n_log_n(call: str) -> None:
    """Counted in iterations of loops; a rank for each of the elements would need a quarter of a million."""
    x = np.random.default_rng(3).normal(size=512).astype(np.float32)
    before = module(call, '("n",)', "float32")
    assert ran(legalized(before).module, x, "steps", 10_000) == ran(before, x, "steps", 1)
