"""Products that sum over shared axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx import te
from rlx.grammar.nodes.dtype import BOOL, DataType
from rlx.te.scalar import Scalar
from rlx.transform.legalization.elements import (
    SOME,
    convert,
    filled,
    int64,
    is_one,
    need_numbers,
    wide,
)
from rlx.transform.legalization.result import Result, decline


def matmul(out: Result, a: te.Tensor, b: te.Tensor, dtype: DataType | None) -> te.Tensor:
    """The product of matrices or of stacks of them; a vector counts as one row or column."""
    k = te.reduce_axis((0, a.shape[-1]), name="k")
    lead = out.ndim - (a.ndim > 1) - (b.ndim > 1)

    def factor(x: te.Tensor, outer: Sequence[Scalar], own: Sequence[Scalar]) -> Scalar:
        stacked = list(outer[lead - (x.ndim - len(own)) :]) if x.ndim > len(own) else []
        at = [
            int64(0) if is_one(dim) else v
            for dim, v in zip(x.shape[: len(stacked)], stacked, strict=True)
        ]
        value = wide(x(*at, *own))
        return value if dtype is None else wide(convert(value, out.dtype))

    def element(*i: Scalar) -> Any:
        outer, rest = i[:lead], list(i[lead:])
        row = [rest.pop(0)] if a.ndim > 1 else []
        left = factor(a, outer, [*row, k])
        right = factor(b, outer, [k, *rest] if b.ndim > 1 else [k])
        if left.dtype == BOOL:
            return SOME(te.all(left, right), axis=k)
        return te.sum(left * right, axis=k)

    made = te.compute(out.shape, element, name="T_matmul")
    return _rounded(out, made)


def _rounded(out: Result, made: te.Tensor) -> te.Tensor:
    """A result in the type of the operator; as it is where it has that type."""
    if made.dtype == out.dtype:
        return made
    return filled(out, lambda *i: convert(made(*i), out.dtype), f"T_{out.name}_as")


def outer(out: Result, a: te.Tensor, b: te.Tensor) -> te.Tensor:
    """The products of all pairs of elements of two vectors."""
    need_numbers(a.dtype)
    if a.dtype != b.dtype:
        decline("its operands have two types")
    return filled(out, lambda i, j: convert(wide(a(i)) * wide(b(j)), out.dtype))


def einsum(out: Result, operands: Sequence[te.Tensor], subscripts: str) -> te.Tensor:
    """A sum of products over the axes that the subscripts name."""
    text = subscripts.replace(" ", "")
    if "." in text:
        decline("its subscripts have an ellipsis")
    inputs, arrow, result = text.partition("->")
    terms = inputs.split(",")
    need_numbers(*(x.dtype for x in operands))
    letters = [c for c in dict.fromkeys(inputs) if c != ","]
    if not arrow:
        result = "".join(sorted(c for c in letters if inputs.count(c) == 1))
    sizes: dict[str, Scalar] = {}
    for term, x in zip(terms, operands, strict=True):
        for letter, dim in zip(term, x.shape, strict=True):
            if letter not in sizes or is_one(sizes[letter]):
                sizes[letter] = dim
    over = {c: te.reduce_axis((0, sizes[c]), name=f"k_{c}") for c in letters if c not in result}

    def element(*i: Scalar) -> Any:
        place: dict[str, Scalar] = {**dict(zip(result, i, strict=True)), **over}
        found: Scalar | None = None
        for term, x in zip(terms, operands, strict=True):
            at = [
                int64(0) if is_one(dim) else place[letter]
                for letter, dim in zip(term, x.shape, strict=True)
            ]
            value = wide(x(*at))
            found = value if found is None else found * value
        assert found is not None
        return te.sum(found, axis=list(over.values())) if over else found

    return _rounded(out, te.compute(out.shape, element, name="T_einsum"))
