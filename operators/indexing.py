"""Gathering and scattering by indices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, reduce
from itertools import pairwise, zip_longest
from typing import Any

from rlx.grammar.nodes.ast import PrimStructInfo, StructInfo, TensorStructInfo, Tuple
from rlx.grammar.nodes.dtype import INT32, INT64
from rlx.grammar.nodes.tir import GE, LT, PrimExpr
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array
from rlx.operators.dim_arithmetic import ONE, ZERO, const, literal, same
from rlx.operators.elementwise import broadcast
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result, decline
from rlx.operators.late import np, scalars, te
from rlx.operators.movement import unflat
from rlx.operators.operator_call import Dims, OperatorCall, show, show_shape
from rlx.operators.parameters import IntExpr, OneOrTensors, Operand, Prim, Tensor, Tensors
from rlx.operators.registry import computes, defines, operator
from rlx.operators.rule_helpers import (
    agree,
    axis,
    elements,
    fields,
    like,
    need_known,
    rank,
    ranked,
    resized,
    scalar_type,
    stated,
    tensor,
    value_of,
)
from rlx.spec.registry import need, rule


@rule("OBL-bounds", "obligation")
def within(
    site: OperatorCall, index: int, given: Sequence[PrimExpr], length: PrimExpr, negative: bool
) -> None:
    """Check that indices that an argument is known to hold are within the axis."""
    for value in given:
        number = literal(value)
        if number is not None and number < 0 and negative:
            holds: tuple[PrimExpr, ...] = (GE(length, const(-number)),)
        elif number is not None and number >= 0:
            holds = (LT(value, length),)
        else:
            holds = (GE(value, ZERO), LT(value, length))
        words = partial(_outside, site, value, length, negative)
        site.require_of_value("OBL-bounds-index", holds, words, index)


def _outside(site: OperatorCall, index: PrimExpr, length: PrimExpr, negative: bool) -> str:
    words = (
        f"the index {show(index)} is out of bounds for an axis of length {show(length)} "
        f"{site.of(0)}"
    )
    number, most = literal(index), literal(length)
    if negative or number is None or most is None or not -most <= number < 0:
        return words
    return f"{words}, and negative ones do not count from the end: write {number + most}"


def extremes(numbers: Iterable[int | float]) -> list[PrimExpr]:
    """The least and the greatest of some integers."""
    found = {int(number) for number in numbers}
    return [const(number) for number in sorted({min(found), max(found)})] if found else []


def _of_tuples(site: OperatorCall, depth: int, dims: Dims) -> None:
    """Check the indices of a ``*_nd`` operator, where the text states them."""
    numbers = stated(site, site.argument(1))
    for k, length in enumerate(dims[:depth]):
        within(site, 1, extremes(numbers[k::depth]), length, True)


def _of_each_axis(site: OperatorCall, dims: Dims) -> None:
    """Check indices of which there is one tensor for each axis, where the text states them."""
    given = site.argument(1)
    listed = value_of(site, given)
    tensors = listed.fields if isinstance(listed, Tuple) else (given,)
    for indices, length in zip(tensors, dims, strict=False):
        within(site, 1, extremes(stated(site, indices)), length, True)


@operator(
    "relax.take",
    calls="""
    x(a, b), i(c) | i(c, 3) | i(), axis=0 | 1 | -1, mode=None | 'clip' | 'wrap'
    x(a), i(c) | i(c, 3), axis=None | 0
    """,
    broken="""
    OBL-element-integer: f(a, b), float32(c), axis=0
    OBL-bounds-index: f(a, 3), const(5, 'int64'), axis=1
    """,
)
def take(
    site: OperatorCall, x: Tensor, indices: Operand, axis_: int | None = None, mode: str = "fast"
) -> StructInfo:
    """The slices of an axis that the indices select, in the indices' shape."""
    elements(site, indices, 1, "integer")
    ndim = site.rank(x)
    if axis_ is None:
        ndim = rank(site, x, 0, 1)
        need_known(site, "rank", (0, x))
    if ndim is None:
        return ranked(None, x.dtype, x.vdevice)
    along = axis(site, axis_ or 0, ndim)
    dims = site.dims(x)
    if dims is not None and (mode == "fast" or (mode == "nan" and x.dtype.is_integer)):
        if isinstance(indices, PrimStructInfo):
            known = [] if indices.value is None else [indices.value]
        else:
            known = extremes(stated(site, site.argument(1)))
        within(site, 1, known, dims[along], False)
    if isinstance(indices, PrimStructInfo):
        places: Dims | None = ()
        count: int | None = 0
    else:
        places, count = site.dims(indices), site.rank(indices)
    if dims is None or places is None:
        return ranked(None if count is None else ndim - 1 + count, x.dtype, x.vdevice)
    return resized(x, (*dims[:along], *places, *dims[along + 1 :]), None)


