"""Elementwise operators: of one operand, or of several that are broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import PrimStructInfo, StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, VOID, DataType
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.tir import EQ, FloatImm, IntImm, Or, PrimExpr
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array, Function, Kind
from rlx.operators.dim_arithmetic import ONE, ZERO, literal, same
from rlx.operators.error_function import erf
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result, decline
from rlx.operators.late import later, np, scalars, te
from rlx.operators.operator_call import Dims, ObligationGroup, OperatorCall, show, show_shape
from rlx.operators.parameters import Operand, Prim, Tensor, Type
from rlx.operators.registry import Definition, computes, defines, operator
from rlx.operators.rule_helpers import (
    agree,
    elements,
    fields,
    like,
    place,
    rank,
    ranked,
    resized,
    stated,
    tensor,
)
from rlx.spec.registry import need, rule

FLOAT = """
    relax.acos relax.acosh relax.asin relax.asinh relax.atan relax.atanh relax.cos relax.cosh
    relax.erf relax.exp relax.log relax.rsqrt relax.sigmoid relax.sin relax.sinh relax.sqrt
    relax.tan relax.tanh
"""
ANY = """
    relax.abs relax.bitwise_not relax.ceil relax.floor relax.logical_not relax.negative
    relax.round relax.sign relax.square relax.trunc
"""
_CALLS = {
    "relax.bitwise_not": "i(a, b) | bool(a)",
    **dict.fromkeys(("relax.negative", "relax.sign"), "t(a, b) | t(a) | t() | t(a, 3, b)"),
}
"""Legal calls of the operators that do not take every element type."""
TEST = """
    relax.isfinite relax.isinf relax.isnan
"""
FLOAT_NN = """
    relax.nn.gelu relax.nn.gelu_tanh relax.nn.selu relax.nn.silu
"""


def float_elementwise(site: OperatorCall, x: Tensor) -> StructInfo:
    """The function of each element, which is a float."""
    elements(site, x, 0, "float")
    return x


def elementwise(site: OperatorCall, x: Tensor) -> StructInfo:
    """Any element type, kept."""
    return x


def test(site: OperatorCall, x: Tensor) -> StructInfo:
    """A Boolean for each element."""
    return like(x, BOOL)


def activation(site: OperatorCall, data: Tensor) -> StructInfo:
    """An activation function, from floats to floats."""
    return float_elementwise(site, data)


for _name in FLOAT.split():
    operator(_name)(float_elementwise)
for _name in ANY.split():
    operator(_name, calls=_CALLS.get(_name, ""))(elementwise)
for _name in TEST.split():
    operator(_name)(test)
for _name in FLOAT_NN.split():
    operator(_name)(activation)


@operator(
    "relax.nn.relu",
    broken="""
    D14-arity: f(a), f(a), f(a)
    D14-argument: shape(a, b)
    """,
)
def relu(site: OperatorCall, data: Tensor) -> StructInfo:
    """Negative elements become zero."""
    return data


@operator(
    "relax.nn.leakyrelu",
    calls="""
    f(a, b), alpha=None | 0.25
    f(a)
    """,
)
def leakyrelu(site: OperatorCall, data: Tensor, alpha: float = 0.01) -> StructInfo:
    """Negative elements shrink by a factor."""
    return float_elementwise(site, data)


@computes("relax.nn.leakyrelu")
def leakyrelu_value(x: Array, alpha: float) -> Array:
    """Negative elements times ``alpha``."""
    w = arrays.wide(x)
    return arrays.back(np.where(w > 0, w, w * w.dtype.type(alpha)), x.dtype)


@defines("relax.nn.leakyrelu")
def leakyrelu_definition(out: Result, x: te.Tensor, alpha: float) -> te.Tensor:
    """Negative elements times a slope."""
    exprs.need_floats(x.dtype)
    return exprs.elementwise(
        out, lambda v: te.select(v > _zero(v), v, v * te.const(alpha, v.dtype)), x
    )


@operator("relax.nn.softplus", calls="f(a, b), beta=None | 2.0, threshold=None | 10.0")
def softplus(
    site: OperatorCall, data: Tensor, beta: float = 1.0, threshold: float = 20.0
) -> StructInfo:
    """A smooth maximum with zero; above a threshold, the element itself."""
    return float_elementwise(site, data)


@computes("relax.nn.softplus")
def softplus_value(x: Array, beta: float, threshold: float) -> Array:
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself above the threshold."""
    w = arrays.wide(x)
    scaled = w * w.dtype.type(beta)
    smooth = arrays.quiet(lambda: np.log1p(np.exp(np.minimum(scaled, threshold))) / beta)
    return arrays.back(np.where(scaled > threshold, w, smooth), x.dtype)


@defines("relax.nn.softplus")
def softplus_definition(out: Result, x: te.Tensor, beta: float, threshold: float) -> te.Tensor:
    """``log(1 + exp(beta * x)) / beta``; the element itself above the threshold."""
    exprs.need_floats(x.dtype)

    def element(v: te.Scalar) -> te.Scalar:
        scaled, limit = v * te.const(beta, v.dtype), te.const(threshold, v.dtype)
        large = scaled > limit
        power = te.exp(te.select(large, limit, scaled))
        smooth = _log1p(power) if threshold <= _FINITE else te.log1p(power)
        return te.select(large, v, smooth / te.const(beta, v.dtype))

    return exprs.elementwise(out, element, x)


