"""Reductions over axes, arguments of extrema, scans."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import prod
from operator import add, mul
from typing import Any

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import BOOL, INT64, DataType
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array, Function
from rlx.operators.dim_arithmetic import ONE, product
from rlx.operators.elementwise import convert
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result, decline
from rlx.operators.late import later, np, te
from rlx.operators.movement import unflat
from rlx.operators.operator_call import Dims, OperatorCall
from rlx.operators.parameters import Ints, Tensor, Type
from rlx.operators.registry import Definition, computes, defines, operator
from rlx.operators.rule_helpers import axes, axis, fields, like, ranked, resized
from rlx.spec.registry import rule

PLAIN = "relax.max relax.mean relax.min relax.prod relax.std relax.sum relax.variance"
_CALLS = """
t(a, b), axis=None | 0 | -1 | [0, 1], keepdims=None | True
f(a, 3, b), axis=None | 1 | [0, 2] | [-1], keepdims=None | True
"""


def reduced(
    site: OperatorCall, x: Tensor, axis: Ints | None = None, keepdims: int = False
) -> TensorStructInfo:
    """The tensor without the reduced axes (all if none are named), or with length 1 there."""
    ndim, dims = site.rank(x), site.dims(x)
    if ndim is None:
        return ranked(0 if axis is None and not keepdims else None, x.dtype, x.vdevice)
    over = set(range(ndim)) if axis is None else set(axes(site, axis, ndim))
    if dims is None:
        if len(over) == ndim:
            return resized(x, (ONE,) * ndim if keepdims else (), None)
        return ranked(ndim if keepdims else ndim - len(over), x.dtype, x.vdevice)
    if keepdims:
        return resized(x, tuple([ONE if k in over else dim for k, dim in enumerate(dims)]), None)
    return resized(x, tuple([dim for k, dim in enumerate(dims) if k not in over]), None)


_BROKEN = """
OBL-axis-range: f(a, b), axis=[2]
OBL-axis-repeated: f(a, b), axis=[0, -2]
"""
for _name in PLAIN.split():
    operator(_name, calls=_CALLS, broken=_BROKEN if _name == "relax.sum" else "")(reduced)


@operator(
    "relax.argmax",
    calls="""
    t(a, b), axis=None | 0 | -1, keepdims=None | True
    f(a, 3, b), axis=1 | None
    """,
)
@operator(
    "relax.argmin",
    calls="""
    t(a, b), axis=None | 0 | -1, keepdims=None | True
    f(a, 3, b), axis=1 | None
    """,
)
def arg_reduced(
    site: OperatorCall, x: Tensor, axis: int | None = None, keepdims: int = False
) -> StructInfo:
    """The index of the extremum along an axis (of all elements if no axis is named)."""
    return like(reduced(site, x, None if axis is None else (axis,), keepdims), INT64)


@operator("relax.median", calls=_CALLS)
def median(
    site: OperatorCall, x: Tensor, axis: Ints | None = None, keepdims: int = False
) -> StructInfo:
    """The median; along one axis, also its index."""
    values = reduced(site, x, axis, keepdims)
    if axis is None or len(axis) > 1:
        return values
    return fields((values, like(values, INT64)))


@computes("relax.median")
def median_value(x: Array, given: tuple[int, ...] | None, keepdims: int) -> Any:
    """The lower median; along one axis, also its index."""
    axes = arrays.axes_of(given, x.ndim)
    need_elements(x, axes, "median")
    w, alone = arrays.wide(x), given is not None and len(given) == 1
    count = prod(x.shape[a] for a in axes)
    if not count:  # so are the others, and the result
        nothing = np.zeros(_left(x, axes, keepdims), x.dtype)
        return (nothing, nothing.astype(np.int64)) if alone else nothing
    if alone:
        order = np.argsort(w, axis=axes[0], kind="stable")
        middle = (w.shape[axes[0]] - 1) // 2
        where = np.take(order, [middle], axis=axes[0])
        value = np.take_along_axis(w, where, axis=axes[0])
        if not keepdims:
            where, value = np.squeeze(where, axes[0]), np.squeeze(value, axes[0])
        return arrays.back(value, x.dtype), np.asarray(where, dtype=np.int64)
    rest = [a for a in range(x.ndim) if a not in axes]
    flat = np.transpose(w, (*rest, *axes)).reshape([w.shape[a] for a in rest] + [count])
    value = np.sort(flat, axis=-1)[..., (count - 1) // 2]
    if keepdims:
        value = value.reshape([1 if a in axes else n for a, n in enumerate(x.shape)])
    return arrays.back(value, x.dtype)


@defines("relax.median")
def median_definition(out: Any, x: te.Tensor, given: Sequence[int] | None, keepdims: int) -> Any:
    from rlx.operators.merge_sort import places

    axes = exprs.axes_of(given, x.ndim)
    target, index = out if isinstance(out, tuple) else (out, None)
    count = exprs.count_of(x, axes)
    left = [a for a in range(x.ndim) if a not in axes]
    lines = te.compute(
        (*(x.shape[a] for a in left), count),
        lambda *i: x(*_spread(x, axes, left, i)),
        name="T_lines",
    )
    at = places(lines, lines.ndim - 1, False)
    middle = (count - 1) // 2

    def where(*i: te.Scalar) -> te.Scalar:
        return nonempty(x, axes, at(*i, middle))

    def rest(indices: Sequence[te.Scalar]) -> list[te.Scalar]:
        if target.ndim == x.ndim:
            return [v for a, v in enumerate(indices) if a not in axes]
        return list(indices)

    values = exprs.filled(
        target, lambda *i: nonempty(x, axes, lines(*rest(i), where(*rest(i)))), "T_median"
    )
    if index is None:
        return values
    kind = index.dtype
    return values, exprs.filled(index, lambda *i: te.cast(kind, where(*rest(i))), "T_place")


def _spread(
    x: te.Tensor, axes: Sequence[int], left: Sequence[int], indices: Sequence[te.Scalar]
) -> list[te.Scalar]:
    """The indices of an element of a line in the tensor."""
    inner = dict(zip(axes, unflat([x.shape[a] for a in axes], indices[-1]), strict=True))
    outer = dict(zip(left, indices, strict=False))
    return [inner[a] if a in inner else outer[a] for a in range(x.ndim)]


@operator(
    "relax.cumsum",
    calls="""
    t(a, b), axis=None | 0 | -1, dtype=None | 'float32' | 'int64', exclusive=None | True
    f(a)
    """,
)
@operator(
    "relax.cumprod",
    calls="""
    t(a, b), axis=None | 0 | -1, dtype=None | 'float32' | 'int64', exclusive=None | True
    f(a)
    """,
)
def scan(
    site: OperatorCall,
    data: Tensor,
    axis_: int | None = None,
    dtype: Type | None = None,
    exclusive: int | None = False,
) -> StructInfo:
    """Cumulative sums or products along an axis, or of the flattened tensor if no axis is named."""
    ndim, dims = site.rank(data), site.dims(data)
    result = data if dtype is None else like(data, dtype)
    if axis_ is None:
        flat: Dims | None = None if dims is None else (product(dims),)
        return result if ndim == 1 else resized(result, flat, 1)
    if ndim is not None:
        axis(site, axis_, ndim, result)
    return result


# ---------------------------------------------------------------- values


@rule("E-empty", "computation")
def need_elements(x: Array, axes: tuple[int, ...], what: str) -> None:
    """Check that there is an element, for reductions that are undefined for none; a mean of no
    floats is NaN.
    """
    if what in _MEANS and arrays.is_float(x.dtype):
        return
    count = int(np.prod([x.shape[a] for a in axes], dtype=np.int64)) if axes else 1
    others = int(np.prod([n for a, n in enumerate(x.shape) if a not in axes], dtype=np.int64))
    if count == 0 and others:
        raise OperatorFault("E-empty-reduction", f"the {what} of zero elements is not defined")


def _left(x: Array, axes: tuple[int, ...], keepdims: int) -> list[int]:
    """The shape of a result."""
    if keepdims:
        return [1 if a in axes else n for a, n in enumerate(x.shape)]
    return [n for a, n in enumerate(x.shape) if a not in axes]


def _exact(x: Array) -> Any:
    """The type that sums and products are taken in: integers in their own, so that they wrap."""
    return x.dtype if x.dtype.kind in "iu" else None


_REDUCED: dict[str, Function] = {
    "sum": lambda x, axis, keep: np.sum(x, axis=axis, keepdims=keep, dtype=_exact(x)),
    "prod": lambda x, axis, keep: np.prod(x, axis=axis, keepdims=keep, dtype=_exact(x)),
    "max": lambda x, axis, keep: np.max(x, axis=axis, keepdims=keep),
    "min": lambda x, axis, keep: np.min(x, axis=axis, keepdims=keep),
    "mean": lambda x, axis, keep: mean_of(x, axis, keep),
    "variance": lambda x, axis, keep: _variance(x, axis, keep),
    "std": lambda x, axis, keep: np.sqrt(_variance(x, axis, keep)),
}
_MEANS = frozenset(["mean", "variance", "std"])
_NEEDS_ONE = _MEANS | {"max", "min"}


def mean_of(x: Array, axis: tuple[int, ...], keep: bool) -> Any:
    """The mean over axes. Means of integers are rounded towards zero, and their sums wrap."""
    if arrays.is_float(x.dtype):
        return arrays.mean(x, axis=axis, keepdims=keep)
    total = np.sum(x, axis=axis, keepdims=keep, dtype=_exact(x))
    count = int(np.prod([x.shape[a] for a in axis], dtype=np.int64))
    return arrays.truncated(total, count).astype(x.dtype)


def _variance(x: Array, axis: tuple[int, ...], keep: bool) -> Any:
    off = x - mean_of(x, axis, True)
    return mean_of(off * off, axis, keep)


def reduction_value(name: str) -> Function:
    """The evaluation of a reduction over axes."""
    function = _REDUCED[name]

    def evaluate(x: Array, given: tuple[int, ...] | None, keepdims: int) -> Array:
        axes = arrays.axes_of(given, x.ndim)
        if name in _NEEDS_ONE:
            need_elements(x, axes, name)
            if not x.size:
                # Means of no floats are NaN; every other result has no elements either.
                return arrays.back(np.full(_left(x, axes, keepdims), np.nan), x.dtype)
        if name in ("variance", "std"):
            arrays.need_numbers(name, x)
        if x.dtype.kind == "b" and name in ("sum", "prod"):
            joined = np.any if name == "sum" else np.all
            return np.asarray(joined(x, axis=axes, keepdims=bool(keepdims)))
        return arrays.back(arrays.quiet(function, arrays.wide(x), axes, bool(keepdims)), x.dtype)

    return evaluate


def arg_reduction_value(name: str) -> Function:
    """The evaluation of argmax and argmin; among equal elements, the first is selected."""
    function = later(np, name)

    def evaluate(x: Array, given: int | None, keepdims: int) -> Array:
        axis = None if given is None else arrays.axis_of(given, x.ndim)
        axes = arrays.axes_of(None if axis is None else (axis,), x.ndim)
        need_elements(x, axes, name)
        if not x.size:
            return np.zeros(_left(x, axes, keepdims), np.int64)
        found: Any = function(arrays.wide(x), axis=axis, keepdims=bool(keepdims))
        return np.asarray(found, dtype=np.int64)

    return evaluate


def scan_value(name: str) -> Function:
    """The evaluation of running sums and products."""
    run = later(np, name)
    neutral = {"cumsum": 0, "cumprod": 1}[name]

    def evaluate(x: Array, given: int | None, dtype: DataType | None, exclusive: int) -> Array:
        kind = arrays.kind_of(dtype, x.dtype)
        axis = 0 if given is None else arrays.axis_of(given, x.ndim)
        w = arrays.wide(convert(x.reshape(-1) if given is None else x, kind))
        if w.dtype.kind == "b":
            w = w.astype(np.int8)
        found = arrays.quiet(lambda: run(w, axis=axis, dtype=w.dtype))
        if exclusive:
            first = np.full(
                [1 if a == axis else n for a, n in enumerate(w.shape)], neutral, w.dtype
            )
            found = np.take(np.concatenate([first, found], axis), np.arange(w.shape[axis]), axis)
        return arrays.back(found, kind)

    return evaluate


for _name in _REDUCED:
    computes(f"relax.{_name}")(reduction_value(_name))
for _name in ("argmax", "argmin"):
    computes(f"relax.{_name}")(arg_reduction_value(_name))
for _name in ("cumsum", "cumprod"):
    computes(f"relax.{_name}")(scan_value(_name))


# ---------------------------------------------------------------- definitions


def nonempty(x: te.Tensor, axes: Sequence[int], value: te.Scalar) -> te.Scalar:
    """A value that is undefined for no elements: if an axis is empty, the run stops at a division
    by its length.
    """
    for each in axes:
        if x.shape[each].value == 0:
            decline("it reduces an empty axis, over which it has no value")
    count = exprs.count_of(x, axes)
    if count.value is not None:
        return value
    return te.if_then_else(exprs.equals(count // count, exprs.int64(1)), value, value)


def _reduction(name: str) -> Definition:
    def define(out: Result, x: te.Tensor, given: Sequence[int] | None, keepdims: int) -> te.Tensor:
        axes = exprs.axes_of(given, x.ndim)
        made = _REDUCTIONS[name](x, axes, () if out.ndim == x.ndim else axes)
        if name not in _EXTREMES or exprs.count_of(x, axes).value:
            return exprs.converted(out, made)
        return exprs.filled(out, lambda *i: nonempty(x, axes, exprs.convert(made(*i), out.dtype)))

    return define


def _joined(name: str, reducer: Any, booleans: Callable[[], Any]) -> Callable[..., Any]:
    """Reductions of the elements as they are, with another reducer for Booleans."""

    def define(x: te.Tensor, axes: Sequence[int], dropped: Collection[int]) -> Any:
        chosen = booleans() if x.dtype == BOOL else reducer()
        return exprs.reduced(x, axes, chosen, name, dropped=dropped)

    return define


def mean_of_definition(
    x: te.Tensor | exprs.DerivedView,
    axes: Sequence[int],
    dropped: Collection[int] = (),
    element: Any = exprs.wide,
    name: str = "T_mean_of",
) -> exprs.DerivedView:
    """The mean over axes. Means of integers are rounded towards zero, and their sums wrap."""
    exprs.need_numbers(x.dtype)
    sums = exprs.summed(x, axes, f"{name}_sum", element, dropped)
    count = exprs.count_of(x, axes)

    def value(*i: te.Scalar) -> te.Scalar:
        found = sums(*i)
        if found.dtype.is_float:
            return found / te.cast(found.dtype, count)
        return te.cast(found.dtype, te.truncdiv(te.cast("int64", found), count))

    return exprs.DerivedView(sums, value)


def variance_of(x: te.Tensor, axes: Sequence[int], dropped: Collection[int]) -> exprs.DerivedView:
    """The mean of the squared deviations from the mean."""
    mean = mean_of_definition(x, axes)
    middle = te.compute(mean.shape, mean, name="T_mean_of")
    off = exprs.DerivedView(
        x,
        lambda *i: (
            exprs.wide(x(*i))
            - middle(*(exprs.int64(0) if a in axes else v for a, v in enumerate(i)))
        ),
    )
    return mean_of_definition(off, axes, dropped, lambda v: v * v, "T_variance_of")


def _std(x: te.Tensor, axes: Sequence[int], dropped: Collection[int]) -> exprs.DerivedView:
    made = variance_of(x, axes, dropped)
    if not made.dtype.is_float:
        decline("it is not defined for integers")
    return exprs.DerivedView(made, lambda *i: te.sqrt(made(*i)))


_REDUCTIONS: dict[str, Callable[[te.Tensor, Sequence[int], Collection[int]], Any]] = {
    "sum": _joined("T_sum_of", lambda: te.sum, exprs.some),
    "prod": _joined("T_prod_of", lambda: te.prod, exprs.every_one),
    "max": _joined("T_extreme", exprs.largest, exprs.some),
    "min": _joined("T_extreme", exprs.smallest, exprs.every_one),
    "mean": mean_of_definition,
    "variance": variance_of,
    "std": _std,
}
_EXTREMES = frozenset(["max", "min"])
"""The reductions without a value for no elements; the others divide by the number of elements."""


def _counted(value: te.Scalar) -> te.Scalar:
    """An element as it is compared."""
    return te.cast("int8", value) if value.dtype == BOOL else exprs.wide(value)


def _place(name: str) -> Definition:
    def define(out: Result, x: te.Tensor, given: int | None, keepdims: int) -> te.Tensor:
        axes = exprs.axes_of(None if given is None else (given,), x.ndim)
        if not axes:
            return exprs.filled(out, lambda *i: te.const(0, out.dtype))
        best = exprs.largest() if name == "argmax" else exprs.smallest()
        top = exprs.reduced(x, axes, best, f"T_{name}_best", _counted)
        over = {a: te.reduce_axis((0, x.shape[a]), name=f"k{a}") for a in axes}
        left = [a for a in range(x.ndim) if a not in over]
        count = exprs.product([x.shape[a] for a in axes])
        kind = "int64" if count.value is None or count.value >= 2**31 else "int32"

        def first(*i: te.Scalar) -> Any:
            """The first place of an element that is the best, or NaN: then it is the first NaN."""
            place = dict(zip(left, i, strict=True))
            value = _counted(x(*(over[a] if a in over else place[a] for a in range(x.ndim))))
            held = exprs.equals(value, top(*(place.get(a, exprs.int64(0)) for a in range(x.ndim))))
            if value.dtype.is_float:
                held = te.any(held, te.isnan(value))
            number = exprs.int64(0)
            for a in axes:
                number = number * x.shape[a] + over[a]
            chosen = te.select(held, te.cast(kind, number), te.cast(kind, count))
            return te.min(chosen, axis=list(over.values()))

        where = te.compute([x.shape[a] for a in left], first, name=f"T_{name}_of")

        def found(*i: te.Scalar) -> te.Scalar:
            rest = [v for k, v in enumerate(i) if k not in axes] if out.ndim == x.ndim else i
            return nonempty(x, axes, te.cast(out.dtype, where(*rest)))

        return exprs.filled(out, found)

    return define


def _scan(name: str, join: Callable[[te.Scalar, te.Scalar], te.Scalar], neutral: int) -> Definition:
    def define(
        out: Result, x: te.Tensor, given: int | None, dtype: DataType | None, exclusive: int
    ) -> te.Tensor:
        axis = 0 if given is None else exprs.axis_of(given, x.ndim)
        kind = out.dtype

        def value(*i: te.Scalar) -> te.Scalar:
            source = x(*unflat(x.shape, i[0])) if given is None else x(*i)
            found = exprs.wide(exprs.convert(exprs.wide(source), kind))
            return te.cast("int8", found) if found.dtype == BOOL else found

        made = te.running(out.shape, value, axis, join, f"T_{name}_of")
        if not exclusive:
            return exprs.filled(out, made)
        first = te.const(neutral, made.dtype)

        def before(*i: te.Scalar) -> te.Scalar:
            found = made(*(v - 1 if a == axis else v for a, v in enumerate(i)))
            return te.if_then_else(i[axis] > 0, found, first)

        return exprs.filled(out, before)

    return define


for _name in _REDUCTIONS:
    defines(f"relax.{_name}")(_reduction(_name))
for _name in ("argmax", "argmin"):
    defines(f"relax.{_name}")(_place(_name))
defines("relax.cumsum")(_scan("cumsum", add, 0))
defines("relax.cumprod")(_scan("cumprod", mul, 1))
