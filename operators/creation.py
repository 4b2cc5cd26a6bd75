"""Creation of tensors."""

from __future__ import annotations

import math
from math import ceil
from typing import Any

from rlx.grammar.nodes.ast import (
    Constant,
    Expr,
    PrimStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
)
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT64, VOID, DataType, dtype
from rlx.grammar.nodes.dtype import dtype as named
from rlx.grammar.nodes.tir import (
    GE,
    GT,
    LT,
    NE,
    FloatImm,
    IntImm,
    Or,
    PrimExpr,
    Var,
    free_vars,
    type_of,
)
from rlx.operators import arrays, exprs
from rlx.operators.argument_kinds import NULL
from rlx.operators.arrays import Array
from rlx.operators.dim_arithmetic import (
    ONE,
    ZERO,
    add,
    ceildiv,
    const,
    floordiv,
    literal,
    same,
    sub,
)
from rlx.operators.elementwise import convert
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result, decline
from rlx.operators.late import np, scalars, te
from rlx.operators.operator_call import OperatorCall, show
from rlx.operators.parameters import Prim, Shape, Tensor, Type, WholeShape
from rlx.operators.registry import computes, defines, operator
from rlx.operators.rule_helpers import (
    elements,
    integral,
    like,
    need_known,
    rank,
    ranked,
    scalar_type,
    shaped,
    tensor,
)
from rlx.spec.registry import rule

_NO_TENSOR = "its result is not a tensor"


def filled(site: OperatorCall, shape: Expr, kind: DataType) -> TensorStructInfo:
    """A tensor of a shape that an expression gives."""
    if isinstance(shape, ShapeExpr):
        lengths(site, shape)
    return shaped(site, shape, kind)


@rule("OBL-lengths", "obligation")
def lengths(site: OperatorCall, shape: ShapeExpr) -> None:
    """Check that no dimension of a new tensor is negative."""
    for dim in shape.values:
        if (literal(dim) or 0) < 0:
            site.fail("OBL-lengths-negative", f"the shape has a dimension of {show(dim)}", 0)


@operator(
    "relax.zeros",
    calls="shape(a, b) | shape(a) | shape(2, 3), dtype='float32' | 'int64' | 'bool' | 'float16'",
    broken="OBL-lengths-negative: shape(-3, a), dtype='float32'",
)
@operator(
    "relax.ones",
    calls="shape(a, b) | shape(a) | shape(2, 3), dtype='float32' | 'int32' | 'bool' | 'float16'",
    broken="OBL-lengths-negative: shape(-1), dtype='int64'",
)
def constant(site: OperatorCall, shape: Shape, dtype: Type) -> StructInfo:
    """All zeros or all ones."""
    return filled(site, shape, dtype or VOID)


@computes("relax.zeros")
def zeros_value(shape: tuple[int, ...], kind: DataType | None) -> Array:
    return np.zeros(arrays.sizes(shape), arrays.kind_of(kind, np.dtype(np.float32)))


@computes("relax.ones")
def ones_value(shape: tuple[int, ...], kind: DataType | None) -> Array:
    return np.ones(arrays.sizes(shape)).astype(arrays.kind_of(kind, np.dtype(np.float32)))


@defines("relax.zeros", "relax.zeros_like")
def zeros_definition(out: Result, *_: Any) -> te.Tensor:
    return exprs.filled(out, lambda *i: te.const(0, out.dtype))


@defines("relax.ones", "relax.ones_like")
def ones_definition(out: Result, *_: Any) -> te.Tensor:
    return exprs.filled(out, lambda *i: te.const(1, out.dtype))


@operator("relax.zeros_like", calls="x(a, b) | x(a) | x(), dtype=None | 'int64' | 'float32'")
@operator("relax.ones_like", calls="x(a, b) | x(a) | x(), dtype=None | 'int64' | 'float32'")
def constant_like(site: OperatorCall, x: Tensor, dtype: Type | None = None) -> StructInfo:
    """All zeros or all ones, in the shape of another tensor."""
    return x if dtype is None else like(x, dtype)