_FINITE = 80.0
"""A number whose exponential is finite in all types that are computed in."""


def _log1p(x: te.Scalar) -> te.Scalar:
    """``log(1 + x)`` of a finite number that is not negative: the logarithm of the rounded sum, and
    what rounding took away. Compilers make faster vectors of it than of ``log1p``.
    """
    one = te.const(1, x.dtype)
    total = one + x
    return te.log(total) - ((total - one) - x) / total


@operator(
    "relax.clip",
    calls="""
    t(a, b), prim(0), prim(6)
    t(a), prim(0), prim(1)
    """,
)
def clip(site: OperatorCall, x: Tensor, min_: Prim, max_: Prim) -> StructInfo:
    """Elements clamped between two scalars."""
    return x


@computes("relax.clip")
def clip_value(x: Array, low: Any, high: Any) -> Array:
    """Elements clamped between two numbers."""
    w = arrays.wide(x)
    if not arrays.is_float(x.dtype):
        return arrays.back(np.minimum(np.maximum(w, _held(low, x)), _held(high, x)), x.dtype)
    return arrays.back(np.minimum(np.maximum(w, w.dtype.type(low)), w.dtype.type(high)), x.dtype)


def _held(limit: Any, x: Array) -> Any:
    """A limit as far as the type can hold it."""
    if x.dtype.kind == "b":
        return np.bool_(limit)
    least, most = arrays.integer_range(x.dtype)
    return arrays.working(x.dtype).type(max(least, min(most, limit)))


@defines("relax.clip")
def clip_definition(out: Result, x: te.Tensor, low: Any, high: Any) -> te.Tensor:
    exprs.need_numbers(x.dtype)

    def held(limit: Any, v: te.Scalar) -> te.Scalar:
        if isinstance(limit, te.Scalar):
            decline("its limits are not constant numbers")
        if not v.dtype.is_float:
            least, most = int(te.min_value(x.dtype)), int(te.max_value(x.dtype))
            limit = max(least, min(most, limit))
            if limit != int(limit):
                decline("its limits are not integers")
        return te.const(limit, v.dtype)

    return exprs.elementwise(
        out, lambda v: exprs.smaller(exprs.larger(v, held(low, v)), held(high, v)), x
    )


@operator(
    "relax.tril",
    calls="""
    x(a, b), prim(0) | prim(1) | prim(-1)
    x(3, a, b)
    """,
)
@operator(
    "relax.triu",
    calls="""
    x(a, b), prim(0) | prim(1) | prim(-1)
    x(3, a, b)
    """,
)
def triangle(site: OperatorCall, x: Tensor, k: Prim = ZERO) -> StructInfo:
    """The lower or upper triangle of the last two axes; the rest is zero."""
    rank(site, x, 0, 2, -1)
    return x


def _distance(x: Array) -> Array:
    """The distance of each place of the last two axes above the main diagonal."""
    rows, columns = x.shape[-2:]
    return np.arange(columns) - np.arange(rows)[:, None]


@computes("relax.tril")
def tril_value(x: Array, k: Any) -> Array:
    """The lower triangle of the last two axes, up to the diagonal ``k``, which is any number."""
    return np.where(_distance(x) <= float(k), arrays.wide(x), 0).astype(x.dtype)


@computes("relax.triu")
def triu_value(x: Array, k: Any) -> Array:
    """The upper triangle of the last two axes, from the diagonal ``k`` on, which is any number."""
    return np.where(_distance(x) >= float(k), arrays.wide(x), 0).astype(x.dtype)


@operator("relax.nn.dropout", calls="f(a, b), rate=0.5 | 0.0")
def dropout(site: OperatorCall, data: Tensor, rate: float = 0.5) -> StructInfo:
    """The tensor with elements dropped, and the mask."""
    return fields((data, data))


@computes("relax.nn.dropout")
def dropout_value(x: Array, rate: float) -> tuple[Array, Array]:
    """At inference nothing is dropped: the tensor, and a mask of ones."""
    return x.copy(), np.ones(x.shape).astype(x.dtype)


@defines("relax.nn.dropout")
def dropout_definition(
    out: tuple[Result, Result], x: te.Tensor, rate: float
) -> tuple[te.Tensor, te.Tensor]:
    kept = exprs.filled(out[0], x, "T_dropout")
    mask = exprs.filled(out[1], lambda *i: te.const(1, out[1].dtype), "T_mask")
    return kept, mask


@operator(
    "relax.astype",
    calls="""
    x(a, b), dtype='float32' | 'int32' | 'bool' | 'float16' | 'int8'
    x(a), dtype='int64'
    """,
)
def astype(site: OperatorCall, x: Tensor, dtype: Type) -> StructInfo:
    """The elements converted to another type."""
    return like(x, VOID if dtype is None else dtype)


@computes("relax.astype", "relax.wrap_param")
def astype_value(x: Array, kind: DataType | None) -> Array:
    """The elements converted; see :func:`convert`."""
    return convert(x, arrays.kind_of(kind, x.dtype))


