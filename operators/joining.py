"""Concatenation and splitting of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import VOID
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.tir import GE, PrimExpr
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array
from rlx.operators.dim_arithmetic import (
    ZERO,
    ceildiv,
    const,
    exact,
    literal,
    minimum,
    mul,
    sub,
    total,
)
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result
from rlx.operators.late import linear, np, te
from rlx.operators.operator_call import Dims, ObligationGroup, OperatorCall, show
from rlx.operators.parameters import IntOrInts, Tensor, Tensors
from rlx.operators.registry import computes, defines, operator
from rlx.operators.rule_helpers import (
    agree,
    axis,
    fields,
    need_known,
    place,
    ranked,
    resized,
    tensor,
)
from rlx.spec.registry import rule


@rule("OBL-concat", "obligation")
def joined(site: OperatorCall, tensors: Sequence[Tensor], along: int | None) -> Dims | None:
    """The joined shape of tensors of the same rank that are equal except along the joined axis.

    Returns
    -------
    Dims or None
        The dimensions of the first, with the sum of the lengths along the axis; None where a shape
        is unknown or two dimensions are not proved equal.
    """
    shapes = [(t, site.dims(t)) for t in tensors]
    known = [(t, dims) for t, dims in shapes if dims is not None]
    if not known:
        return None
    head, first = known[0]
    lengths = site.together("OBL-concat-dims", 0)
    for other, dims in known[1:]:
        for k, (a, b) in enumerate(zip(first, dims, strict=True)):
            if k != along:
                lengths.equal(a, b, partial(_unequal, (a, b), k, (head, other)))
    if not lengths.settle() or len(known) < len(shapes) or not _all_proved(site, lengths):
        return None
    if along is None:
        return first
    length = total(dims[along] for _, dims in known)
    return (*first[:along], length, *first[along + 1 :])


def _all_proved(site: OperatorCall, lengths: ObligationGroup) -> bool:
    """Whether what has been asked for holds always."""
    return all(site.ctx.prover.always(c).status == "proved" for c, _ in lengths.open)


def _unequal(pair: tuple[PrimExpr, PrimExpr], k: int, tensors: tuple[Tensor, Tensor]) -> str:
    (a, b), (head, other) = pair, tensors
    return (
        f"the lengths along axis {k} differ: {show(a)} of {show(head)} and {show(b)} of"
        f" {show(other)}"
    )


def _common_rank(site: OperatorCall, tensors: Sequence[Tensor]) -> int | None:
    ranks = {r for r in map(site.rank, tensors) if r is not None}
    if len(ranks) > 1:
        low, high = sorted(ranks)[:2]
        site.fail(
            "OBL-rank-operand", f"tensors of rank {low} and {high} cannot be joined {site.of(0)}", 0
        )
    return ranks.pop() if ranks else None


def _some(site: OperatorCall, tensors: Sequence[Tensor]) -> Tensor:
    """The first of the tensors with what they have in common."""
    if not tensors:
        site.fail("OBL-rank-operand", "expected at least one tensor to join", 0)
    at = (0,) * len(tensors)
    return TensorStructInfo(None, agree(site, tensors, at), -1, place(site, tensors, at))


@operator(
    "relax.concat",
    calls="""
    [x(a, b), x(c, b)], axis=0 | None
    [x(a, b), x(a, 3)], axis=1 | -1
    [x(a), x(b), x(4)]
    """,
    broken="""
    OBL-agree-dtype: [f(a, 3), int32(a, 4)], axis=1
    OBL-axis-range: [f(a, b), f(a, b)], axis=2
    OBL-concat-dims: [f(a, 3), f(a, 4)], axis=0
    """,
)
def concat(site: OperatorCall, tensors: Tensors, axis_: int | None = 0) -> StructInfo:
    """The tensors concatenated along an axis; vectors if no axis is given."""
    if tensors is None:
        return ranked(None, VOID)
    some, ndim = _some(site, tensors), _common_rank(site, tensors)
    if ndim is None and len(tensors) == 1 and axis_ is not None:
        return tensors[0]
    if ndim is None:
        return ranked(1 if axis_ is None else None, some.dtype, some.vdevice)
    if axis_ is None and ndim != 1:
        site.fail(
            "OBL-rank-operand", f"without an axis, only vectors can be joined, not rank {ndim}", 0
        )
    along = axis(site, axis_ or 0, ndim, ranked(ndim, some.dtype, some.vdevice))
    return resized(some, joined(site, tensors, along), ndim)


@computes("relax.concat")
def concat_value(tensors: tuple[Array, ...], axis: int | None) -> Array:
    """The tensors concatenated along an axis."""
    along = arrays.axis_of(axis or 0, tensors[0].ndim)
    _alike(tensors, along)
    return np.concatenate(tensors, along)


@defines("relax.concat")
def concat_definition(out: Result, tensors: Sequence[te.Tensor], axis: int | None) -> te.Tensor:
    along = exprs.axis_of(axis or 0, out.ndim)
    starts = [exprs.int64(0)]
    for each in tensors[:-1]:
        starts.append(linear.simplified(starts[-1] + each.shape[along]))

    def element(*i: te.Scalar) -> te.Scalar:
        def part(k: int) -> te.Scalar:
            at = [v - starts[k] if d == along else v for d, v in enumerate(i)]
            return te.cast(out.dtype, tensors[k](*at))

        return _halves(range(len(tensors)), part, lambda k: i[along] < starts[k])

    return exprs.filled(out, element)


def _halves(
    parts: range, part: Callable[[int], te.Scalar], before: Callable[[int], te.Scalar]
) -> te.Scalar:
    """The part in which an index is; ``before`` says whether it is before the start of one. Of many
    parts each is behind few conditions, so that neither the kernel nor the proof that it reads
    inside grows with the square of their number.
    """
    if len(parts) == 1:
        return part(parts[0])
    half = len(parts) // 2
    first, second = (_halves(some, part, before) for some in (parts[:half], parts[half:]))
    return te.if_then_else(before(parts[half]), first, second)


@operator(
    "relax.stack",
    calls="""
    [x(a, b), x(a, b)], axis=None | 0 | 1 | -1
    [x(a), x(a), x(a)], axis=0 | 1
    """,
    broken="OBL-concat-dims: [f(a, 3), f(a, 4)]",
)
def stack(site: OperatorCall, tensors: Tensors, axis_: int | None = 0) -> StructInfo:
    """Tensors of the same shape stacked along a new axis."""
    if tensors is None:
        return ranked(None, VOID)
    some, ndim = _some(site, tensors), _common_rank(site, tensors)
    need_known(site, "rank", (0, tensors[0]))
    if ndim is None:
        return ranked(None, some.dtype, some.vdevice)
    along = axis(site, axis_ or 0, ndim + 1, ranked(ndim + 1, some.dtype, some.vdevice))
    dims = joined(site, tensors, None)
    new = None if dims is None else (*dims[:along], const(len(tensors)), *dims[along:])
    return resized(some, new, ndim + 1)


@computes("relax.stack")
def stack_value(tensors: tuple[Array, ...], axis: int | None) -> Array:
    _alike(tensors, None)
    return np.stack(tensors, arrays.axis_of(axis or 0, tensors[0].ndim + 1))


@defines("relax.stack")
def stack_definition(out: Result, tensors: Sequence[te.Tensor], axis: int | None) -> te.Tensor:
    along = exprs.axis_of(axis or 0, out.ndim)

    def element(*i: te.Scalar) -> te.Scalar:
        rest = [v for k, v in enumerate(i) if k != along]
        return _halves(
            range(len(tensors)),
            lambda k: tensors[k](*rest),
            lambda k: i[along] < exprs.int64(k),
        )

    return exprs.filled(out, element)


MOST_PARTS = 65536
"""The maximum number of parts, since each is a field of the result's type."""


