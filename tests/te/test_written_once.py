"""If a function is said to write each element once, counting its writes gives 1 everywhere."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from rlx.te.check import written_once
from tests.semantics.tir.programs import prim_func

NEST = """
@T.prim_func
def f(B: T.Buffer(({shape}), "int64")):
    n = T.int64()
    m = T.int64()
    for i, j in T.grid({extents}):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [{axes}])
            B[{indices}] = T.int64(1)
"""
SHAPES = ("n, m", "n, n", "n, 1")
EXTENTS = ("n, m", "m, n", "n, n", "n - 1, m", "n, 1", "n, m + 1")
AXES = ("i, j", "j, i", "i, i")
INDICES = ("vi, vj", "vj, vi", "vi, vi", "vi // 2, vj", "vi, vj // 2", "vi, 0", "0, vj", "i, vj")
SIZES = [dict(zip("nm", sizes, strict=True)) for sizes in ((3, 2), (2, 3), (2, 2))]

Nest = tuple[str, str, str, str]


def counted(nest: Nest, sizes: dict[str, int]) -> bool:
    """Whether each element of the buffer, and nothing else, is stored to once."""
    shape, extents, axes, indices = (f"({part})" for part in nest)
    stored = Counter[object]()
    for i, j in itertools.product(*map(range, eval(extents, sizes.copy()))):
        vi, vj = eval(axes, {"i": i, "j": j})
        stored[eval(indices, {"vi": vi, "vj": vj, "i": i})] += 1
    elements = itertools.product(*map(range, eval(shape, sizes.copy())))
    return stored == Counter(elements)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_written_once_is_counted_once(shape: str) -> None:
    found = []
    for extents, axes, indices in itertools.product(EXTENTS, AXES, INDICES):
        nest = (shape, extents, axes, indices)
        function = prim_func(NEST.format(shape=shape, extents=extents, axes=axes, indices=indices))
        if written_once(function):
            found.append(nest)
            assert all(counted(nest, sizes) for sizes in SIZES), nest
    assert (shape, shape, "i, j", "vi, vj") in found
    # The axes stand in the order of the dimensions, each bound to a loop of its own.
    swapped = ", ".join(reversed(shape.split(", ")))
    assert {*found} == {
        (shape, shape, "i, j", "vi, vj"),
        *([(shape, swapped, "j, i", "vi, vj")] if swapped in EXTENTS else []),
    }


TWICE = """
@T.prim_func
def f(B: T.Buffer(("n",), "int64")):
    for i in range(n):
        with T.sblock("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = T.int64(1)
    {more}
"""


@pytest.mark.parametrize(
    "more",
    [
        "B[0] = T.int64(2)",
        """for i in range(n):
        with T.sblock("C"):
            vi = T.axis.spatial(n, i)
            B[vi] = T.int64(2)""",
        "if n > 2:\n        B[0] = T.int64(2)",
        "while n > 2:\n        B[0] = T.int64(2)",
    ],
)
def test_what_is_stored_to_again_is_not_written_once(more: str) -> None:
    assert written_once(prim_func(TWICE.format(more="T.evaluate(0)")))
    assert not written_once(prim_func(TWICE.format(more=more)))