@computes("relax.take")
def take_value(x: Array, indices: Any, axis: int | None, mode: str) -> Array:
    along = arrays.axis_of(axis or 0, x.ndim)
    length = x.shape[along]
    given = np.asarray(indices, dtype=np.int64 if isinstance(indices, int) else None)
    if mode == "wrap" and length:
        given = np.mod(given.astype(np.int64), length)
    elif mode == "clip" and length:
        given = np.clip(given.astype(np.int64), 0, length - 1)
    elif mode == "nan":
        return _take_or_nan(x, given, along)
    return np.asarray(np.take(x, from_zero(given, length, negative=False), along))


def _take_or_nan(x: Array, given: Array, along: int) -> Array:
    length = x.shape[along]
    outside = (given < 0) | (given >= length)
    if not outside.any():
        return np.asarray(np.take(x, given.astype(np.intp), along))
    if not (arrays.is_float(x.dtype) and np.isnan(np.array(np.nan).astype(x.dtype))):
        words = (
            f"an index is out of bounds for an axis of length {length}, and {x.dtype} has no"
            " NaN to return"
        )
        raise OperatorFault("E-index-range", words, given)
    if not length:
        raise OperatorFault("E-index-range", "an index is out of bounds for an axis of length 0")
    found = np.take(x, np.where(outside, 0, given).astype(np.intp), along)
    found[(*[slice(None)] * along, outside)] = np.nan
    return found


@defines("relax.take")
def take_definition(
    out: Result, x: te.Tensor, indices: Any, axis: int | None, mode: str
) -> te.Tensor:
    along = exprs.axis_of(axis or 0, x.ndim)
    length = x.shape[along]
    rank = 0 if isinstance(indices, te.Scalar) else indices.ndim
    nan = mode == "nan"

    def element(*i: te.Scalar) -> te.Scalar:
        given = i[along : along + rank]
        index = indices if isinstance(indices, te.Scalar) else indices(*given)
        at = te.cast("int64", index)
        found = x(*i[:along], by_mode(at, length, mode), *i[along + rank :])
        if not nan:
            return found
        if not x.dtype.is_float:
            decline("its elements cannot be NaN")
        inside = exprs.both(at >= exprs.int64(0), at < length)
        return te.if_then_else(inside, found, te.const(float("nan"), x.dtype))

    if nan and length.value is None:
        decline("the axis may be empty, and no index into it is valid")
    return exprs.filled(out, element)


def by_mode(at: te.Scalar, length: te.Scalar, mode: str) -> te.Scalar:
    """The position that an index means in a mode."""
    match mode:
        case "wrap":
            return at % length
        case "clip":
            return exprs.nearest(at, length)
    return at


@rule("OBL-gather", "obligation")
def gathered(
    site: OperatorCall, data: TensorStructInfo, indices: TensorStructInfo, along: int
) -> None:
    """Check that the indices are no longer than the data along every other axis."""
    a, b = site.dims(data), site.dims(indices)
    enough = site.together("OBL-gather-dims", 1)
    for k, (length, count) in enumerate(zip(a or (), b or (), strict=False)):
        if k == along:
            continue
        if same(length, count):
            site.ctx.discharged += 1
            continue
        enough.require(
            GE(length, count),
            lambda k=k, length=length, count=count: (  # type: ignore[misc]
                f"{show(count)} indices {site.of(1)} are given along axis {k}, which has"
                f" length {show(length)} {site.of(0)}"
            ),
        )
    enough.settle()


@operator(
    "relax.gather_elements",
    calls="""
    x(a, 4), i(a, 2) | i(a, 4), axis=1
    x(10, 4), i(3, 4), axis=0
    """,
    broken="""
    OBL-element-signed: f(a, 4), uint8(a, 2), axis=1
    OBL-gather-dims: f(3, 4), int64(5, 4), axis=1
    """,
)
def gather_elements(
    site: OperatorCall, data: Tensor, indices: Tensor, axis_: int = 0
) -> StructInfo:
    """For each index, the element at its own position, except along the axis, where the index
    selects.
    """
    elements(site, indices, 1, "signed")
    ndim = site.rank(data)
    if ndim is None:
        return resized(data, site.dims(indices), site.rank(indices))
    along = axis(site, axis_, ndim)
    rank(site, indices, 1, ndim)
    gathered(site, data, indices, along)
    dims = site.dims(data)
    if dims is not None:
        within(site, 1, extremes(stated(site, site.argument(1))), dims[along], True)
    return resized(data, site.dims(indices), ndim)


@computes("relax.gather_elements")
def gather_elements_value(x: Array, indices: Array, axis: int) -> Array:
    along = arrays.axis_of(axis, x.ndim)
    for k, (n, m) in enumerate(zip(indices.shape, x.shape, strict=True)):
        if k != along and n > m:
            raise OperatorFault("E-index-range", f"{n} indices are given for an axis of length {m}")
    grid = list(np.ix_(*(np.arange(n) for n in indices.shape)))
    grid[along] = from_zero(indices, x.shape[along])
    return np.asarray(x[tuple(grid)])


@defines("relax.gather_elements")
def gather_elements_definition(
    out: Result, x: te.Tensor, indices: te.Tensor, axis: int
) -> te.Tensor:
    along = exprs.axis_of(axis, x.ndim)

    def element(*i: te.Scalar) -> te.Scalar:
        at = counted(indices(*i), x.shape[along])
        return x(*(at if k == along else v for k, v in enumerate(i)))

    return exprs.filled(out, element)