@computes("relax.zeros_like")
def zeros_like_value(x: Array, kind: DataType | None) -> Array:
    """All zeros, in the shape of another tensor."""
    return np.zeros(x.shape, arrays.kind_of(kind, x.dtype))


@computes("relax.ones_like")
def ones_like_value(x: Array, kind: DataType | None) -> Array:
    """All ones, in the shape of another tensor."""
    return np.ones(x.shape).astype(arrays.kind_of(kind, x.dtype))


@operator(
    "relax.full",
    calls="""
    shape(a, b) | shape(a) | shape(2, 3), const(2.0, 'float32'), dtype=None | 'float32' | 'float16'
    shape(a, b), t(), dtype=None
    """,
)
def full(
    site: OperatorCall, shape: Shape, fill_value: Tensor, dtype: Type | None = None
) -> StructInfo:
    """One value everywhere."""
    _filler(site, fill_value)
    return filled(site, shape, dtype or fill_value.dtype)


@computes("relax.full")
def full_value(shape: tuple[int, ...], value: Any, kind: DataType | None) -> Array:
    made = np.asarray(arrays.number(value))
    if kind is None and not isinstance(value, np.ndarray):
        kind = dtype("float32" if isinstance(value, float) else "int64")
    return convert(np.full(arrays.sizes(shape), made), arrays.kind_of(kind, made.dtype))


@defines("relax.full")
def full_definition(out: Result, shape: Any, value: te.Tensor, dtype: DataType | None) -> te.Tensor:
    return exprs.filled(out, lambda *i: exprs.wide(_only(value)))


@operator(
    "relax.full_like",
    calls="x(a, b), const(1.0, 'float32') | const(2, 'int32') | t(), dtype=None | 'float16'",
)
def full_like(
    site: OperatorCall, x: Tensor, fill_value: Tensor, dtype: Type | None = None
) -> StructInfo:
    """One value everywhere, in the shape of another tensor."""
    _filler(site, fill_value)
    return x if dtype is None else like(x, dtype)


@computes("relax.full_like")
def full_like_value(x: Array, value: Any, kind: DataType | None) -> Array:
    return convert(np.full(x.shape, arrays.number(value)), arrays.kind_of(kind, x.dtype))


@defines("relax.full_like")
def full_like_definition(
    out: Result, x: te.Tensor, value: te.Tensor, dtype: DataType | None
) -> te.Tensor:
    return exprs.filled(out, lambda *i: exprs.wide(_only(value)))


def _filler(site: OperatorCall, value: TensorStructInfo) -> None:
    """The value that fills a tensor has rank 0."""
    rank(site, value, 1, 0)
    need_known(site, "rank", (1, value))


def counted(dim: PrimExpr | None) -> PrimExpr | None:
    """A dimension; as in Python, ``True`` is 1."""
    if isinstance(dim, IntImm) and dim.dtype == BOOL:
        return const(dim.value)
    return dim


@operator(
    "relax.eye",
    calls="prim(3) | prim(a), prim(4) | prim(b), prim(0) | prim(1), dtype='float32' | 'int64'",
)
def eye(
    site: OperatorCall, n: Prim, m: Prim | None = None, k: Prim = ZERO, dtype: Type = FLOAT32
) -> StructInfo:
    """Ones on a diagonal."""
    n, m = counted(n), counted(m)
    columns = n if m is None else m
    for index, dim in enumerate((n, m)):
        integral(site, dim, index)
        if not isinstance(dim, IntImm) and (kind := scalar_type(site, dim, index)) not in (
            INT64,
            VOID,
        ):
            words = f"{site.shown(index)} is a dimension of type {kind}, expected int64"
            site.fail("D14-argument", words, index)
    if n is None or columns is None:
        return ranked(2, dtype or VOID)
    return tensor((n, columns), dtype or VOID)


@computes("relax.eye")
def eye_value(n: Any, m: Any, k: Any, kind: DataType | None) -> Array:
    rows, columns = arrays.sizes((n, n if m is None else m))
    return np.eye(rows, columns, int(k)).astype(arrays.kind_of(kind, np.dtype(np.float32)))


@defines("relax.eye")
def eye_definition(out: Result, n: Any, m: Any, k: Any, dtype: DataType | None) -> te.Tensor:
    return _diagonal(out, k)


