"""Sorting along an axis, and draws from a distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import INT32, INT64, VOID, DataType
from rlx.grammar.nodes.tir import GE
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array
from rlx.operators.dim_arithmetic import const, literal
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result
from rlx.operators.indexing import extremes, from_zero, within
from rlx.operators.late import np, te
from rlx.operators.merge_sort import places
from rlx.operators.operator_call import Dims, OperatorCall, show
from rlx.operators.parameters import Count, Tensor, Type
from rlx.operators.registry import computes, defines, operator
from rlx.operators.rule_helpers import (
    axis,
    choice,
    elements,
    fields,
    like,
    rank,
    ranked,
    resized,
    stated,
)
from rlx.spec.registry import need, rule

# ---------------------------------------------------------------- statements


@operator(
    "relax.sort",
    calls="t(a, b) | t(a), axis=None | 0 | -1, descending=None | True",
    broken="OBL-axis-range: f(a), axis=1",
)
def sort(site: OperatorCall, x: Tensor, axis_: int = -1, descending: int = False) -> StructInfo:
    """The elements in order along an axis."""
    ndim = site.rank(x)
    if ndim is not None:
        axis(site, axis_, ndim, x)
    return x


@computes("relax.sort")
def sort_value(x: Array, axis: int, descending: int) -> Array:
    along = arrays.axis_of(axis, x.ndim)
    return np.take_along_axis(x, order(x, along, bool(descending)), along)


@defines("relax.sort")
def sort_definition(out: Result, x: te.Tensor, axis: int, descending: int) -> te.Tensor:
    along = exprs.axis_of(axis, x.ndim)
    at = places(x, along, bool(descending))
    return exprs.filled(out, lambda *i: _taken(x, at, along, i))


@operator(
    "relax.argsort",
    calls="t(a, b) | t(a), axis=None | 0 | -1, descending=None | True, dtype=None | 'int64'",
)
def argsort(
    site: OperatorCall,
    data: Tensor,
    axis: int = -1,
    descending: int = False,
    dtype: Type | None = INT32,
) -> StructInfo:
    """The indices of the sorted elements along an axis."""
    return like(sort(site, data, axis, descending), dtype or VOID)  # type: ignore[arg-type]


@computes("relax.argsort")
def argsort_value(x: Array, axis: int, descending: int, kind: DataType | None) -> Array:
    found = order(x, arrays.axis_of(axis, x.ndim), bool(descending))
    return arrays.back(found, arrays.kind_of(kind, np.dtype(np.int32)))


@defines("relax.argsort")
def argsort_definition(
    out: Result, x: te.Tensor, axis: int, descending: int, dtype: DataType | None
) -> te.Tensor:
    at = places(x, exprs.axis_of(axis, x.ndim), bool(descending))
    return exprs.filled(out, at)


@rule("OBL-topk", "obligation")
def chosen(site: OperatorCall, dims: Dims, along: int, count: int) -> None:
    """Check that the axis has at least k elements."""
    length = dims[along]
    if literal(length) is not None and (literal(length) or 0) >= count:
        site.ctx.discharged += 1
        return
    site.require(
        "OBL-topk-count",
        GE(length, const(count)),
        lambda: f"k is {count}, but axis {along} has length {show(length)} {site.of(0)}",
        0,
    )


@operator(
    "relax.topk",
    calls="""
    f(a, 8), k=2 | 1 | 8 | -1, axis=-1 | 1, ret_type=None | 'values' | 'indices', largest=None | False, dtype=None | 'int64'
    f(8), k=3 | 0, axis=None
    """,
    broken="""
    OBL-topk-count: f(a, 3), k=5, axis=-1
    OBL-choice-word: f(a, 4), k=2, ret_type='value'
    """,
)
def topk(
    site: OperatorCall,
    data: Tensor,
    k: Count = 1,
    axis_: int = -1,
    ret_type: str = "both",
    largest: int = True,
    dtype: Type | None = INT32,
) -> StructInfo:
    """The first ``k`` sorted elements along an axis (all, if ``k`` is not positive), and their
    indices.
    """
    ndim, dims = site.rank(data), site.dims(data)
    if ndim is None or dims is None:
        values = ranked(ndim, data.dtype, data.vdevice)
    else:
        along = axis(site, axis_, ndim)
        values = data
        if k > 0:
            chosen(site, dims, along, k)
            values = resized(data, (*dims[:along], const(k), *dims[along + 1 :]), ndim)
    places = like(values, dtype or VOID)
    choice(site, "ret_type", ret_type, ("both", "values", "indices"))
    return {"values": values, "indices": places}.get(ret_type) or fields((values, places))


@computes("relax.topk")
def topk_value(
    x: Array, count: int, axis: int, wanted: str, largest: int, kind: DataType | None
) -> Any:
    along = arrays.axis_of(axis, x.ndim)
    length = x.shape[along]
    if count > length:
        raise OperatorFault("E-index-range", f"k is {count}, but the axis has length {length}")
    found = order(x, along, bool(largest))
    first = np.take(found, np.arange(count if count > 0 else length), along)
    values, where = (
        np.take_along_axis(x, first, along),
        arrays.back(first, arrays.kind_of(kind, np.dtype(np.int32))),
    )
    return {"values": values, "indices": where}.get(wanted, (values, where))


@defines("relax.topk")
def topk_definition(
    out: Any, x: te.Tensor, count: int, axis: int, wanted: str, largest: int, dtype: DataType | None
) -> Any:
    """The first k sorted elements along an axis, and their indices."""
    along = exprs.axis_of(axis, x.ndim)
    at = places(x, along, bool(largest))

    def values(target: Result) -> te.Tensor:
        return exprs.filled(target, lambda *i: _taken(x, at, along, i), "T_topk_values")

    def indices(target: Result) -> te.Tensor:
        return exprs.filled(target, at, "T_topk_indices")

    match wanted:
        case "values":
            return values(out)
        case "indices":
            return indices(out)
    first, second = out
    return values(first), indices(second)


@rule("OBL-draws", "obligation")
def draws(site: OperatorCall, sample: TensorStructInfo, indices: TensorStructInfo) -> None:
    """Check that samples and indices are columns of equal length."""
    a, b = site.dims(sample), site.dims(indices)
    for index, dims in ((1, a), (2, b)):
        if dims is not None:
            site.equal(
                "OBL-draws-column",
                dims[1],
                const(1),
                lambda index=index: f"{site.shown(index)} must have shape (n, 1)",  # type: ignore[misc]
                index,
            )
    if a is not None and b is not None:
        site.equal(
            "OBL-draws-count",
            a[0],
            b[0],
            lambda: (
                f"{show(a[0])} samples {site.of(1)} do not match {show(b[0])} indices {site.of(2)}"
            ),
            2,
        )


def _distributions(site: OperatorCall, prob: Tensor, indices: Tensor) -> None:
    """Check the rows that are drawn from, where the text states probabilities and indices."""
    dims, places = site.dims(prob), site.dims(indices)
    rows = [int(number) for number in stated(site, site.argument(2))]
    if dims is not None:
        within(site, 2, extremes(rows), dims[0], False)
    width = None if dims is None else literal(dims[1])
    numbers = stated(site, site.argument(0))
    if not width or not numbers:
        return
    lines = [numbers[at : at + width] for at in range(0, len(numbers), width)]
    wrong = [at for at, line in enumerate(lines) if not _is_distribution(line)]
    draws_any = bool(rows) or (places is not None and (literal(places[0]) or 0) > 0)
    drawn = set(wrong).intersection(rows) if rows else wrong if len(wrong) == len(lines) else ()
    if not need("OBL-draws-distribution", not (draws_any and drawn)):
        words = f"row {min(drawn)} {site.of(0)} is not a probability distribution"
        site.warn_of_fault("OBL-draws-distribution", words, 0)


def _is_distribution(line: Sequence[float]) -> bool:
    return all(number >= 0 for number in line) and abs(math.fsum(line) - 1) <= _SUM


@operator(
    "relax.multinomial_from_uniform",
    kept="it has requirements that a tensor expression cannot check",
    calls="float32(a, b), float32(c, 1), int64(c, 1), dtype=None | 'int32'",
    broken="""
    OBL-draws-column: float32(a, b), float32(c, 2), int64(c, 1), dtype='int64'
    OBL-draws-count: float32(a, b), float32(5, 1), int64(6, 1), dtype='int64'
    OBL-draws-distribution: const([[0.5, 0.6]], 'float32'), float32(5, 1), int64(5, 1), dtype='int64'
    """,
)
def multinomial(
    site: OperatorCall,
    prob: Tensor,
    uniform_sample: Tensor,
    sample_indices: Tensor,
    dtype: Type = INT64,
) -> StructInfo:
    """One draw from a row's distribution for each uniform sample."""
    elements(site, prob, 0, "float")
    elements(site, uniform_sample, 1, "float")
    elements(site, sample_indices, 2, "signed")
    for index, info in enumerate((prob, uniform_sample, sample_indices)):
        rank(site, info, index, 2)
    draws(site, uniform_sample, sample_indices)
    _distributions(site, prob, sample_indices)
    return like(uniform_sample, dtype or VOID)