def _depth(site: OperatorCall, indices: TensorStructInfo, index: int) -> int | None:
    """The number of axes that each index tuple of a ``*_nd`` operator names; None if unknown."""
    rank(site, indices, index, 1, -1)
    dims = site.dims(indices)
    return None if dims is None else literal(dims[-1])


@rule("OBL-tuples", "obligation")
def tuples(site: OperatorCall, depth: int, ndim: int, indices: int) -> None:
    """Check that the last dimension of the indices does not exceed the number of axes to index."""
    if depth > ndim:
        site.fail(
            "OBL-tuples-depth",
            (
                f"the last dimension {site.of(indices)} is {depth}, but only {ndim} axes {site.of(0)}"
                " can be indexed"
            ),
            indices,
        )


@operator(
    "relax.gather_nd",
    calls="""
    x(a, b, 5), int64(c, 2) | int64(c, 1) | int64(3, c, 3)
    x(a, b, 5), int64(a, 2), batch_dims=1
    """,
    broken="""
    OBL-element-type: f(a, 4), int32(b, 2)
    OBL-tuples-depth: f(a, b), int64(c, 3)
    OBL-batches-count: f(a, 4), int64(b, 2), batch_dims=2
    """,
)
def gather_nd(site: OperatorCall, data: Tensor, indices: Tensor, batch_dims: int = 0) -> StructInfo:
    """The slices that the tuples along the indices' last axis select."""
    elements(site, indices, 1, "int64")
    depth, ndim = _depth(site, indices, 1), site.rank(data)
    batches(site, batch_dims, indices, data)
    if depth is None or ndim is None:
        return ranked(None, data.dtype, data.vdevice)
    tuples(site, depth, ndim - batch_dims, 1)
    places, dims = site.dims(indices), site.dims(data)
    if places is None or dims is None:
        count = site.rank(indices)
        return ranked(
            None if count is None else count - 1 + ndim - batch_dims - depth,
            data.dtype,
            data.vdevice,
        )
    _of_tuples(site, depth, dims[batch_dims:])
    return resized(data, (*places[:-1], *dims[batch_dims + depth :]), None)


@computes("relax.gather_nd")
def gather_nd_value(x: Array, indices: Array, batch: int) -> Array:
    depth = indices.shape[-1]
    grid: list[Array] = [
        np.arange(n).reshape([n if j == k else 1 for j in range(indices.ndim - 1)])
        for k, n in enumerate(indices.shape[:batch])
    ]
    grid += [from_zero(indices[..., k], x.shape[batch + k]) for k in range(depth)]
    return np.array(x[tuple(grid)]) if grid else x.copy()


@defines("relax.gather_nd")
def gather_nd_definition(out: Result, x: te.Tensor, indices: te.Tensor, batch: int) -> te.Tensor:
    depth = indices.shape[-1].value
    assert isinstance(depth, int)  # the rank of the result depends on it
    lead = indices.ndim - 1

    def element(*i: te.Scalar) -> te.Scalar:
        named = [
            counted(indices(*i[:lead], exprs.int64(k)), x.shape[batch + k]) for k in range(depth)
        ]
        return x(*i[:batch], *named, *i[lead:])

    return exprs.filled(out, element)


@rule("OBL-batches", "obligation")
def batches(
    site: OperatorCall, batch: int, indices: TensorStructInfo, data: TensorStructInfo
) -> None:
    """Check that data and indices have the shared batch axes, not counting the last axis of the
    indices.
    """
    ranks = (site.rank(indices), site.rank(data))
    most = min([r - k for r, k in zip(ranks, (1, 0), strict=True) if r is not None], default=batch)
    if not 0 <= batch <= most:
        site.fail("OBL-batches-count", f"batch_dims is {batch}, expected 0 to {max(most, 0)}")


@rule("OBL-scatter", "obligation")
def scattered(
    site: OperatorCall, wanted: Dims, updates: TensorStructInfo, index: int, what: str
) -> None:
    """Check that the updates have the shape of the positions that the indices select."""
    rank(site, updates, index, len(wanted))
    alike = site.together("OBL-scatter-updates", index)
    for k, (a, b) in enumerate(zip(wanted, site.dims(updates) or (), strict=False)):
        alike.equal(
            a,
            b,
            lambda k=k, a=a, b=b: (  # type: ignore[misc]
                f"the updates {site.of(index)} must have the shape {show_shape(wanted)} of {what}: "
                f"{show(b)} against {show(a)} along axis {k}"
            ),
        )
    alike.settle()


@operator(
    "relax.scatter_elements",
    calls="""
    t(8, 4), i(3, 4), t(3, 4), axis=None | 0, reduction=None | 'add' | 'max'
    t(a, 4), i(a, 2), t(a, 2), axis=-1 | 1, reduction=None | 'add'
    """,
    broken="OBL-scatter-updates: f(8, 4), int64(3, 4), f(2, 4), axis=0",
)
def scatter_elements(
    site: OperatorCall,
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    axis_: int = 0,
    reduction: str = "update",
) -> StructInfo:
    """The data with each update at the index along the axis."""
    elements(site, indices, 1, "integer")
    agree(site, (data, updates), (0, 2))
    ndim = site.rank(data)
    if ndim is not None:
        along = axis(site, axis_, ndim, data)
        rank(site, indices, 1, ndim)
        dims = site.dims(data)
        if dims is not None:
            within(site, 1, extremes(stated(site, site.argument(1))), dims[along], True)
    places = site.dims(indices)
    if places is not None:
        scattered(site, places, updates, 2, "the indices")
    return data