@rule("OBL-split", "obligation")
def part_lengths(
    site: OperatorCall, length: PrimExpr, cut: int | tuple[int, ...]
) -> list[PrimExpr]:
    """The lengths of the parts of an axis, which must not be negative."""
    if isinstance(cut, int):
        return _sections(site, length, cut)
    # TVM derives a type for indices that do not ascend from 0, which it then does not compile.
    if list(cut) != sorted(cut) or any(k < 0 for k in cut):
        site.warn(
            "OBL-split-indices",
            f"the indices {list(cut)} must ascend from 0; otherwise the parts overlap",
            1,
        )
    low = 0
    found: list[PrimExpr] = []
    for high in cut:
        found.append(_between(max(low, 0), max(high, 0), length))
        low = high
    return [*found, sub(length, minimum(const(max(low, 0)), length))]


def _between(low: int, high: int, length: PrimExpr) -> PrimExpr:
    """The number of places of an axis from one index to another: 0 if the other comes first."""
    if high <= low:
        return ZERO
    before = minimum(const(high), length)
    return sub(before, minimum(const(low), length)) if low else before


def _sections(site: OperatorCall, length: PrimExpr, count: int) -> list[PrimExpr]:
    whole = exact(length, count)
    if whole is not None:
        site.ctx.discharged += 1
        return [whole] * count
    each = ceildiv(length, const(count))
    last = sub(length, mul(each, const(count - 1)))
    if (literal(last) or -1) >= 0:
        site.ctx.discharged += 1
    else:
        site.require(
            "OBL-split-sections",
            GE(last, ZERO),
            lambda: (
                f"{count - 1} sections of length {show(each)} do not fit into the axis of"
                f" length {show(length)} {site.of(0)}"
            ),
            0,
        )
    return [each] * (count - 1) + [last]