@operator("relax.eye_like", calls="x(a, b), prim(0) | prim(1), dtype=None | 'float32'")
def eye_like(
    site: OperatorCall, x: Tensor, k: Prim = ZERO, dtype: Type | None = None
) -> StructInfo:
    """Ones on a diagonal, in the shape of another tensor."""
    rank(site, x, 0, 2)
    need_known(site, "shape", (0, x))
    return x if dtype is None else like(x, dtype)


@computes("relax.eye_like")
def eye_like_value(x: Array, k: Any, kind: DataType | None) -> Array:
    rows, columns = x.shape
    return np.eye(rows, columns, int(k)).astype(arrays.kind_of(kind, x.dtype))


@defines("relax.eye_like")
def eye_like_definition(out: Result, x: te.Tensor, k: Any, dtype: DataType | None) -> te.Tensor:
    return _diagonal(out, k)


@operator(
    "relax.arange",
    calls="""
    prim(5) | prim(a), dtype=None | 'float32'
    prim(1), prim(9), prim(2), dtype=None | 'int64'
    prim(0), prim(a), prim(1) | prim(2), dtype='int64'
    """,
    broken="""
    OBL-arange-step: prim(0), prim(5), prim(0), dtype='int64'
    OBL-arange-length: prim(9), prim(2), prim(1), dtype='int64'
    """,
)
def arange(
    site: OperatorCall,
    start: Prim,
    end: Prim | None = None,
    step: Prim = ONE,
    dtype: Type | None = None,
) -> StructInfo:
    """The numbers from a start (0 by default) to an exclusive end."""
    if end is None:
        start, end = ZERO, start
    if start is None or end is None or step is None:
        return ranked(1, dtype or VOID)
    floats = any(type_of(e).is_float for e in (start, end, step))
    if any(type_of(e).is_float and not isinstance(e, FloatImm) for e in (start, end, step)):
        return ranked(1, dtype or FLOAT32)
    length = steps(site, start, end, step)
    dtype = dtype or (FLOAT32 if floats else INT64)
    return ranked(1, dtype) if length is None else tensor((length,), dtype)