@computes("relax.scatter_elements")
def scatter_elements_value(
    x: Array, indices: Array, updates: Array, axis: int, reduction: str
) -> Array:
    along = arrays.axis_of(axis, x.ndim)
    fit(updates, indices.shape)
    for k, (n, m) in enumerate(zip(indices.shape, x.shape, strict=True)):
        if k != along and n > m:
            raise OperatorFault("E-index-range", f"{n} indices are given for an axis of length {m}")
    grid = list(np.ix_(*(np.arange(n) for n in indices.shape)))
    grid[along] = from_zero(indices, x.shape[along])
    return _put(x, tuple(grid), updates, reduction) if indices.size else x.copy()


@defines("relax.scatter_elements")
def scatter_elements_definition(
    out: Result, x: te.Tensor, indices: te.Tensor, updates: te.Tensor, axis: int, reduction: str
) -> te.Tensor:
    along = exprs.axis_of(axis, x.ndim)
    places = line(x.shape[along])
    at = te.compute(
        indices.shape, lambda *j: places(counted(indices(*j), x.shape[along])), name="T_at"
    )

    def hits(j: Sequence[te.Scalar], i: Sequence[te.Scalar]) -> te.Scalar:
        found = exprs.equals(at(*j), i[along])
        for k in range(x.ndim):
            if k != along:
                found = exprs.both(found, exprs.equals(j[k], i[k]))
        return found

    return _put_definition(out, x, indices.shape, hits, lambda j, i: updates(*j), reduction)


@operator(
    "relax.scatter_nd",
    calls="""
    t(a, 4), int64(c, 1), t(c, 4), reduction=None | 'add'
    t(a, 4), int64(c, 2), t(c)
    """,
    broken="""
    OBL-tuples-depth: f(a, 4), int64(c, 3), f(c)
    OBL-scatter-updates: f(a, 4), int64(5, 1), f(3, 4)
    """,
)
def scatter_nd(
    site: OperatorCall, data: Tensor, indices: Tensor, updates: Tensor, reduction: str = "update"
) -> StructInfo:
    """The data with each update at its tuple of indices."""
    elements(site, indices, 1, "integer")
    agree(site, (data, updates), (0, 2))
    need_known(site, "dtype", (0, data), (2, updates))
    depth, ndim = _depth(site, indices, 1), site.rank(data)
    if site.dims(indices) is not None and depth is None:
        site.warn(
            "OBL-tuples-literal",
            f"the last dimension of {site.shown(1)} must be a literal: it decides the result's"
            " rank",
            1,
        )
    if depth is not None and ndim is not None:
        tuples(site, depth, ndim, 1)
        places, dims = site.dims(indices), site.dims(data)
        if places is not None and dims is None:
            rank(site, updates, 2, len(places) - 1 + ndim - depth)
        if places is not None and dims is not None:
            scattered(site, (*places[:-1], *dims[depth:]), updates, 2, "indices and data")
            _of_tuples(site, depth, dims)
    return data


@computes("relax.scatter_nd")
def scatter_nd_value(x: Array, indices: Array, updates: Array, reduction: str) -> Array:
    depth = indices.shape[-1]
    wanted = (*indices.shape[:-1], *x.shape[depth:])
    fit(updates, wanted)
    grid = tuple(from_zero(indices[..., k], x.shape[k]) for k in range(depth))
    return _put(x, grid, updates, reduction) if updates.size else x.copy()


@defines("relax.scatter_nd")
def scatter_nd_definition(
    out: Result, x: te.Tensor, indices: te.Tensor, updates: te.Tensor, reduction: str
) -> te.Tensor:
    depth = indices.shape[-1].value
    assert isinstance(depth, int)  # the rank of the result depends on it
    at = [_checked(indices, k, x.shape[k]) for k in range(depth)]

    def hits(j: Sequence[te.Scalar], i: Sequence[te.Scalar]) -> te.Scalar:
        return exprs.every(exprs.equals(place(*j), i[k]) for k, place in enumerate(at))

    return _put_definition(
        out, x, indices.shape[:-1], hits, lambda j, i: updates(*j, *i[depth:]), reduction
    )


def _checked(indices: te.Tensor, number: int, length: te.Scalar) -> te.Tensor:
    places = line(length, f"T_line_{number}")
    return te.compute(  # type: ignore[no-any-return]
        indices.shape[:-1],
        lambda *j: places(counted(indices(*j, exprs.int64(number)), length)),
        name=f"T_at_{number}",
    )


