"""Unary elementwise operators: the result has the operand's shape, and usually its element type."""

from __future__ import annotations

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, VOID
from rlx.operators.dim_arithmetic import ZERO
from rlx.operators.parameters import Prim, Tensor, Type
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import agree, elements, fields, like, place, rank, ranked, resized
from rlx.operators.site import Site
from rlx.spec.registry import rule

FLOAT = (
    """acos acosh asin asinh atan atanh cos cosh erf exp log rsqrt sigmoid sin sinh sqrt tan tanh"""
)
ANY = """abs bitwise_not ceil floor logical_not negative round sign square trunc"""
_CALLS = {
    "bitwise_not": "i(a, b) | bool(a)",
    **dict.fromkeys(("negative", "sign"), "t(a, b) | t(a) | t() | t(a, 3, b)"),
}
"""Legal calls of the operators that do not take every element type."""
TEST = """isfinite isinf isnan"""
FLOAT_NN = "gelu gelu_tanh selu silu"


def float_elementwise(site: Site, x: Tensor) -> StructInfo:
    """Floats to floats."""
    elements(site, x, 0, "float")
    return x


def elementwise(site: Site, x: Tensor) -> StructInfo:
    """Any element type, kept."""
    return x


def test(site: Site, x: Tensor) -> StructInfo:
    """A Boolean for each element."""
    return like(x, BOOL)


def activation(site: Site, data: Tensor) -> StructInfo:
    """An activation function, from floats to floats."""
    return float_elementwise(site, data)


for _name in FLOAT.split():
    operator(f"relax.{_name}")(float_elementwise)
for _name in ANY.split():
    operator(f"relax.{_name}", calls=_CALLS.get(_name, ""))(elementwise)
for _name in TEST.split():
    operator(f"relax.{_name}")(test)
for _name in FLOAT_NN.split():
    operator(f"relax.nn.{_name}")(activation)


@operator("relax.nn.relu")
def relu(site: Site, data: Tensor) -> StructInfo:
    """Negative elements become zero."""
    return data


@operator(
    "relax.nn.leakyrelu",
    calls="""
    f(a, b), alpha=None | 0.25
    f(a)
    """,
)
def leakyrelu(site: Site, data: Tensor, alpha: float = 0.01) -> StructInfo:
    """Negative elements shrink by a factor."""
    return float_elementwise(site, data)


@operator("relax.nn.softplus", calls="f(a, b), beta=None | 2.0, threshold=None | 10.0")
def softplus(site: Site, data: Tensor, beta: float = 1.0, threshold: float = 20.0) -> StructInfo:
    """A smooth maximum with zero; above a threshold, the element itself."""
    return float_elementwise(site, data)


@operator(
    "relax.clip",
    calls="""
    t(a, b), prim(0), prim(6)
    t(a), prim(0), prim(1)
    """,
)
def clip(site: Site, x: Tensor, min_: Prim, max_: Prim) -> StructInfo:
    """Elements clamped between two scalars."""
    return x


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
def triangle(site: Site, x: Tensor, k: Prim = ZERO) -> StructInfo:
    """The lower or upper triangle of the last two axes; the rest is zero."""
    rank(site, x, 0, 2, -1)
    return x


@operator("relax.nn.dropout", calls="f(a, b), rate=0.5 | 0.0")
def dropout(site: Site, data: Tensor, rate: float = 0.5) -> StructInfo:
    """The tensor with elements dropped, and the mask."""
    return fields((data, data))


@operator(
    "relax.astype",
    calls="""
    x(a, b), dtype='float32' | 'int32' | 'bool' | 'float16' | 'int8'
    x(a), dtype='int64'
    """,
)
def astype(site: Site, x: Tensor, dtype: Type) -> StructInfo:
    """The elements converted to another type."""
    return like(x, VOID if dtype is None else dtype)


@operator("relax.wrap_param", calls="x(a, b), dtype='float32' | 'float16'")
def wrap_param(site: Site, data: Tensor, dtype: Type = FLOAT32) -> StructInfo:
    """A parameter of a model, converted to another type."""
    return astype(site, data, dtype)


@operator(
    "relax.ewise_fma",
    calls="""
    t(a, b), t(a, b), t(a, b)
    t(a), t(a), t(a)
    """,
)
def ewise_fma(site: Site, x1: Tensor, x2: Tensor, x3: Tensor) -> StructInfo:
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


@rule("OBL-fused", "a110e3a3", "obligation")
def fused(site: Site, infos: tuple[TensorStructInfo, ...]) -> None:
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
