"""The C of reductions stays what it is: of rows and of columns, for each type, operation and kind of size.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/semantics/native/test_same_reductions.py` writes the digests anew.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.semantics.native.test_reductions import reduction
from tests.semantics.native.test_same_code import code
from tests.snapshots import assert_digest

SNAPSHOT = Path(__file__).parent / "snapshots" / "reductions.txt"

KINDS = ["bool", "int8", "uint32", "int64", "float16", "bfloat16", "float32", "float64"]
UPDATES = [
    "{z} + {term}",
    "{term} + {z}",
    "T.max({z}, {term})",
    "T.min({z}, {term})",
    "{z} - {term}",
]
SIZES = ['"m"', "8", "16", "40"]


def operands(kind: str) -> list[str]:
    """The terms of a reduction: an element, products, an element of another type, a difference."""
    return ["{x}", "{x} * {y}", "{x} * {x}", f'T.Cast("{kind}", {{w}})', "{x} - {y}", "{y}"]


def some(kind: str) -> list[tuple[str, str, str]]:
    """A fifth of the updates, terms and sizes, another one for each type."""
    return [*product(UPDATES, operands(kind), SIZES)][KINDS.index(kind) % 5 :: 5]


@pytest.mark.parametrize("kind", KINDS)
def test_reductions_of_rows_are_as_they_were(kind: str) -> None:
    """`z[i]` of `x[i, j]`, and of `x[i, k, j]`, where `j` and `k` are reduced."""
    made = []
    for update, term, size in some(kind):
        for inner, axes in (("v1", "m"), ("v1, v2", "3, m")):
            last = inner[-2:]
            text = update.format(
                z="z[v0]", term=term.format(x=f"x[v0, {inner}]", y=f"y[{last}]", w=f"y[{last}]")
            )
            extents = axes.replace("m", size.strip('"'))
            other = "int8" if "Cast" in term else kind
            shape = f'("n", {axes.replace("m", size)})'
            arrays = f'{shape}, "{kind}"', f'({size},), "{other}"', f'("n",), "{kind}"'
            stores = f"z[v0] = {_zero(kind)}", f"z[v0] = {text}"
            func = reduction(*arrays, 1, f"n, {extents}", *stores)
            made.append(code(func, True, True, 32))
    assert_digest(SNAPSHOT, f"rows {kind}", "\n\n".join(made))


@pytest.mark.parametrize("kind", KINDS)
def test_reductions_of_columns_are_as_they_were(kind: str) -> None:
    """`z[j]` of `x[k, j]`, and `z[i, j]` of `x[i, k]` and `y[k, j]`, where `k` is reduced."""
    made = []
    for update, term, size in some(kind):
        other = "int8" if "Cast" in term else kind
        text = update.format(
            z="z[v0]", term=term.format(x="x[v1, v0]", y="y[v1, v0]", w="y[v1, v0]")
        )
        shape = f'("k", {size})'
        arrays = f'{shape}, "{kind}"', f'{shape}, "{other}"', f'({size},), "{kind}"'
        stores = f"z[v0] = {_zero(kind)}", f"z[v0] = {text}"
        alone = reduction(*arrays, 1, f"{size}, k".replace('"', ""), *stores)
        made.append(code(alone, True, True, 32))
        text = update.format(
            z="z[v0, v1]", term=term.format(x="x[v0, v2]", y="y[v2, v1]", w="y[v2, v1]")
        )
        for rows, depth in (('"n"', '"k"'), ("5", "3"), ("2", "20")):
            extents = ", ".join(each.strip('"') for each in (rows, size, depth))
            arrays = (
                f'({rows}, {depth}), "{kind}"',
                f'({depth}, {size}), "{other}"',
                f'({rows}, {size}), "{kind}"',
            )
            stores = f"z[v0, v1] = {_zero(kind)}", f"z[v0, v1] = {text}"
            func = reduction(*arrays, 2, extents, *stores)
            made.append(code(func, True, True, 32))
    assert_digest(SNAPSHOT, f"columns {kind}", "\n\n".join(made))


def _zero(kind: str) -> str:
    return "T.bool(False)" if kind == "bool" else f"T.{kind}(0)"