@operator(
    "relax.index_tensor",
    calls="""
    x(a, b, 5), [i(c)]
    x(a, b, 5), [i(c), i(c)]
    x(a, b, 5), [i(2, 1), i(1, 3)]
    """,
)
def index_tensor(site: OperatorCall, data: Tensor, indices: Tensors) -> StructInfo:
    """Leading axes replaced by the common shape of the indices into them."""
    ndim, dims = site.rank(data), site.dims(data)
    if indices is None:
        return ranked(None, data.dtype, data.vdevice)
    if not indices:
        site.fail("OBL-rank-operand", "expected at least one tensor of indices", 1)
    for info in indices:
        elements(site, info, 1, "signed")
    if ndim is not None:
        tuples(site, len(indices), ndim, 1)
    places = _common(site, indices)
    if dims is None or places is None:
        ranks = [site.rank(info) for info in indices]
        most = None if None in ranks else max(r or 0 for r in ranks)
        left = None if ndim is None or most is None else most + ndim - len(indices)
        return ranked(left, data.dtype, data.vdevice)
    _of_each_axis(site, dims)
    return resized(data, (*places, *dims[len(indices) :]), None)


@computes("relax.index_tensor")
def index_tensor_value(x: Array, indices: Sequence[Array]) -> Array:
    arrays.broadcast(*indices)
    grid = tuple(from_zero(index, x.shape[k]) for k, index in enumerate(indices))
    return np.array(x[grid])


@defines("relax.index_tensor")
def index_tensor_definition(out: Result, x: te.Tensor, indices: Sequence[te.Tensor]) -> te.Tensor:
    rank = max(index.ndim for index in indices)

    def element(*i: te.Scalar) -> te.Scalar:
        named = [
            counted(exprs.broadcast(index, i[:rank]), x.shape[k]) for k, index in enumerate(indices)
        ]
        return x(*named, *i[rank:])

    return exprs.filled(out, element)


def _common(site: OperatorCall, indices: tuple[TensorStructInfo, ...]) -> Dims | None:
    shapes = [site.dims(info) for info in indices]
    places: Dims | None = shapes[0] if shapes else ()
    for shape in shapes[1:]:
        if places is None or shape is None:
            return None
        places = broadcast(site, places, shape, 1, 1)
    return places


@operator(
    "relax.index_put",
    calls="""
    x(a, b), [i(c), i(c)], x(c), accumulate=None | True
    x(a), [i(c)], x(c)
    """,
    broken="OBL-every-axis: f(a, b), [int64(c)], f(c)",
)
def index_put(
    site: OperatorCall, data: Tensor, indices: OneOrTensors, values: Tensor, accumulate: int = False
) -> StructInfo:
    """The data with values at positions given by one index for every axis."""
    agree(site, (data, values), (0, 2))
    ndim = site.rank(data)
    if indices is not None:
        for info in indices:
            elements(site, info, 1, "integer")
            rank(site, info, 1, 1, -1)
        if ndim is not None:
            every(site, len(indices), ndim)
            _of_each_axis(site, site.dims(data) or ())
        _common(site, indices)
    return data


@computes("relax.index_put")
def index_put_value(x: Array, indices: Sequence[Array], values: Array, accumulate: int) -> Array:
    shape = arrays.broadcast(*indices)
    grid = tuple(
        np.broadcast_to(from_zero(index, x.shape[k]), shape) for k, index in enumerate(indices)
    )
    wanted = (*shape, *x.shape[len(grid) :])
    more = max(values.ndim - len(wanted), 0)
    if values.shape[:more] == (1,) * more:  # as in an assignment of NumPy
        values = values.reshape(values.shape[more:])
    fit(
        np.broadcast_to(np.int8(0), arrays.broadcast(values, np.broadcast_to(np.int8(0), wanted))),
        wanted,
    )
    given = np.broadcast_to(values, wanted)
    return _put(x, grid, given, "add" if accumulate else "update") if given.size else x.copy()


@defines("relax.index_put")
def index_put_definition(
    out: Result, x: te.Tensor, indices: Sequence[te.Tensor], values: te.Tensor, accumulate: int
) -> te.Tensor:
    one = exprs.int64(1)

    def common(a: te.Scalar, b: te.Scalar) -> te.Scalar:
        if exprs.is_one(b) or a.written_as(b):
            return a
        return b if exprs.is_one(a) else te.select(exprs.equals(a, one), b, a)

    from_last = zip_longest(*(reversed(tensor.shape) for tensor in indices), fillvalue=one)
    shape = [*reversed([reduce(common, dims) for dims in from_last])]

    def placed(number: int) -> te.Tensor:
        places = line(x.shape[number], f"T_line_{number}")
        return te.compute(  # type: ignore[no-any-return]
            shape,
            lambda *j: places(counted(exprs.broadcast(indices[number], j, shape), x.shape[number])),
            name=f"T_at_{number}",
        )

    at = [placed(number) for number in range(len(indices))]

    def hits(j: Sequence[te.Scalar], i: Sequence[te.Scalar]) -> te.Scalar:
        return exprs.every(exprs.equals(place(*j), i[k]) for k, place in enumerate(at))

    def update(j: Sequence[te.Scalar], i: Sequence[te.Scalar]) -> te.Scalar:
        whole = [*j, *i[len(at) :]]
        return exprs.broadcast(values, whole, [*shape, *x.shape[len(at) :]])

    return _put_definition(out, x, shape, hits, update, "add" if accumulate else "update")


