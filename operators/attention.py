"""Attention."""

from __future__ import annotations

from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.tir import EQ, FloorMod, Or, PrimExpr
from rlx.operators.dim_arithmetic import ONE, ZERO, literal, same
from rlx.operators.parameters import Tensor
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import known, place, rank, ranked, tensor
from rlx.operators.site import Dims, Site, show, show_shape
from rlx.spec.registry import rule

_AXES = ("batch sizes", "sequence lengths", "numbers of heads", "head dimensions")


@rule("OBL-attention", "5ca9ae69", "obligation")
def belong(site: Site, query: Dims, key: Dims, value: Dims) -> bool:
    """Check that query, key and value match in batch size, number of keys, heads and width."""
    pairs = (
        ("OBL-attention-batch", query[0], key[0], 0, 1, 0),
        ("OBL-attention-batch", query[0], value[0], 0, 2, 0),
        ("OBL-attention-length", key[1], value[1], 1, 2, 1),
        ("OBL-attention-heads", key[2], value[2], 1, 2, 2),
        ("OBL-attention-width", query[3], key[3], 0, 1, 3),
    )
    held = True
    for code, a, b, i, j, k in pairs:
        held = held and site.equal(
            code,
            a,
            b,
            lambda a=a, b=b, i=i, j=j, k=k: (  # type: ignore[misc]
                f"the {_AXES[k]} differ: {show(a)} {site.of(i)} and {show(b)} {site.of(j)}"
            ),
            j,
        )
    return held and _shared(site, query[2], key[2])


def _shared(site: Site, heads: PrimExpr, groups: PrimExpr) -> bool:
    """Each key head serves the same number of query heads."""
    if same(heads, groups):
        site.ctx.discharged += 1
        return True
    return site.require(
        "OBL-attention-groups",
        EQ(FloorMod(heads, groups), ZERO),
        lambda: (
            f"{show(heads)} query heads {site.of(0)} are not a multiple of {show(groups)}"
            f" key heads {site.of(1)}"
        ),
        1,
    )


@rule("OBL-bias", "e6a421f3", "obligation")
def biased(site: Site, query: Dims, key: Dims, bias: Dims) -> None:
    """Check that the bias broadcasts to (batch, heads, queries, keys)."""
    wanted = (query[0], query[2], query[1], key[1])
    fits = site.together("OBL-bias-dims", 3)
    for k, (dim, aim) in enumerate(zip(bias, wanted, strict=True)):
        if same(dim, aim) or (literal(dim) == 1 and k < 3):
            site.ctx.discharged += 1
            continue
        may_be_one = literal(dim) is None and k < 3
        fits.require(
            Or(EQ(dim, aim), EQ(dim, ONE)) if may_be_one else EQ(dim, aim),
            lambda dim=dim, aim=aim: (  # type: ignore[misc]
                f"the bias {site.of(3)} does not broadcast to {show_shape(wanted)}: "
                f"{show(dim)} against {show(aim)}"
            ),
        )
    fits.settle()


@operator(
    "relax.nn.attention",
    calls="""
    f(a, b, 8, 16), f(a, c, 8, 16), f(a, c, 8, 32), scale=None | 0.5
    f(a, b, 8, 16), f(a, b, 8, 16), f(a, b, 8, 16), causal_mask='TopLeft'
    """,
)
@operator(
    "relax.nn.attention_bias",
    calls="f(a, b, 8, 16), f(a, c, 8, 16), f(a, c, 8, 32), f(a, 8, b, c) | f(1, 1, b, c)",
)
def attention(
    site: Site,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None = None,
    scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> StructInfo:
    """For each query, the mean of the values, weighted by the similarity of the query and their
    keys.
    """
    for index, info in enumerate((query, key, value)):
        rank(site, info, index, 4)
    operands = (query, key, value) if bias is None else (query, key, value, bias)
    if bias is not None:
        rank(site, bias, 3, 4)
    known(site, "shape", *enumerate(operands))
    device = place(site, (query, key, value))
    q, k, v = site.dims(query), site.dims(key), site.dims(value)
    if q is None or k is None or v is None:
        return ranked(4, query.dtype, device)
    if belong(site, q, k, v) and bias is not None and (b := site.dims(bias)) is not None:
        biased(site, q, k, b)
    if v[3] is q[3]:
        return query
    return tensor((q[0], q[1], q[2], v[3]), query.dtype, device)


@operator(
    "relax.nn.attention_var_len",
    calls="f(1, b, 8, 16), f(1, c, 8, 16), f(1, c, 8, 32), int32(a), int32(), int32(a), int32()",
)
def attention_var_len(
    site: Site,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    seqstart_q: Tensor,
    max_seqlen_q: Tensor,
    seqstart_k: Tensor | None = None,
    max_seqlen_k: Tensor | None = None,
    scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> StructInfo:
    """Attention over sequences of different lengths, concatenated along one axis."""
    return attention(site, queries, keys, values, None)
