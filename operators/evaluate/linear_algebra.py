"""Products that sum over shared axes."""

from __future__ import annotations

import numpy as np

from rlx.grammar.nodes.dtype import DataType
from rlx.operators.evaluate.arrays import Array, back, broadcast, kind_of, quiet, wide
from rlx.operators.evaluate.elementwise import convert
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule


@rule("E-product", "a9ce1e42", "computation")
def _reduces(x: int, y: int) -> None:
    if x != y:
        raise OperatorFault("E-product-reduction", f"the reduction dimensions differ: {x} and {y}")


def matmul(a: Array, b: Array, kind: DataType | None) -> Array:
    """The product of two matrices, or of stacks of them; a vector counts as one row or one
    column.
    """
    _reduces(a.shape[-1], b.shape[-2] if b.ndim > 1 else b.shape[0])
    broadcast(np.empty(a.shape[:-2]), np.empty(b.shape[:-2]))
    made = kind_of(kind, a.dtype)
    if kind is not None:
        a, b = convert(a, made), convert(b, made)
    return back(quiet(np.matmul, wide(a), wide(b)), made)


def outer(a: Array, b: Array) -> Array:
    """The products of all pairs of elements of two vectors."""
    return back(quiet(np.multiply, wide(a)[:, None], wide(b)[None, :]), a.dtype)


def einsum(operands: tuple[Array, ...], subscripts: str) -> Array:
    """A sum of products over the axes that the subscripts name; an axis of length 1 is
    broadcast.
    """
    text = subscripts.replace(" ", "")
    terms = text.partition("->")[0].split(",")
    try:
        found = quiet(lambda: np.einsum(text, *[wide(x) for x in operands]))
    except ValueError as error:
        shapes = ", ".join(str(x.shape) for x in operands)
        _reduces(len(terms), -1 if len(terms) == len(operands) else len(operands))
        raise OperatorFault(
            "E-product-reduction", (f"{text} cannot be applied to the shapes {shapes}: {error}")
        ) from None
    return back(np.array(found), operands[0].dtype)