@rule("OBL-every", "obligation")
def every(site: OperatorCall, count: int, ndim: int) -> None:
    """Check that there is one tensor of indices for each axis."""
    if count != ndim:
        words = f"{count} tensors of indices are given for rank {ndim} {site.of(0)}"
        site.fail("OBL-every-axis", words, 1)


@operator(
    "relax.one_hot",
    calls="i(a) | i(a, b), prim(1), prim(0), depth=4, axis=None | 0 | -1",
    broken="OBL-depth-positive: i(a), prim(1), prim(0), depth=0",
)
def one_hot(
    site: OperatorCall,
    indices: Tensor,
    on_value: Prim,
    off_value: Prim,
    depth: int,
    axis_: int = -1,
) -> StructInfo:
    """A new axis that has one value at the index and another elsewhere."""
    elements(site, indices, 0, "integer")
    kinds = [scalar_type(site, value, at) for at, value in ((1, on_value), (2, off_value))]
    agree(site, [PrimStructInfo(kind) for kind in kinds], (1, 2))
    _positive(site, depth)
    ndim, dims = site.rank(indices), site.dims(indices)
    if ndim is None:
        return ranked(None, kinds[0], indices.vdevice)
    along = axis(site, axis_, ndim + 1)
    if dims is None:
        return ranked(ndim + 1, kinds[0], indices.vdevice)
    return tensor((*dims[:along], const(depth), *dims[along:]), kinds[0], indices.vdevice)


@computes("relax.one_hot")
def one_hot_value(indices: Array, on: Any, off: Any, depth: int, axis: int) -> Array:
    """A new axis that has one value at the index and another elsewhere; for an index out of range,
    only the other.
    """
    along = arrays.axis_of(axis, indices.ndim + 1)
    if depth < 1:
        raise OperatorFault("E-lengths-negative", f"the depth is {depth}, expected at least 1")
    line = np.arange(depth).reshape([-1 if k == along else 1 for k in range(indices.ndim + 1)])
    hit = np.expand_dims(indices, along) == line
    kind = np.float32 if isinstance(on, float) else np.int64
    return np.where(hit, kind(on), kind(off))


@defines("relax.one_hot")
def one_hot_definition(
    out: Result, indices: te.Tensor, on: Any, off: Any, depth: int, axis: int
) -> te.Tensor:
    along = exprs.axis_of(axis, out.ndim)

    def element(*i: te.Scalar) -> te.Scalar:
        at = te.cast("int64", indices(*(v for k, v in enumerate(i) if k != along)))
        here = exprs.equals(at, te.cast("int64", i[along]))
        return te.select(
            here,
            exprs.convert(scalars.scalar(on), out.dtype),
            exprs.convert(scalars.scalar(off), out.dtype),
        )

    return exprs.filled(out, element)


@rule("OBL-depth", "obligation")
def _positive(site: OperatorCall, depth: int) -> None:
    """A one-hot encoding has at least one place."""
    if depth < 1:
        site.fail("OBL-depth-positive", f"the depth is {depth}, expected at least 1", 3)


@operator("relax.nonzero", kept="the shape of its result depends on data", calls="x(a, b) | x(a)")
def nonzero(site: OperatorCall, x: Tensor) -> StructInfo:
    """The indices of the nonzero elements: one row per axis, one column per element."""
    ndim = site.rank(x)
    if ndim is None:
        return ranked(2, INT64, x.vdevice)
    return tensor((const(max(ndim, 1)), site.ctx.fresh_dim("nonzero")), INT64, x.vdevice)


@computes("relax.nonzero")
def nonzero_value(x: Array) -> Array:
    """The indices of the nonzero elements, with one row per axis."""
    return np.array(np.nonzero(np.atleast_1d(arrays.wide(x))), np.int64)


@operator(
    "relax.bucketize",
    calls="f(a, b) | f(a), f(5), out_int32=None | True, right=None | True",
    broken="OBL-boundaries-order: float32(a), const([2.0, 1.0], 'float32')",
)
def bucketize(
    site: OperatorCall,
    input_tensor: Tensor,
    boundaries: Tensor,
    out_int32: int = False,
    right: int = False,
) -> StructInfo:
    """The number of boundaries below each element."""
    rank(site, boundaries, 1, 1)
    _ascending(site)
    return like(input_tensor, INT32 if out_int32 else INT64)


@rule("OBL-boundaries", "obligation")
def _ascending(site: OperatorCall) -> None:
    """Check that boundaries that the text states are in ascending order."""
    for low, high in pairwise(stated(site, site.argument(1))):
        if not need("OBL-boundaries-order", low <= high):
            words = f"the boundaries are not in ascending order: {low} is before {high}"
            site.warn_of_fault("OBL-boundaries-order", words, 1)