@operator(
    "relax.split",
    calls="""
    x(a, 12), indices_or_sections=3 | 2 | [3, 7] | [4], axis=1 | -1
    x(a * 2, b), indices_or_sections=2, axis=0
    x(10), indices_or_sections=[3, 5] | 5 | 2
    """,
    broken="""
    OBL-split-sections: f(a, 3), indices_or_sections=0, axis=1
    OBL-split-indices: f(10), indices_or_sections=[5, 3], axis=0
    OBL-split-indices: f(10), indices_or_sections=[-2, 3], axis=0
    OBL-split-limit: f(a, 4), indices_or_sections=65537, axis=1
    """,
)
def split(
    site: OperatorCall, x: Tensor, indices_or_sections: IntOrInts, axis_: int = 0
) -> StructInfo:
    """An axis split into equal sections (the last may be shorter), or at indices. A single part is
    the tensor itself.
    """
    cut = indices_or_sections
    count = cut if isinstance(cut, int) else len(cut) + 1
    if count < 1:
        site.fail(
            "OBL-split-sections", f"the number of sections is {count}, expected at least 1", 1
        )
    if count > MOST_PARTS:
        site.fail(
            "OBL-split-limit", f"{count} parts are requested; at most {MOST_PARTS} are supported", 1
        )
    ndim, dims = site.rank(x), site.dims(x)
    best = x if count == 1 else fields([ranked(ndim, x.dtype, x.vdevice)] * count)
    along = 0 if ndim is None else axis(site, axis_, ndim, best)
    if dims is None or count == 1:
        return best
    shapes = [
        (*dims[:along], length, *dims[along + 1 :])
        for length in part_lengths(site, dims[along], cut)
    ]
    return fields([tensor(shape, x.dtype, x.vdevice) for shape in shapes])


