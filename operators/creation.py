"""Creation of tensors."""

from __future__ import annotations

from math import ceil

from rlx.grammar.nodes.ast import (
    Expr,
    PrimStructInfo,
    ShapeExpr,
    StructInfo,
    TensorStructInfo,
)
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT64, VOID, DataType
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
from rlx.operators.parameters import Prim, Shape, Tensor, Type
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import (
    elements,
    integral,
    known,
    like,
    rank,
    ranked,
    scalar_type,
    shaped,
    tensor,
)
from rlx.operators.site import Site, show
from rlx.spec.registry import rule


def filled(site: Site, shape: Expr, kind: DataType) -> TensorStructInfo:
    """A tensor of a shape that an expression gives."""
    if isinstance(shape, ShapeExpr):
        lengths(site, shape)
    return shaped(site, shape, kind)


@rule("OBL-lengths", "8f57c560", "obligation")
def lengths(site: Site, shape: ShapeExpr) -> None:
    """Check that no dimension of a new tensor is negative."""
    for dim in shape.values:
        if (literal(dim) or 0) < 0:
            site.fail("OBL-lengths-negative", f"the shape has a dimension of {show(dim)}", 0)


@operator(
    "relax.zeros",
    calls="shape(a, b) | shape(a) | shape(2, 3), dtype='float32' | 'int64' | 'bool' | 'float16'",
)
@operator(
    "relax.ones",
    calls="shape(a, b) | shape(a) | shape(2, 3), dtype='float32' | 'int32' | 'bool' | 'float16'",
)
def constant(site: Site, shape: Shape, dtype: Type) -> StructInfo:
    """All zeros or all ones."""
    return filled(site, shape, dtype or VOID)


@operator("relax.zeros_like", calls="x(a, b) | x(a) | x(), dtype=None | 'int64' | 'float32'")
@operator("relax.ones_like", calls="x(a, b) | x(a) | x(), dtype=None | 'int64' | 'float32'")
def constant_like(site: Site, x: Tensor, dtype: Type | None = None) -> StructInfo:
    """All zeros or all ones, in the shape of another tensor."""
    return x if dtype is None else like(x, dtype)


@operator(
    "relax.full",
    calls="""
    shape(a, b) | shape(a) | shape(2, 3), const(2.0, 'float32'), dtype=None | 'float32' | 'float16'
    shape(a, b), t(), dtype=None
    """,
)
def full(site: Site, shape: Shape, fill_value: Tensor, dtype: Type | None = None) -> StructInfo:
    """One value everywhere."""
    _filler(site, fill_value)
    return filled(site, shape, dtype or fill_value.dtype)


@operator(
    "relax.full_like",
    calls="x(a, b), const(1.0, 'float32') | const(2, 'int32') | t(), dtype=None | 'float16'",
)
def full_like(site: Site, x: Tensor, fill_value: Tensor, dtype: Type | None = None) -> StructInfo:
    """One value everywhere, in the shape of another tensor."""
    _filler(site, fill_value)
    return x if dtype is None else like(x, dtype)


def _filler(site: Site, value: TensorStructInfo) -> None:
    """What fills a tensor has rank 0."""
    rank(site, value, 1, 0)
    known(site, "rank", (1, value))


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
    site: Site, n: Prim, m: Prim | None = None, k: Prim = ZERO, dtype: Type = FLOAT32
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


@operator("relax.eye_like", calls="x(a, b), prim(0) | prim(1), dtype=None | 'float32'")
def eye_like(site: Site, x: Tensor, k: Prim = ZERO, dtype: Type | None = None) -> StructInfo:
    """Ones on a diagonal, in the shape of another tensor."""
    rank(site, x, 0, 2)
    known(site, "shape", (0, x))
    return x if dtype is None else like(x, dtype)


@operator(
    "relax.arange",
    calls="""
    prim(5) | prim(a), dtype=None | 'float32'
    prim(1), prim(9), prim(2), dtype=None | 'int64'
    prim(0), prim(a), prim(1) | prim(2), dtype='int64'
    """,
)
def arange(
    site: Site,
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


@rule("OBL-arange", "8ef83f50", "obligation")
def steps(site: Site, start: PrimExpr, end: PrimExpr, step: PrimExpr) -> PrimExpr | None:
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
)
def hamming_window(
    site: Site, window_size: Prim, periodic: Prim, alpha: Prim, beta: Prim, dtype: Type
) -> StructInfo:
    """The weights of a Hamming window."""
    kind = VOID if dtype is None else dtype
    elements(site, PrimStructInfo(kind), 4, "narrow float")
    window_size = counted(window_size)
    integral(site, window_size, 0)
    windows(site, window_size)
    return ranked(1, kind) if window_size is None else tensor((window_size,), kind)


@rule("OBL-weights", "1551277d", "obligation")
def windows(site: Site, size: PrimExpr | None) -> None:
    """Check that a window has at least one weight."""
    if size is not None and type_of(size).is_integer and (literal(size) or 0) <= 0:
        site.require(
            "OBL-weights-size", GT(size, ZERO), lambda: f"the window has {show(size)} weights", 0
        )
