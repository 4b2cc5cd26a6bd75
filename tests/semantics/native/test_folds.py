"""The lanes of a row are folded by vectors just as they are one by one: the same bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype as data_type
from rlx.semantics import native
from rlx.semantics.arrays import numpy_type
from rlx.semantics.native import compiler
from rlx.semantics.native.emit_rows import BY_VECTORS
from rlx.semantics.native.frame import FIRST_SLOT
from tests.semantics.native.sanitised.batch import Array
from tests.semantics.native.sanitised.compare import same
from tests.semantics.tir.programs import of_body

KINDS = [
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("float16", "bfloat16", "float32", "float64"),
]
ROWS, LENGTH = 40, 300


def reductions(kind: str, length: int) -> tir.PrimFunc:
    """A sum, a maximum and a minimum of each row."""
    lines = []
    for name, first, step in (
        ("s", f"T.{kind}(0)", "{0} + {1}"),
        ("hi", f'T.min_value("{kind}")', "T.max({0}, {1})"),
        ("lo", f'T.max_value("{kind}")', "T.min({0}, {1})"),
    ):
        lines += [
            f"for i, k in T.grid({ROWS}, {length}):",
            f'    with T.sblock("{name}"):',
            '        vi, vk = T.axis.remap("SR", [i, k])',
            f"        with T.init(): {name}[vi] = {first}",
            f"        {name}[vi] = {step.format(f'{name}[vi]', 'x[vi, vk]')}",
        ]
    results = "".join(f', {name}: T.Buffer(({ROWS},), "{kind}")' for name in ("s", "hi", "lo"))
    return of_body(f'x: T.Buffer(({ROWS}, {length}), "{kind}"){results}', "\n".join(lines))


def called(source: str, x: Array, results: Sequence[Array]) -> None:
    library, ffi = compiler.library(source)
    numbers = ffi.new("int64_t[]", [1 << 60, *[0] * (FIRST_SLOT - 1), *x.shape, ROWS, ROWS, ROWS])
    places = ffi.new("void *[]", [ffi.from_buffer(array) for array in (x, *results)])
    assert library.rlx_kernel(numbers, places) == 0


def values(kind: str) -> Array:
    """Rows of numbers of any size; some of floats have a NaN, or zeros of both signs."""
    random = np.random.default_rng(1)
    dtype = numpy_type(data_type(kind))
    if dtype.kind in "iu":
        return random.integers(0, 256, (ROWS, LENGTH * dtype.itemsize), np.uint8).view(dtype)
    x = random.standard_normal((ROWS, LENGTH)) * 10.0 ** random.integers(-3, 4, (ROWS, LENGTH))
    x[::5] = np.copysign(0.0, x[::5])
    x[::7, random.integers(LENGTH)] = np.nan
    return np.ascontiguousarray(x.astype(dtype))


@pytest.mark.parametrize(
    ("kind", "vector"), [*((kind, 64) for kind in KINDS), ("float32", 32), ("uint16", 16)]
)
def test_folds(kind: str, vector: int) -> None:
    kernel = native.compile(reductions(kind, LENGTH), vector=vector)
    assert BY_VECTORS in kernel.source
    x = values(kind)
    found, wanted = ([np.zeros(ROWS, x.dtype) for _ in range(3)] for _ in range(2))
    called(kernel.source, x, found)
    called(kernel.source.replace(BY_VECTORS, "0"), x, wanted)
    for mine, theirs in zip(found, wanted, strict=True):
        assert same(mine, theirs).all()