_SUM = 1e-2
"""The tolerance of a distribution's sum; float16 has three digits."""


@computes("relax.multinomial_from_uniform")
@rule("E-draw", "computation")
def multinomial_from_uniform_value(
    prob: Array, sample: Array, indices: Array, kind: DataType | None
) -> Array:
    rows = from_zero(indices.reshape(-1), prob.shape[0], negative=False)
    chances = arrays.wide(prob)
    wrong = ~(chances >= 0).all(axis=-1) | ~np.isclose(chances.sum(axis=-1), 1, atol=_SUM)
    for row in rows:
        if wrong[row]:
            raise OperatorFault(
                "E-draw-distribution", f"row {row} is not a probability distribution"
            )
    below = np.cumsum(chances, axis=-1)[rows]
    drawn = np.sum(below <= arrays.wide(sample).reshape(-1, 1), axis=-1)
    last = prob.shape[-1] - 1
    return arrays.back(
        np.minimum(drawn, last).reshape(sample.shape), arrays.kind_of(kind, np.dtype(np.int64))
    )


# ---------------------------------------------------------------- values


def order(x: Array, along: int, descending: bool) -> Array:
    """The indices of the sorted elements; the sort is stable, and NaN comes last."""
    w = arrays.wide(x)
    if not descending:
        return np.argsort(w, axis=along, kind="stable")
    # Sorting the reverse and turning it round keeps equal elements in order.
    turned = np.argsort(np.flip(w, along), axis=along, kind="stable")
    return np.flip(w.shape[along] - 1 - turned, along)


# ---------------------------------------------------------------- definitions


def _taken(x: te.Tensor, at: te.Tensor, along: int, indices: tuple[te.Scalar, ...]) -> te.Scalar:
    return x(*(at(*indices) if a == along else v for a, v in enumerate(indices)))