@computes("relax.bucketize")
@rule("E-bucketize", "computation")
def bucketize_value(x: Array, boundaries: Array, narrow: int, right: int) -> Array:
    side: Any = "right" if right else "left"
    limits = arrays.wide(boundaries)
    if not (limits[1:] >= limits[:-1]).all() or np.isnan(limits).any():
        raise OperatorFault("E-bucketize-ascending", "the boundaries are not in ascending order")
    found = np.searchsorted(limits, arrays.wide(x), side=side)
    return np.asarray(found).astype(np.int32 if narrow else np.int64)


@defines("relax.bucketize")
def bucketize_definition(
    out: Result, x: te.Tensor, boundaries: te.Tensor, narrow: int, right: int
) -> te.Tensor:
    from rlx.grammar.nodes.dtype import BOOL

    if x.dtype != boundaries.dtype:
        decline("its operands have two types")
    if x.dtype == BOOL:
        decline("it is not defined for Booleans")
    length = boundaries.shape[0]
    # Two lines of one place: what does not ascend is read behind it, where the run stops.
    one = line(exprs.int64(1))

    def ascends(k: te.Scalar) -> te.Scalar:
        a, b = exprs.wide(boundaries(te.maximum(k - 1, exprs.int64(0)))), exprs.wide(boundaries(k))
        return te.if_then_else(b >= a, exprs.int64(0), exprs.int64(1))

    checked = te.compute((length,), lambda k: one(ascends(k)), name="T_ascending")
    k = te.reduce_axis((0, length), name="k")

    def element(*i: te.Scalar) -> Any:
        value, limit = exprs.wide(x(*i)), exprs.wide(boundaries(k))
        below = limit <= value if right else limit < value
        if value.dtype.is_float:
            below = te.any(below, te.isnan(value))
        return te.sum(te.if_then_else(below, exprs.int64(1) + checked(k), checked(k)), axis=k)

    made = te.compute(out.shape, element, name="T_bucket")
    return exprs.filled(out, made)


@operator(
    "relax.unique",
    kept="the shape of its result depends on data",
    calls="""
    x(a), sorted=None | True, return_index=None | True, return_inverse=None | True, return_counts=None | True
    x(a, b), axis=0 | None
    """,
)
def unique(
    site: OperatorCall,
    x: Tensor,
    sorted_: Prim = ONE,
    return_index: IntExpr = False,
    return_inverse: IntExpr = False,
    return_counts: IntExpr = False,
    axis_: IntExpr | None = None,
) -> StructInfo:
    """The distinct elements (or slices along an axis), and optionally their indices and counts."""
    ndim, dims = site.rank(x), site.dims(x)
    along = axis(site, axis_, ndim) if axis_ is not None and ndim is not None else 0
    number: PrimExpr = ONE if ndim == 0 else site.ctx.fresh_dim("unique")
    every: Dims | None
    if axis_ is None:
        values, every = tensor((number,), x.dtype, x.vdevice), None
    elif ndim is None or dims is None:
        values, every = ranked(ndim, x.dtype, x.vdevice), None
    else:
        values = resized(x, (*dims[:along], number, *dims[along + 1 :]), ndim)
        every = (dims[along],)
    results = [values]
    if return_index:
        results.append(tensor((number,), INT64, x.vdevice))
    if return_inverse:
        results.append(
            ranked(1, INT64, x.vdevice) if every is None else tensor(every, INT64, x.vdevice)
        )
    if return_counts:
        results.append(tensor((number,), INT64, x.vdevice))
    return results[0] if len(results) == 1 else fields(results)


@computes("relax.unique")
def unique_value(
    x: Array, ordered: int, index: int, inverse: int, counts: int, axis: int | None
) -> Any:
    """The distinct elements (or slices along an axis) in ascending order, or in order of
    appearance; optionally their indices and counts.
    """
    along = None if axis is None else arrays.axis_of(axis, x.ndim)
    found: Any = np.unique(
        arrays.wide(x), return_index=True, return_inverse=True, return_counts=True, axis=along
    )
    values, first, places, times = found
    places = places.ravel()
    if not ordered:
        appearance = np.argsort(first)
        rank = np.argsort(appearance)
        values = np.take(values, appearance, along or 0)
        first, places, times = first[appearance], rank[places], times[appearance]
    results = [arrays.back(values, x.dtype)]
    wanted = ((first, index), (places, inverse), (times, counts))
    results += [r.astype(np.int64) for r, want in wanted if want]
    return results[0] if len(results) == 1 else tuple(results)


# ---------------------------------------------------------------- values


@rule("E-index", "computation")
def from_zero(indices: Array, length: int, negative: bool = True) -> Array:
    """Indices counted from 0.

    Raises
    ------
    OperatorFault
        ``E-index-range``: if one is outside an axis of this length.
    """
    low = -length if negative else 0
    outside = (indices < low) | (indices >= length)
    if outside.any():
        wrong = int(indices[outside].reshape(-1)[0])
        words = f"the index {wrong} is out of bounds for an axis of length {length}"
        raise OperatorFault("E-index-range", words, indices)
    return np.where(indices < 0, indices + length, indices).astype(np.intp)


_REDUCTIONS = {"add": "add", "mul": "multiply", "min": "minimum", "max": "maximum"}