@rule("E-convert", "computation")
def convert(x: Array, kind: Kind) -> Array:
    """Elements converted to another type (E-convert).

    Integers wrap, and floats are rounded to nearest, ties to even. A float out of the range of an
    integer type becomes the nearest integer, and NaN becomes 0.
    """
    if kind == x.dtype:
        return x.copy()
    w = arrays.wide(x)
    if arrays.is_float(x.dtype) and not arrays.is_float(kind) and kind.kind != "b":
        return _to_integer(w, kind)
    if kind.kind == "b":
        return np.asarray(w != 0)
    return arrays.back(w, kind)


def _to_integer(x: Array, kind: Kind) -> Array:
    low, high = arrays.integer_range(kind)
    whole = np.trunc(np.where(np.isnan(x), 0, x)).astype(np.float64)
    inside = np.clip(whole, float(low), float(high))
    # The largest 64-bit integers are no floats: what rounds up to 2**63 is past the end.
    edge = inside >= float(high)
    with np.errstate(all="ignore"):
        made = np.where(edge, 0, inside).astype(arrays.working(kind))
    made = np.asarray(made)
    made[edge] = high
    return made.astype(kind)


@defines("relax.astype", "relax.wrap_param")
def astype_definition(out: Result, x: te.Tensor, dtype: DataType | None) -> te.Tensor:
    """The elements converted."""
    return exprs.filled(out, lambda *i: exprs.wide(x(*i)))


@operator("relax.wrap_param", calls="x(a, b), dtype='float32' | 'float16'")
def wrap_param(site: OperatorCall, data: Tensor, dtype: Type = FLOAT32) -> StructInfo:
    """A parameter of a model, converted to another type."""
    return astype(site, data, dtype)


@operator(
    "relax.ewise_fma",
    calls="""
    t(a, b), t(a, b), t(a, b)
    t(a), t(a), t(a)
    """,
    broken="OBL-fused-dims: f(a, 3), f(a, 3), f(a, 4)",
)
def ewise_fma(site: OperatorCall, x1: Tensor, x2: Tensor, x3: Tensor) -> StructInfo:
    """``x1 * x2 + x3`` of equal shapes."""
    infos = (x1, x2, x3)
    kind, device = agree(site, infos), place(site, infos)
    fused(site, infos)
    best = next((x for x in infos if site.dims(x) is not None), None)
    ndim = next((r for x in infos if (r := site.rank(x)) is not None), None)
    return (
        ranked(ndim, kind, device)
        if best is None
        else resized(ranked(None, kind, device), site.dims(best), None)
    )