@computes("relax.split")
@rule("E-split", "computation")
def split_value(x: Array, cut: int | tuple[int, ...], axis: int) -> Any:
    """An axis split into equal sections (the last may be shorter), or at indices."""
    along = arrays.axis_of(axis, x.ndim)
    length = x.shape[along]
    if isinstance(cut, int):
        each = -(-length // cut) if cut > 0 else -1
        if each * (cut - 1) > length or cut < 1:
            raise OperatorFault(
                "E-split-sections", f"{length} elements cannot be split into {cut} sections"
            )
        bounds = [each * k for k in range(cut)] + [length]
    else:
        inner = [min(int(k), length) for k in cut]
        bounds = [0, *inner, length]
        if bounds != sorted(bounds):
            raise OperatorFault(
                "E-split-sections",
                f"the indices {cut} do not ascend from 0 to the length of the axis",
            )
    parts = tuple(np.take(x, np.arange(low, high), along) for low, high in pairwise(bounds))
    return parts[0] if len(parts) == 1 else parts


@defines("relax.split")
def split_definition(out: Any, x: te.Tensor, cut: int | tuple[int, ...], axis: int) -> Any:
    """An axis split into equal sections, or at indices."""
    along = exprs.axis_of(axis, x.ndim)
    if isinstance(out, Result):
        return exprs.filled(out, x, "T_split")
    length = x.shape[along]
    if isinstance(cut, int):
        each = te.ceildiv(length, exprs.int64(cut))
        starts = [each * k for k in range(cut)]
    else:
        starts = [exprs.int64(0), *(te.minimum(exprs.int64(k), length) for k in cut)]

    def part(target: Result, start: te.Scalar, number: int) -> te.Tensor:
        return exprs.filled(
            target,
            lambda *i: x(*(v + start if k == along else v for k, v in enumerate(i))),
            f"T_split_{number}",
        )

    return tuple(
        part(target, start, k) for k, (target, start) in enumerate(zip(out, starts, strict=True))
    )


@operator(
    "relax.meshgrid",
    calls="""
    [x(a), x(b)], indexing=None | 'ij'
    [x(a), x(b), x(3)]
    """,
)
def meshgrid(site: OperatorCall, tensors: Tensors, indexing: str | None = "ij") -> StructInfo:
    """The coordinates of the grid that the vectors span.

    With ``indexing="xy"`` the first two axes are exchanged, as in NumPy.
    """
    if tensors is None:
        return OBJECT
    some = _some(site, tensors)
    for vector in tensors:
        if (ndim := site.rank(vector)) not in (None, 1):
            words = f"a tensor of rank {ndim} {site.of(0)} is not a vector"
            site.fail("OBL-rank-operand", words, 0)
    need_known(site, "rank", *((0, vector) for vector in tensors))
    first = next((t.dtype for t in tensors if not t.dtype.is_void), some.dtype)
    shapes = [site.dims(vector) for vector in tensors]
    if any(shape is None for shape in shapes):
        return fields([ranked(len(tensors), first, some.vdevice)] * len(tensors))
    dims = [shape[0] for shape in shapes if shape is not None]
    if indexing == "xy":
        dims[:2] = dims[1::-1]
    return fields([tensor(dims, first, some.vdevice)] * len(tensors))


@computes("relax.meshgrid")
def meshgrid_value(tensors: tuple[Array, ...], indexing: str | None) -> tuple[Array, ...]:
    """The coordinates of the grid that the vectors span."""
    found = np.meshgrid(*tensors, indexing="xy" if indexing == "xy" else "ij")
    return tuple(np.asarray(grid).copy() for grid in found)


@defines("relax.meshgrid")
def meshgrid_definition(
    out: Sequence[Result], tensors: Sequence[te.Tensor], indexing: str | None
) -> tuple[te.Tensor, ...]:
    order = list(range(len(tensors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]

    def spread(target: Result, tensor: te.Tensor, axis: int) -> te.Tensor:
        return exprs.filled(target, lambda *i: tensor(i[axis]), f"T_meshgrid_{axis}")

    return tuple(
        spread(target, tensor, axis)
        for target, tensor, axis in zip(out, tensors, order, strict=True)
    )


# ---------------------------------------------------------------- values


@rule("E-join", "computation")
def _alike(tensors: tuple[Array, ...], along: int | None) -> None:
    first = tensors[0].shape
    for other in tensors:
        if other.ndim != len(first) or any(
            n != m for k, (n, m) in enumerate(zip(first, other.shape, strict=True)) if k != along
        ):
            where = "" if along is None else f" along axis {along}"
            raise OperatorFault(
                "E-join-dims", f"the shapes {first} and {other.shape} cannot be joined{where}"
            )