def _put(x: Array, grid: tuple[Array, ...], updates: Array, reduction: str) -> Array:
    """The data with updates put in, one after the other: where two meet, the last counts."""
    result = arrays.wide(x).copy()
    given = np.broadcast_to(arrays.wide(updates), result[grid].shape)
    if reduction == "update":
        _assign(result, grid, given)
    elif reduction == "mean":
        raise OperatorFault("E-operator-arguments", "reduction by mean is not defined")
    elif reduction in _REDUCTIONS:
        arrays.quiet(getattr(np, _REDUCTIONS[reduction]).at, result, grid, given)
    else:
        raise OperatorFault("E-operator-arguments", f"unknown reduction {reduction!r}")
    return arrays.back(result, x.dtype)


def _assign(result: Array, grid: tuple[Array, ...], given: Array) -> None:
    """Assign in order; NumPy leaves open which of several assignments to a place wins."""
    shape = np.broadcast_shapes(*(g.shape for g in grid))
    flat = np.ravel_multi_index(
        tuple(np.broadcast_to(g, shape).reshape(-1) for g in grid), result.shape[: len(grid)]
    )
    rows = result.reshape(int(np.prod(result.shape[: len(grid)], dtype=np.int64)), -1)
    new = given.reshape(len(flat), -1)
    _, last = np.unique(flat[::-1], return_index=True)
    keep = len(flat) - 1 - last
    rows[flat[keep]] = new[keep]


@rule("E-scatter", "computation")
def fit(updates: Array, wanted: tuple[int, ...]) -> None:
    """Check that updates have the shape of the positions that the indices select (E-scatter)."""
    if updates.shape != wanted:
        raise OperatorFault(
            "E-scatter-updates", f"the updates have shape {updates.shape}, expected {wanted}"
        )


# ---------------------------------------------------------------- definitions


def line(length: te.Scalar, name: str = "T_line") -> te.Tensor:
    """The vector of the positions of an axis; a read outside it stops the run."""
    return te.compute((length,), lambda i: te.cast("int64", i), name=name)  # type: ignore[no-any-return]


def counted(index: te.Scalar, length: te.Scalar) -> te.Scalar:
    """An index counted from 0."""
    at = te.cast("int64", index)
    # Not a select, which would add to every index: an addition that may exceed 64 bits is checked.
    return te.if_then_else(at < exprs.int64(0), at + length, at)


_JOINED: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "min": exprs.smaller,
    "max": exprs.larger,
}


def _put_definition(
    out: Result, x: te.Tensor, shape: Sequence[te.Scalar], hits: Any, update: Any, reduction: str
) -> te.Tensor:
    """The data with updates put in, one after the other.

    Parameters
    ----------
    shape
        How many updates go along each of their axes.
    hits
        Whether the update at some indices goes to an element.
    update
        The update at some indices that an element gets.
    """
    if reduction == "update":
        return _updated(out, x, shape, hits, update)
    join = _JOINED.get(reduction)
    if join is None:
        decline(f"the reduction {reduction!r} has no definition")
    exprs.need_numbers(x.dtype)
    return _joined(out, x, shape, hits, update, join)


def _updated(
    out: Result, x: te.Tensor, shape: Sequence[te.Scalar], hits: Any, update: Any
) -> te.Tensor:
    """The data with each element replaced by the last update that goes there."""
    k = te.reduce_axis((0, exprs.product(shape)), name="k")
    numbers = unflat(shape, k)
    latest = te.comm_reducer(te.maximum, lambda kind: te.const(-1, kind), "last")
    last = te.compute(
        out.shape,
        lambda *i: latest(
            te.if_then_else(hits(numbers, i), te.cast("int64", k), exprs.int64(-1)), axis=k
        ),
        name="T_last",
    )

    def chosen(*i: te.Scalar) -> te.Scalar:
        at = last(*i)
        return te.if_then_else(at >= exprs.int64(0), update(unflat(shape, at), i), x(*i))

    return exprs.filled(out, chosen)


def _joined(
    out: Result, x: te.Tensor, shape: Sequence[te.Scalar], hits: Any, update: Any, join: Any
) -> te.Tensor:
    """The data with all updates that go to an element joined with it."""
    k = te.reduce_axis((0, exprs.product(shape)), name="k")
    numbers = unflat(shape, k)

    def pair(
        a: tuple[te.Scalar, te.Scalar], b: tuple[te.Scalar, te.Scalar]
    ) -> tuple[te.Scalar, te.Scalar]:
        both_count = te.if_then_else(b[0], join(a[1], b[1]), a[1])
        return te.any(a[0], b[0]), te.if_then_else(a[0], both_count, b[1])

    joined = te.comm_reducer(
        pair, lambda some, kind: (te.const(False, some), te.const(0, kind)), "joined"
    )

    def element(*i: te.Scalar) -> Any:
        return joined((hits(numbers, i), exprs.wide(update(numbers, i))), axis=k)

    found = te.compute(out.shape, element, name="T_joined")

    def with_data(*i: te.Scalar) -> te.Scalar:
        own = exprs.wide(x(*i))
        return te.if_then_else(found[0](*i), join(own, found[1](*i)), own)

    return exprs.filled(out, with_data)