@computes("relax.ewise_fma")
def ewise_fma_value(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c``, rounded after each."""
    return arrays.back(
        arrays.quiet(lambda: arrays.wide(a) * arrays.wide(b) + arrays.wide(c)), a.dtype
    )


@defines("relax.ewise_fma")
def ewise_fma_definition(out: Result, a: te.Tensor, b: te.Tensor, c: te.Tensor) -> te.Tensor:
    exprs.need_numbers(a.dtype)
    return exprs.elementwise(out, lambda x, y, z: x * y + z, a, b, c)


@rule("OBL-fused", "obligation")
def fused(site: OperatorCall, infos: tuple[TensorStructInfo, ...]) -> None:
    """Check that the operands of a fused multiply-add have the same shape."""
    ranks = {r for x in infos if (r := site.rank(x)) is not None}
    if len(ranks) > 1:
        words = f"the ranks {sorted(ranks)} of the operands differ {site.of(0)}"
        site.fail("OBL-rank-operand", words, 0)
    shapes = [(index, dims) for index, x in enumerate(infos) if (dims := site.dims(x)) is not None]
    alike = site.together("OBL-fused-dims", 0)
    for index, dims in shapes[1:]:
        for a, b in zip(shapes[0][1], dims, strict=True):
            alike.equal(
                a,
                b,
                lambda index=index: (  # type: ignore[misc]
                    f"the shapes differ {site.of(shapes[0][0])} and {site.of(index)}"
                ),
            )
    alike.settle()


_NUMERIC = """
    relax.add relax.divide relax.floor_divide relax.floor_mod relax.maximum relax.minimum
    relax.mod relax.multiply relax.power relax.subtract
"""
_WITH_BOOLEANS = frozenset(_NUMERIC.split())
"""Arithmetic in which TVM's code treats later Boolean operands as numbers."""
ARITHMETIC = f"""
    {_NUMERIC} relax.log_add_exp relax.atan2
    relax.bitwise_and relax.bitwise_or relax.bitwise_xor relax.left_shift relax.logical_and
    relax.logical_or relax.logical_xor relax.right_shift
"""
_BITS = "i(a, b), i(a, b) | i(b) | i() | i(1, b)\ni(), i(a)\nint8(a), int8(a)"
_INTEGER_CALLS = {
    **dict.fromkeys(
        ("relax.bitwise_and", "relax.bitwise_or", "relax.bitwise_xor"),
        _BITS + "\nbool(a, b), bool(b)",
    ),
    **dict.fromkeys(("relax.left_shift", "relax.right_shift"), _BITS),
}
"""Legal calls of the operators that do not take every element type."""
COMPARISON = """
    relax.equal relax.greater relax.greater_equal relax.less relax.less_equal relax.not_equal
"""
_SCALAR: Dims = (ONE,)


@rule("OBL-broadcast", "obligation")
def broadcast(site: OperatorCall, a: Dims, b: Dims, i: int = 0, j: int = 1) -> Dims | None:
    """The shape that two shapes broadcast to; None if it depends on which dimension is 1.

    Parameters
    ----------
    i, j
        The arguments with these shapes.
    """
    if len(a) < len(b):
        a, b, i, j = b, a, j, i
    lead = len(a) - len(b)
    result: list[PrimExpr] | None = list(a)
    fits: ObligationGroup | None = None
    for k, y in enumerate(b, lead):
        x = a[k]
        if same(x, y) or literal(y) == 1:
            site.ctx.discharged += 1
        elif literal(x) == 1:
            site.ctx.discharged += 1
            if result is not None:
                result[k] = y
        elif not _proved_equal(site, x, y):
            fits = fits or site.together("OBL-broadcast-dims", j)
            fits.require(
                equal_or_one(x, y),
                lambda x=x, y=y: (  # type: ignore[misc]
                    f"the shapes {show_shape(a)} {site.of(i)} and {show_shape(b)} {site.of(j)} "
                    f"do not broadcast: {show(x)} against {show(y)}"
                ),
            )
            result = None
    if fits is not None:
        fits.settle()
    if result is None:
        return None
    return a if all(map(is_, result, a)) else tuple(result)


def _proved_equal(site: OperatorCall, x: PrimExpr, y: PrimExpr) -> bool:
    if literal(x) is not None and literal(y) is not None:
        return False
    if site.ctx.prover.equal(x, y).status == "proved":
        site.ctx.discharged += 1
        return True
    return False


def equal_or_one(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """The condition that two dimensions are equal, or one that is not a literal is 1."""
    condition: PrimExpr = EQ(a, b)
    for dim in (a, b):
        if literal(dim) is None:
            condition = Or(condition, EQ(dim, ONE))
    return condition


def binary(site: OperatorCall, x1: Operand, x2: Operand) -> StructInfo:
    """Arithmetic on operands of the same element type. A literal number takes the width of the
    other operand.
    """
    if type(x1) is PrimStructInfo or type(x2) is PrimStructInfo:
        x1, x2 = _wide_as(site, 0, x1, x2), _wide_as(site, 1, x2, x1)
        _narrow(site, (x1, x2))
    kind = agree(site, (x1, x2), None, site.operator.name in _WITH_BOOLEANS)
    if kind.is_integer and site.operator.name in PARTIAL:
        _defined(site, kind)
    if type(x1) is PrimStructInfo and type(x2) is PrimStructInfo:
        return PrimStructInfo(kind)
    return shaped(site, (x1, x2), kind)


PARTIAL = {
    **dict.fromkeys(
        ("relax.divide", "relax.floor_divide", "relax.floor_mod", "relax.mod"), "divisor"
    ),
    "relax.power": "exponent",
    "relax.left_shift": "shift",
    "relax.right_shift": "shift",
}
"""The operators that have no value for some integers as their second operand."""


@rule("OBL-integers", "obligation")
def _defined(site: OperatorCall, kind: DataType) -> None:
    """Check that an operator on integers has a value for those that its second operand states."""
    numbers = stated(site, site.argument(1))
    match PARTIAL[site.operator.name]:
        case "divisor":
            if not need("OBL-integers-divisor", 0 not in numbers):
                site.warn_of_fault("OBL-integers-divisor", "an integer is divided by zero", 1)
        case "exponent":
            least = min(numbers, default=0)
            if not need("OBL-integers-exponent", least >= 0):
                words = f"an integer is raised to the power {least}, which must not be negative"
                site.warn_of_fault("OBL-integers-exponent", words, 1)
        case "shift":
            wrong = next((n for n in numbers if not 0 <= n < kind.bits), None)
            if not need("OBL-integers-shift", wrong is None):
                words = f"a number of {kind.bits} bits is shifted by {wrong}"
                site.warn_of_fault("OBL-integers-shift", words, 1)


_WIDTHS = {"int": IntImm, "float": FloatImm}


def _wide_as(site: OperatorCall, at: int, x: Operand, other: Operand) -> Operand:
    """A literal of 64 bits beside an operand of 32 is one of 32, where the text does not say how
    wide it is.
    """
    if site.call.spelled.get(at) in ("R.prim_value", "typed"):
        return x
    kind = other.dtype
    literal_of = _WIDTHS.get(kind.code)
    if literal_of is None or kind.bits != 32 or not isinstance(x, PrimStructInfo):
        return x
    wide = isinstance(x.value, literal_of) and x.dtype.bits == 64
    return PrimStructInfo(kind, replace(x.value, dtype=kind)) if wide and x.value else x


def _narrow(site: OperatorCall, operands: tuple[Operand, Operand]) -> None:
    """Warn of a number in the text beside an operand of 64 bits: TVM 0.27 reads it as one of 32."""
    spelled = [site.call.spelled.get(k) == "number" for k in range(2)]
    if spelled[0] is spelled[1]:
        return
    at = spelled.index(True)
    x, other = operands[at], operands[1 - at]
    if isinstance(x, PrimStructInfo) and x.dtype == other.dtype and other.dtype.bits == 64:
        shown = f"{show(x.value) if x.value is not None else 'it'}"
        words = f'TVM reads the number {shown} as 32 bits: write R.const({shown}, "{other.dtype}")'
        site.warn("OBL-agree-dtype", words, at)


def comparison(site: OperatorCall, x1: Operand, x2: Operand) -> StructInfo:
    """A comparison of any element types; the result is Boolean."""
    if type(x1) is PrimStructInfo and type(x2) is PrimStructInfo:
        return PrimStructInfo(BOOL)
    return shaped(site, (x1, x2), BOOL)


def shaped(site: OperatorCall, infos: Sequence[Operand], kind: DataType) -> Tensor:
    head = infos[0]
    device = place(site, infos)
    if type(head) is TensorStructInfo and head.shape is not None:
        shape = head.shape
        if all(getattr(info, "shape", None) is shape for info in infos[1:]):
            if head.dtype is kind and head.vdevice is device:
                return head
            return TensorStructInfo(shape, kind, head.ndim, device)
    dims: Dims | None = _dims(site, head)
    of = 0  # the operand whose shape it is so far
    for index, info in enumerate(infos[1:], 1):
        other = _dims(site, info)
        if dims is None or other is None:
            dims = None
            break
        both = broadcast(site, dims, other, of, index)
        of = of if both is dims else index
        dims = both
    if dims is None:
        return ranked(_rank(site, infos), kind, device)
    for info in infos:
        if isinstance(info, TensorStructInfo) and _keeps(info, dims, kind, device):
            return info
    return tensor(dims, kind, device)


def _keeps(info: Tensor, dims: Dims, kind: DataType, device: object) -> bool:
    """Whether an operand's struct info is already the result's."""
    values = getattr(info.shape, "values", None)
    return values is dims and info.dtype is kind and info.vdevice is device


def _dims(site: OperatorCall, info: Operand) -> Dims | None:
    return site.dims(info) if type(info) is TensorStructInfo else _SCALAR


def _rank(site: OperatorCall, infos: Sequence[Operand]) -> int | None:
    ranks = [1 if isinstance(x, PrimStructInfo) else site.rank(x) for x in infos]
    return None if None in ranks else max(r for r in ranks if r is not None)


_BROKEN = {
    "relax.add": """
    OBL-agree-dtype: float32(a, b), float16(a, b)
    OBL-broadcast-dims: f(a, 3), f(a, 4)
    D14-arity: f(a, b)
    D14-argument: f(a), string('x')
    """,
    "relax.greater": """
    OBL-broadcast-dims: t(5), t(a, 2)
    """,
    "relax.floor_divide": "OBL-integers-divisor: int32(a, b), const(0, 'int32')",
    "relax.power": "OBL-integers-exponent: int32(a, b), const(-1, 'int32')",
    "relax.left_shift": "OBL-integers-shift: int32(a, b), const(32, 'int32')",
}
"""Calls that break a premise; the others break the same ones."""

for _name in ARITHMETIC.split():
    calls, broken = _INTEGER_CALLS.get(_name, ""), _BROKEN.get(_name, "")
    operator(_name, calls=calls, broken=broken)(binary)
for _name in COMPARISON.split():
    operator(_name, broken=_BROKEN.get(_name, ""))(comparison)


@operator(
    "relax.where",
    calls="""
    bool(a, b), x(a, b) | x(b) | x() | x(1, b), x(a, b) | x(a, 1) | x()
    bool(), x(a), x(a)
    """,
    broken="""
    OBL-element-bool: float32(a, b), f(a, b), f(a, b)
    OBL-broadcast-dims: bool(3, a), f(2, a), f()
    """,
)
def where(site: OperatorCall, condition: Tensor, x1: Tensor, x2: Tensor) -> StructInfo:
    """Elements of one tensor where a condition holds, of another elsewhere."""
    elements(site, condition, 0, "bool")
    return shaped(site, (condition, x1, x2), agree(site, (x1, x2), (1, 2)))


@computes("relax.where")
def where_value(condition: Array, a: Array, b: Array) -> Array:
    arrays.broadcast(condition, a, b)
    return np.where(condition, a, b)


@defines("relax.where")
def where_definition(out: Result, condition: te.Tensor, x1: te.Tensor, x2: te.Tensor) -> te.Tensor:
    return exprs.filled(
        out,
        lambda *i: te.select(
            _truth(exprs.wide(exprs.broadcast(condition, i))),
            exprs.broadcast(x1, i),
            exprs.broadcast(x2, i),
        ),
    )


# ---------------------------------------------------------------- values


def _gelu_tanh(x: Array) -> Array:
    # Step by step in one array, and products for powers, which are slow in NumPy. (Of rank 0 a
    # product is no array.)
    inner = np.asarray(x * x)
    inner *= 0.044715
    inner += 1
    inner *= x
    inner *= 0.7978845608028654
    np.tanh(inner, out=inner)
    inner += 1
    inner *= x
    inner *= 0.5
    return inner


def _sigmoid(x: Array) -> Any:
    # Of large negative x, exp(-x) is infinite, and 1 / infinity the right 0.
    return 1 / (1 + np.exp(-x))


_UNARY: dict[str, Function] = {
    **{
        name: later(np, name)
        for name in [
            "ceil",
            "cos",
            "cosh",
            "exp",
            "floor",
            "isfinite",
            "isinf",
            "isnan",
            "log",
            "logical_not",
            "negative",
            "sign",
            "sin",
            "sinh",
            "sqrt",
            "square",
            "tan",
            "tanh",
            "trunc",
        ]
    },
    **{
        f"a{name}": later(np, f"arc{name}")
        for name in ["cos", "cosh", "sin", "sinh", "tan", "tanh"]
    },
    "abs": later(np, "abs"),
    "bitwise_not": later(np, "invert"),
    "erf": erf,
    "round": later(np, "round"),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": _sigmoid,
    "nn.relu": lambda x: np.maximum(x, x.dtype.type(0)),
    "nn.gelu": lambda x: 0.5 * x * (1 + erf(x * 0.7071067811865476)),
    "nn.gelu_tanh": _gelu_tanh,
    "nn.selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "nn.silu": lambda x: x * _sigmoid(x),
}
_EXACT_ON_INTEGERS = frozenset(["ceil", "floor", "trunc", "round"])
_BOOLEAN = frozenset(["isfinite", "isinf", "isnan"])


def unary_value(name: str) -> Function:
    """The evaluation of an operator with one operand."""
    function = _UNARY[name]

    def evaluate(x: Array) -> Array:
        if name in _EXACT_ON_INTEGERS and not arrays.is_float(x.dtype):
            return x.copy()
        kind = np.dtype(np.bool_) if name in _BOOLEAN else x.dtype
        try:
            return arrays.back(arrays.quiet(function, arrays.wide(x)), kind)
        except TypeError:
            raise OperatorFault(
                "E-operator-dtype", f"{name} is not defined for elements of type {x.dtype}"
            ) from None

    return evaluate


@rule("E-divide", "computation")
def _divisor(b: Array) -> None:
    if b.size and b.dtype.kind in "iu" and not np.all(b):
        raise OperatorFault("E-divide-zero", "an integer is divided by zero")


def _divide(a: Array, b: Array) -> Any:
    if a.dtype.kind not in "iu":
        return a / b
    _divisor(b)
    whole = np.floor_divide(a, b)
    # Towards zero: where signs differ and something is left, one more.
    return whole + ((whole < 0) & (whole * b != a)).astype(a.dtype)


def _floor_divide(a: Array, b: Array) -> Any:
    if a.dtype.kind not in "iu":
        return np.floor(a / b)
    _divisor(b)
    return np.floor_divide(a, b)


def _floor_mod(a: Array, b: Array) -> Any:
    if a.dtype.kind not in "iu":
        return a - np.floor(a / b) * b
    _divisor(b)
    return np.mod(a, b)


def _mod(a: Array, b: Array) -> Any:
    _divisor(b)
    return np.fmod(a, b)


@rule("E-power", "computation")
def _power(a: Array, b: Array) -> Any:
    if b.dtype.kind == "i" and b.size and b.min() < 0:
        raise OperatorFault("E-power-negative", f"an integer is raised to the power {b.min()}")
    found = np.power(a, b)
    if a.dtype.kind in "iub" or not (b == 0.5).any():
        return found
    # NumPy takes one exponent of 0.5 for the square root, which differs at -0 and at -inf.
    found = np.where((b == 0.5) & (a == 0), np.abs(a), found)
    return np.where((b == 0.5) & (a == -np.inf), np.abs(a), found)


@rule("E-shift", "computation")
def _counts(kind: Kind, b: Array) -> None:
    bits = arrays.width(kind)
    if b.dtype.kind in "iu" and b.size and (b.min() < 0 or b.max() >= bits):
        wrong = b.min() if b.min() < 0 else b.max()
        raise OperatorFault("E-shift-range", f"a number of {bits} bits is shifted by {wrong}")


_BINARY: dict[str, Function] = {
    **{
        name: later(np, name)
        for name in [
            "add",
            "subtract",
            "multiply",
            "maximum",
            "minimum",
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "left_shift",
            "right_shift",
            "logical_and",
            "logical_or",
            "logical_xor",
            "equal",
            "greater",
            "greater_equal",
            "less",
            "less_equal",
            "not_equal",
        ]
    },
    "atan2": later(np, "arctan2"),
    "divide": _divide,
    "floor_divide": _floor_divide,
    "floor_mod": _floor_mod,
    "log_add_exp": later(np, "logaddexp"),
    "mod": _mod,
    "power": _power,
}
_COMPARISONS = frozenset(["equal", "greater", "greater_equal", "less", "less_equal", "not_equal"])
_SHIFTS = frozenset(["left_shift", "right_shift"])
_SCALARS = (bool, int, float)


@rule("E-compare", "computation")
def alike(a: Array, b: Array) -> tuple[Array, Array]:
    """Operands of a comparison converted to a common type: the float type, the wider type, or the
    unsigned one of two integer types of the same width.
    """

    def rank(kind: Kind) -> tuple[bool, int, bool]:
        return arrays.is_float(kind), arrays.width(kind), kind.kind == "u"

    kind = max(a.dtype, b.dtype, key=rank)
    return a.astype(kind), b.astype(kind)


def binary_value(name: str) -> Function:
    """The evaluation of an operator with two operands."""
    function = _BINARY[name]

    def evaluate(x1: Any, x2: Any) -> Any:
        a, b = arrays.operand(x1, x2), arrays.operand(x2, x1)
        shape = arrays.broadcast(a, b)
        if name in _SHIFTS and not arrays.is_float(a.dtype):
            _counts(a.dtype, arrays.wide(b))
        if name in _COMPARISONS and a.dtype != b.dtype:
            a, b = alike(a, b)
        try:
            found = arrays.quiet(function, arrays.wide(a), arrays.wide(b))
        except TypeError:
            raise arrays.undefined(name, a) from None
        if isinstance(x1, _SCALARS) and isinstance(x2, _SCALARS):
            return arrays.number(np.asarray(found)).item()
        kind = np.dtype(np.bool_) if name in _COMPARISONS else a.dtype
        return arrays.back(found, kind).reshape(shape)

    return evaluate


for _name in _UNARY:
    computes(f"relax.{_name}")(unary_value(_name))
for _name in _BINARY:
    computes(f"relax.{_name}")(binary_value(_name))


# ---------------------------------------------------------------- definitions


def _gelu(x: te.Scalar) -> te.Scalar:
    return x * 0.5 * (te.erf(x * 0.7071067811865476) + 1.0)


def _gelu_tanh_definition(x: te.Scalar) -> te.Scalar:
    inner = (x * x * 0.044715 + 1.0) * x * 0.7978845608028654
    return (te.tanh(inner) + 1.0) * x * 0.5


def _sigmoid_definition(x: te.Scalar) -> te.Scalar:
    return _one(x) / (te.exp(-x) + 1.0)


def _one(x: te.Scalar) -> te.Scalar:
    return te.const(1, x.dtype)


def _zero(x: te.Scalar) -> te.Scalar:
    return te.const(0, x.dtype)


def _selu(x: te.Scalar) -> te.Scalar:
    below = (te.exp(x) - 1.0) * 1.6732632423543772
    return te.select(x > _zero(x), x, below) * 1.0507009873554805


_FLOATS: dict[str, Callable[[te.Scalar], te.Scalar]] = {
    **{
        name: later(te, name)
        for name in (
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atanh",
            "cos",
            "cosh",
            "erf",
            "exp",
            "log",
            "sin",
            "sinh",
            "sqrt",
            "tan",
            "tanh",
        )
    },
    "rsqrt": lambda x: _one(x) / te.sqrt(x),
    "sigmoid": _sigmoid_definition,
    "nn.gelu": _gelu,
    "nn.gelu_tanh": _gelu_tanh_definition,
    "nn.selu": _selu,
    "nn.silu": lambda x: x * _sigmoid_definition(x),
}
"""Functions of floats."""


def _sign(x: te.Scalar) -> te.Scalar:
    negative = _zero(x) - 1 if x.dtype.code != "uint" else _zero(x)
    below = te.select(x < _zero(x), te.cast(x.dtype, negative), x)
    return te.select(x > _zero(x), _one(x), below)


def _rounded(name: str) -> Callable[[te.Scalar], te.Scalar]:
    function = later(te, name)
    return lambda x: function(x) if x.dtype.is_float else x


_NUMBERS: dict[str, Callable[[te.Scalar], te.Scalar]] = {
    "negative": lambda x: _zero(x) - x if not x.dtype.is_float else x * -1.0,
    "sign": _sign,
}
"""Functions of numbers, which Booleans are not."""
_ALL: dict[str, Callable[[te.Scalar], te.Scalar]] = {
    **{name: _rounded(name) for name in ("ceil", "floor", "trunc", "round")},
    "abs": later(te, "abs"),
    "isfinite": later(te, "isfinite"),
    "isinf": later(te, "isinf"),
    "isnan": later(te, "isnan"),
    "logical_not": lambda x: exprs.equals(x, _zero(x)),
    "nn.relu": lambda x: x if x.dtype == BOOL else exprs.larger(x, _zero(x)),
    "square": lambda x: te.all(x, x) if x.dtype == BOOL else x * x,
}
"""Functions of all elements."""


def _unary_definition(name: str) -> Definition:
    function = _FLOATS.get(name) or _NUMBERS.get(name) or _ALL[name]

    def define(out: Result, x: te.Tensor) -> te.Tensor:
        if name in _FLOATS:
            exprs.need_floats(x.dtype)
        elif name in _NUMBERS:
            exprs.need_numbers(x.dtype)
        return exprs.elementwise(out, function, x)

    return define


@defines("relax.bitwise_not")
def bitwise_not_definition(out: Result, x: te.Tensor) -> te.Tensor:
    """The inverted bits; for Booleans, the negation."""
    if x.dtype.is_float:
        decline("it is not defined for floats")
    return exprs.elementwise(out, lambda v: ~v, x)


def _triangle(keep: Callable[[te.Scalar, te.Scalar], te.Scalar]) -> Definition:
    def define(out: Result, x: te.Tensor, k: Any) -> te.Tensor:
        def element(*i: te.Scalar) -> te.Scalar:
            row, zero = i[-2] + te.cast("int64", k), te.const(0, x.dtype)
            return te.select(keep(i[-1], row), x(*i), zero)

        return exprs.filled(out, element)

    return define


def _divide_definition(a: te.Scalar, b: te.Scalar) -> te.Scalar:
    return a / b if a.dtype.is_float else te.truncdiv(a, b)


def _floor_divide_definition(a: te.Scalar, b: te.Scalar) -> te.Scalar:
    return te.floor(a / b) if a.dtype.is_float else a // b


def _floor_mod_definition(a: te.Scalar, b: te.Scalar) -> te.Scalar:
    return a - te.floor(a / b) * b if a.dtype.is_float else a % b


def _mod_definition(a: te.Scalar, b: te.Scalar) -> te.Scalar:
    return te.fmod(a, b) if a.dtype.is_float else te.truncmod(a, b)


def _log_add_exp(a: te.Scalar, b: te.Scalar) -> te.Scalar:
    apart = te.log1p(te.exp(-te.abs(a - b))) + exprs.larger(a, b)
    return te.if_then_else(exprs.equals(a, b), a + te.log(te.const(2.0, a.dtype)), apart)


def _truth(x: te.Scalar) -> te.Scalar:
    return x if x.dtype == BOOL else scalars.binary(tir.NE, x, _zero(x))


_ARITHMETIC: dict[str, Callable[[te.Scalar, te.Scalar], te.Scalar]] = {
    "subtract": lambda a, b: a - b,
    "divide": _divide_definition,
    "floor_divide": _floor_divide_definition,
    "floor_mod": _floor_mod_definition,
    "mod": _mod_definition,
    "power": later(te, "power"),
}
"""The operators that are not defined for Booleans."""
_ON_FLOATS: dict[str, Callable[[te.Scalar, te.Scalar], te.Scalar]] = {
    "atan2": later(te, "atan2"),
    "log_add_exp": _log_add_exp,
}
_ON_BITS: dict[str, Callable[[te.Scalar, te.Scalar], te.Scalar]] = {
    "bitwise_and": lambda a, b: scalars.bitwise("bitwise_and", a, b),
    "bitwise_or": lambda a, b: scalars.bitwise("bitwise_or", a, b),
    "bitwise_xor": lambda a, b: (
        scalars.binary(tir.NE, a, b) if a.dtype == BOOL else scalars.bitwise("bitwise_xor", a, b)
    ),
    "left_shift": lambda a, b: scalars.bitwise("shift_left", a, b),
    "right_shift": lambda a, b: scalars.bitwise("shift_right", a, b),
}
_ANY: dict[str, Callable[[te.Scalar, te.Scalar], te.Scalar]] = {
    "add": lambda a, b: te.any(a, b) if a.dtype == BOOL else a + b,
    "multiply": lambda a, b: te.all(a, b) if a.dtype == BOOL else a * b,
    "maximum": exprs.larger,
    "minimum": exprs.smaller,
    "logical_and": lambda a, b: te.all(_truth(a), _truth(b)),
    "logical_or": lambda a, b: te.any(_truth(a), _truth(b)),
    "logical_xor": lambda a, b: scalars.binary(tir.NE, _truth(a), _truth(b)),
}
_RELATIONS: dict[str, type[tir.Binary]] = {
    "equal": tir.EQ,
    "greater": tir.GT,
    "greater_equal": tir.GE,
    "less": tir.LT,
    "less_equal": tir.LE,
    "not_equal": tir.NE,
}


def _operands(a: Any, b: Any) -> tuple[Any, Any]:
    """Both operands; a scalar beside a tensor is of the tensor's type."""
    if isinstance(a, te.Scalar):
        return te.cast(b.dtype, a), b
    return (a, te.cast(a.dtype, b)) if isinstance(b, te.Scalar) else (a, b)


def _binary_definition(name: str) -> Definition:
    function = (_ARITHMETIC | _ON_FLOATS | _ON_BITS | _ANY)[name]

    def define(out: Result, x1: Any, x2: Any) -> te.Tensor:
        a, b = _operands(x1, x2)
        if name in _ARITHMETIC or "shift" in name:
            exprs.need_numbers(a.dtype)
        if name in _ON_FLOATS:
            exprs.need_floats(a.dtype)
        if name in _ON_BITS and a.dtype.is_float:
            decline("it is not defined for floats")
        if name in ("maximum", "minimum") and a.dtype == b.dtype == out.dtype:  # stays as it is
            return exprs.filled(
                out, lambda *i: function(exprs.broadcast(a, i), exprs.broadcast(b, i))
            )
        return exprs.elementwise(out, function, a, b)

    return define


def _comparison_definition(name: str) -> Definition:
    kind = _RELATIONS[name]

    def define(out: Result, x1: Any, x2: Any) -> te.Tensor:
        a, b = _operands(x1, x2)
        # The type that elements of two types are compared in (E-compare).
        meet = max(
            a.dtype, b.dtype, key=lambda kind: (kind.is_float, kind.bits, kind.code == "uint")
        )

        def element(x: te.Scalar, y: te.Scalar) -> te.Scalar:
            p, q = exprs.wide(exprs.convert(x, meet)), exprs.wide(exprs.convert(y, meet))
            if p.dtype == BOOL and kind not in (tir.EQ, tir.NE):
                p, q = te.cast("int8", p), te.cast("int8", q)
            return scalars.binary(kind, p, q)

        return exprs.filled(out, lambda *i: element(exprs.broadcast(a, i), exprs.broadcast(b, i)))

    return define


for _name in (*_FLOATS, *_NUMBERS, *_ALL):
    defines(f"relax.{_name}")(_unary_definition(_name))
for _name in (*_ARITHMETIC, *_ON_FLOATS, *_ON_BITS, *_ANY):
    defines(f"relax.{_name}")(_binary_definition(_name))
for _name in _RELATIONS:
    defines(f"relax.{_name}")(_comparison_definition(_name))
defines("relax.tril")(_triangle(lambda column, row: column <= row))
defines("relax.triu")(_triangle(lambda column, row: column >= row))
