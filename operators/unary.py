"""Element by element, one operand: the result has its shape, and mostly its element type."""

from __future__ import annotations

from rlx.grammar.ast import StructInfo, TensorStructInfo
from rlx.grammar.dtype import BOOL, VOID, DataType
from rlx.grammar.tir import PrimExpr
from rlx.operators.declare import operator
from rlx.operators.evaluation import late
from rlx.operators.site import Site
from rlx.operators.tensors import agree, elements, fields, like, place, rank, ranked, resized
from rlx.spec.registry import rule

FLOAT = (
    """acos acosh asin asinh atan atanh cos cosh erf exp log rsqrt sigmoid sin sinh sqrt tan tanh"""
)
ANY = """abs bitwise_not ceil floor logical_not negative round sign square trunc"""
TEST = """isfinite isinf isnan"""
FLOAT_NN = "gelu gelu_tanh selu silu"


def float_elementwise(site: Site, x: TensorStructInfo) -> StructInfo:
    """Floats to floats."""
    elements(site, x, 0, "float")
    return x


def elementwise(site: Site, x: TensorStructInfo) -> StructInfo:
    """Any element type, kept."""
    return x


def test(site: Site, x: TensorStructInfo) -> StructInfo:
    """A Boolean for each element."""
    return like(x, BOOL)


for _name in FLOAT.split():
    operator(f"relax.{_name}", "x", evaluate=late("elementwise.unary", _name))(float_elementwise)
for _name in ANY.split():
    operator(f"relax.{_name}", "x", evaluate=late("elementwise.unary", _name))(elementwise)
for _name in TEST.split():
    operator(f"relax.{_name}", "x", evaluate=late("elementwise.unary", _name))(test)
for _name in FLOAT_NN.split():
    operator(f"relax.nn.{_name}", "data", evaluate=late("elementwise.unary", f"nn.{_name}"))(
        float_elementwise
    )
operator("relax.nn.relu", "data", evaluate=late("elementwise.unary", "nn.relu"))(elementwise)


@operator(
    "relax.nn.leakyrelu", "data, alpha: number = 0.01", evaluate=late("elementwise.leakyrelu")
)
@operator(
    "relax.nn.softplus",
    "data, beta: number = 1.0, threshold: number = 20.0",
    evaluate=late("elementwise.softplus"),
)
def float_with_constants(site: Site, x: TensorStructInfo, *constants: float) -> StructInfo:
    """Floats to floats, with constants that shape the function."""
    elements(site, x, 0, "float")
    return x


@operator("relax.clip", "x, min: prim, max: prim", evaluate=late("elementwise.clip"))
def clip(
    site: Site, x: TensorStructInfo, low: PrimExpr | None, high: PrimExpr | None
) -> StructInfo:
    """Elements held between two scalars."""
    return x


@operator("relax.tril", "x, k: prim = 0", evaluate=late("elementwise.tril"))
@operator("relax.triu", "x, k: prim = 0", evaluate=late("elementwise.triu"))
def triangle(site: Site, x: TensorStructInfo, k: PrimExpr | None) -> StructInfo:
    """The lower or upper triangle of the last two axes; the rest is zero."""
    rank(site, x, 0, 2, -1)
    return x


@operator("relax.nn.dropout", "data, rate: number = 0.5", evaluate=late("elementwise.dropout"))
def dropout(site: Site, data: TensorStructInfo, rate: float) -> StructInfo:
    """The tensor with elements dropped, and the mask."""
    return fields((data, data))


@operator("relax.astype", "x, dtype: dtype", evaluate=late("elementwise.astype"))
@operator("relax.wrap_param", "data, dtype: dtype = 'float32'", evaluate=late("elementwise.astype"))
def astype(site: Site, x: TensorStructInfo, kind: DataType | None) -> StructInfo:
    """The elements converted to another type."""
    return like(x, VOID if kind is None else kind)


@operator("relax.ewise_fma", "x1, x2, x3", evaluate=late("elementwise.ewise_fma"))
def ewise_fma(
    site: Site, x1: TensorStructInfo, x2: TensorStructInfo, x3: TensorStructInfo
) -> StructInfo:
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


@rule("OBL-fused", "4448944f")
def fused(site: Site, infos: tuple[TensorStructInfo, ...]) -> None:
    """The operands of a fused multiplication and addition have one shape."""
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