@computes("relax.arange")
@rule("E-arange", "computation")
def arange_value(start: Any, end: Any, step: Any, kind: DataType | None) -> Array:
    if end is None:
        start, end = 0, start
    if step == 0:
        raise OperatorFault("E-arange-step", "the step of a range is 0")
    floats = any(isinstance(x, float) for x in (start, end, step))
    count = -((start - end) // step)
    arrays.sizes((int(count),))
    other = np.dtype(np.float32 if floats else np.int64)
    return arrays.back(start + np.arange(int(count)) * step, arrays.kind_of(kind, other))


@defines("relax.arange")
def arange_definition(
    out: Result, start: Any, end: Any, step: Any, dtype: DataType | None
) -> te.Tensor:
    """The numbers from a start to before an end."""
    if end is None:
        start = 0
    floats = any(isinstance(x, float) for x in (start, step))
    if floats and any(isinstance(x, te.Scalar) for x in (start, step)):
        decline("its bounds are floats, and not all are constants")
    kind = exprs.FLOAT64 if floats else named("int64")

    def element(i: te.Scalar) -> te.Scalar:
        begin, pace = te.cast(kind, scalars.scalar(start)), te.cast(kind, scalars.scalar(step))
        return begin + te.cast(kind, i) * pace

    return exprs.filled(out, element)


@rule("OBL-arange", "obligation")
def steps(site: OperatorCall, start: PrimExpr, end: PrimExpr, step: PrimExpr) -> PrimExpr | None:
    """The number of steps from a start to an end; the step must not be 0 and must lead to the end.

    Returns
    -------
    PrimExpr or None
        None if it depends on floating-point numbers that are not literals.
    """
    values = [e.value if isinstance(e, FloatImm) else literal(e) for e in (start, end, step)]
    if values[2] == 0:
        site.fail("OBL-arange-step", "the step is 0", 2)
    known = [v for v in values if v is not None]
    if any(isinstance(v, float) for v in known):
        if same(start, end):
            return ZERO
        if len(known) < 3:
            return None
        count = float(known[1] - known[0]) / float(known[2])
        if not abs(count) < 2**63:  # nor where it is no number
            words = f"a range from {show(start)} cannot reach {show(end)} in steps of {show(step)}"
            site.fail("OBL-arange-length", words)
        return const(max(0, ceil(count)))
    if literal(step) is None:
        site.require(
            "OBL-arange-step", NE(step, ZERO), lambda: f"the step {show(step)} may be 0", 2
        )
        return floordiv(sub(add(end, step), add(start, const(1))), step)
    down = (literal(step) or 0) < 0
    length = ceildiv(sub(start, end) if down else sub(end, start), const(abs(literal(step) or 1)))
    if (literal(length) or 0) < 0 or (literal(length) is None and start is not ZERO):
        ranges = site.ctx.prover.context.state
        holds: PrimExpr = GE(length, ZERO)
        if isinstance(start, Var) and isinstance(end, Var) and start is not end:
            return length  # which of the two is greater, nothing in a program can say
        for var in free_vars(length):
            if ranges.range_of(var)[0] is None:
                # A scalar that is negative is for the run to notice, as in every shape.
                holds = Or(holds, LT(var, ZERO))
        site.require(
            "OBL-arange-length",
            holds,
            lambda: f"a range from {show(start)} cannot reach {show(end)} in steps of {show(step)}",
        )
    return length


@operator(
    "relax.hamming_window",
    calls="prim(10) | prim(a), prim(True) | prim(False), prim(0.5), prim(0.4), dtype='float32'",
    broken="OBL-weights-size: prim(0), prim(True), prim(0.5), prim(0.4), dtype='float32'",
)
def hamming_window(
    site: OperatorCall, window_size: Prim, periodic: Prim, alpha: Prim, beta: Prim, dtype: Type
) -> StructInfo:
    """The weights of a Hamming window."""
    kind = VOID if dtype is None else dtype
    elements(site, PrimStructInfo(kind), 4, "narrow float")
    window_size = counted(window_size)
    integral(site, window_size, 0)
    windows(site, window_size)
    return ranked(1, kind) if window_size is None else tensor((window_size,), kind)


@computes("relax.hamming_window")
def hamming_window_value(
    size: Any, periodic: Any, alpha: Any, beta: Any, kind: DataType | None
) -> Array:
    (count,) = arrays.sizes((size,))
    if count == 1:  # a window of one point does not taper
        return np.ones(1).astype(arrays.kind_of(kind, np.dtype(np.float32)))
    period = count if periodic else count - 1
    turn = 2 * np.pi * np.arange(count) / max(period, 1)
    return arrays.back(alpha - beta * np.cos(turn), arrays.kind_of(kind, np.dtype(np.float32)))


@defines("relax.hamming_window")
def hamming_window_definition(
    out: Result, size: Any, periodic: Any, alpha: Any, beta: Any, dtype: DataType | None
) -> te.Tensor:
    if any(isinstance(x, te.Scalar) for x in (periodic, alpha, beta)):
        decline("its weights are not constants")
    (count,) = out.shape
    period = te.cast(exprs.FLOAT64, te.maximum(count if periodic else count - 1, exprs.int64(1)))

    def element(i: te.Scalar) -> te.Scalar:
        turn = te.cast(exprs.FLOAT64, i) * (2 * math.pi) / period
        weight = te.const(float(alpha), exprs.FLOAT64) - te.cos(turn) * float(beta)
        single = te.const(1, exprs.FLOAT64)  # a window of one point does not taper
        return te.if_then_else(exprs.equals(count, exprs.int64(1)), single, weight)

    return exprs.filled(out, element)


@rule("OBL-weights", "obligation")
def windows(site: OperatorCall, size: PrimExpr | None) -> None:
    """Check that a window has at least one weight."""
    if size is not None and type_of(size).is_integer and (literal(size) or 0) <= 0:
        site.require(
            "OBL-weights-size", GT(size, ZERO), lambda: f"the window has {show(size)} weights", 0
        )


@operator("relax.shape_of", kept=_NO_TENSOR, calls="x(a, b) | x(a) | x() | x(a, 3, b)")
def shape_of(site: OperatorCall, expr: Tensor) -> StructInfo:
    """The shape of a tensor."""
    dims, ndim = site.dims(expr), site.rank(expr)
    return ShapeStructInfo(dims, -1 if ndim is None else ndim)


@computes("relax.shape_of")
def shape_of_value(x: Array) -> tuple[int, ...]:
    return tuple(int(n) for n in x.shape)


@operator("relax.size", calls="x(a, b) | x(a) | x()")
def size(site: OperatorCall, expr: Tensor) -> StructInfo:
    """The number of elements of a tensor, as a tensor."""
    return tensor((), INT64, expr.vdevice)


@computes("relax.size")
def size_value(x: Array) -> Array:
    """The number of elements, as a tensor."""
    return np.array(x.size, np.int64)


@defines("relax.size")
def size_definition(out: Result, x: te.Tensor) -> te.Tensor:
    """The number of elements."""
    return exprs.filled(out, lambda: exprs.product(x.shape))


@operator("relax.tensor_to_shape", kept=_NO_TENSOR, calls="int64(3) | int64(2) | int64(1)")
def tensor_to_shape(site: OperatorCall, expr: Tensor) -> StructInfo:
    """The shape whose dimensions are the elements of a vector of integers."""
    elements(site, expr, 0, "integer")
    rank(site, expr, 0, 1)
    need_known(site, "rank", (0, expr))
    given = site.argument(0)
    if isinstance(given, Constant) and isinstance(given.data.value, tuple):
        values = given.data.value
        return ShapeStructInfo(tuple(const(value) for value in values), len(values))
    dims = site.dims(expr)
    count = None if dims is None else literal(dims[0])
    if count is None or count > 64:
        return ShapeStructInfo(None, -1 if count is None else count)
    return ShapeStructInfo(tuple(site.ctx.fresh_dim(f"dim{k}") for k in range(count)), count)


@computes("relax.tensor_to_shape")
def tensor_to_shape_value(x: Array) -> tuple[int, ...]:
    return arrays.sizes(tuple(int(n) for n in x.reshape(-1)))


@operator("relax.shape_to_tensor", calls="shape(a, b) | shape(a) | shape(2, 3)")
def shape_to_tensor(site: OperatorCall, expr: WholeShape) -> StructInfo:
    """A vector of the dimensions of a shape."""
    if isinstance(expr, ShapeExpr):
        return tensor((const(len(expr.values)),), INT64)
    info = site.ctx.info(expr)
    if isinstance(info, ShapeStructInfo) and info.ndim >= 0:
        return tensor((const(info.ndim),), INT64)
    return ranked(1, INT64)


@computes("relax.shape_to_tensor")
def shape_to_tensor_value(shape: tuple[int, ...]) -> Array:
    return np.array(shape, np.int64)


@defines("relax.shape_to_tensor")
def shape_to_tensor_definition(out: Result, shape: tuple[te.Scalar, ...] | None) -> te.Tensor:
    if shape is None:
        decline("its dimensions are not constants")

    def element(i: te.Scalar) -> te.Scalar:
        found = exprs.int64(0)
        for place, dim in reversed(list(enumerate(shape))):
            found = te.if_then_else(
                exprs.equals(i, exprs.int64(place)), te.cast("int64", dim), found
            )
        return found

    return exprs.filled(out, element)


@operator("relax.null_value", kept=_NO_TENSOR)
def null_value(site: OperatorCall) -> StructInfo:
    """The absence of a value, for optional arguments."""
    return NULL


@computes("relax.null_value")
def null_value_value() -> None:
    """The absence of a value."""
    return


# ---------------------------------------------------------------- definitions


def _only(value: te.Tensor) -> te.Scalar:
    """The element of a tensor that has one."""
    return value(*(exprs.int64(0) for _ in value.shape))


def _diagonal(out: Result, k: Any) -> te.Tensor:
    offset = te.cast("int64", scalars.scalar(k))
    return exprs.filled(
        out,
        lambda i, j: te.select(
            exprs.equals(j - i, offset), te.const(1, out.dtype), te.const(0, out.dtype)
        ),
    )
