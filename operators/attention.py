"""Attention."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.tir import EQ, FloorMod, Or, PrimExpr
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array
from rlx.operators.dim_arithmetic import ONE, ZERO, const, literal, same
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result, decline
from rlx.operators.late import np, scalars, te
from rlx.operators.normalization import softmax_value
from rlx.operators.operator_call import Dims, OperatorCall, show, show_shape
from rlx.operators.parameters import Tensor
from rlx.operators.registry import computes, defines, operator
from rlx.operators.rule_helpers import need_known, place, rank, ranked, stated, tensor
from rlx.spec.registry import need, rule

_AXES = ("batch sizes", "sequence lengths", "numbers of heads", "head dimensions")


@rule("OBL-attention", "obligation")
def belong(site: OperatorCall, query: Dims, key: Dims, value: Dims) -> bool:
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


def _shared(site: OperatorCall, heads: PrimExpr, groups: PrimExpr) -> bool:
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


@rule("OBL-bias", "obligation")
def biased(site: OperatorCall, query: Dims, key: Dims, bias: Dims) -> None:
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
    broken="""
    OBL-attention-batch: f(2, b, 8, 16), f(3, c, 8, 16), f(3, c, 8, 16)
    OBL-attention-length: f(a, b, 8, 16), f(a, 4, 8, 16), f(a, 5, 8, 16)
    OBL-attention-heads: f(a, b, 8, 16), f(a, c, 4, 16), f(a, c, 2, 16)
    OBL-attention-width: f(a, b, 8, 16), f(a, c, 8, 8), f(a, c, 8, 16)
    OBL-attention-groups: f(a, b, 8, 16), f(a, c, 3, 16), f(a, c, 3, 16)
    """,
)
@operator(
    "relax.nn.attention_bias",
    calls="f(a, b, 8, 16), f(a, c, 8, 16), f(a, c, 8, 32), f(a, 8, b, c) | f(1, 1, b, c)",
    broken="OBL-bias-dims: f(a, b, 8, 16), f(a, c, 8, 16), f(a, c, 8, 16), f(a, 3, b, c)",
)
def attention(
    site: OperatorCall,
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
    need_known(site, "shape", *enumerate(operands))
    device = place(site, (query, key, value))
    q, k, v = site.dims(query), site.dims(key), site.dims(value)
    if q is None or k is None or v is None:
        return ranked(4, query.dtype, device)
    if belong(site, q, k, v) and bias is not None and (b := site.dims(bias)) is not None:
        biased(site, q, k, b)
    if v[3] is q[3]:
        return query
    return tensor((q[0], q[1], q[2], v[3]), query.dtype, device)


@rule("E-attention", "computation")
def _heads(query: Array, key: Array, value: Array) -> int:
    """The number of query heads that share a key head."""
    q, k, v = query.shape, key.shape, value.shape
    grouped = q[2] == k[2] or (k[2] and q[2] % k[2] == 0)
    if q[0] != k[0] or k[:3] != v[:3] or q[3] != k[3] or not grouped:
        raise OperatorFault(
            "E-attention-dims", f"the shapes of queries {q}, keys {k} and values {v} do not match"
        )
    return 1 if q[2] == k[2] else int(q[2] // k[2])


@computes("relax.nn.attention", "relax.nn.attention_bias")
def attention_value(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None,
    scale: Any,
    causal: str | None,
    window: Any,
) -> Array:
    """Attention over (batch, length, heads, width); the scale is by default one over the root of
    the width.
    """
    arrays.need_floats("attention", query, key, value)
    shared = _heads(query, key, value)
    q, k, v = (np.moveaxis(arrays.wide(x), 2, 1) for x in (query, key, value))
    if shared != 1:
        k, v = np.repeat(k, shared, axis=1), np.repeat(v, shared, axis=1)
    factor = 1 / np.sqrt(q.shape[-1]) if scale is None else float(scale)
    scores = np.matmul(q, np.swapaxes(k, -1, -2))
    scores *= q.dtype.type(factor)
    if bias is not None:
        arrays.broadcast(scores, bias)
        scores = scores + arrays.wide(bias)
    if causal is not None:
        seen = _seen(q.shape[2], k.shape[2], causal, window)
        scores = np.where(seen, scores, scores.dtype.type(-np.inf))
    weights = arrays.quiet(softmax_value, scores, -1)
    return arrays.back(np.moveaxis(np.matmul(weights, v), 1, 2), query.dtype)


@rule("E-mask", "computation")
def _seen(queries: int, keys: int, causal: str, window: Any) -> Array:
    """The keys that a query sees: those not behind its place, and of a window the last so many."""
    if causal not in ("TopLeft", "BottomRight"):
        raise OperatorFault("E-mask-name", f"unknown causal_mask {causal!r}")
    offset = abs(keys - queries) if causal == "BottomRight" else 0
    distance = np.arange(queries)[:, None] + offset - np.arange(keys)[None, :]
    seen = distance >= 0
    return np.asarray(seen if window is None else seen & (distance < int(window)))


@defines("relax.nn.attention", "relax.nn.attention_bias")
def attention_definition(
    out: Result,
    query: te.Tensor,
    key: te.Tensor,
    value: te.Tensor,
    bias: te.Tensor | None,
    scale: Any,
    causal: str | None,
    window: Any,
) -> te.Tensor:
    exprs.need_floats(query.dtype, key.dtype, value.dtype)
    batch, queries, heads, width = query.shape
    keys, shared = key.shape[1], heads // key.shape[2]
    k = te.reduce_axis((0, width), name="k")

    def product(b: te.Scalar, h: te.Scalar, s: te.Scalar, t: te.Scalar) -> Any:
        return te.sum(exprs.wide(query(b, s, h, k)) * exprs.wide(key(b, t, h // shared, k)), axis=k)

    raw: te.Tensor = te.compute((batch, heads, queries, keys), product, name="T_product")

    def score(*i: te.Scalar) -> te.Scalar:
        found = raw(*i) * _factor(scale, width, raw.dtype)
        if bias is not None:
            found = found + te.cast(raw.dtype, exprs.wide(exprs.broadcast(bias, i, raw.shape)))
        if causal is not None:
            seen = _seen_definition(i[2], i[3], queries, keys, causal, window)
            found = te.select(seen, found, te.const(float("-inf"), found.dtype))
        return found

    scores = te.compute(raw.shape, score, name="T_scores")
    top = exprs.reduced(scores, (3,), exprs.largest(), "T_top")
    raised = te.compute(
        scores.shape, lambda b, h, s, t: te.exp(scores(b, h, s, t) - top(b, h, s, 0)), name="T_exp"
    )
    total = exprs.summed(raised, (3,), "T_total")
    weights = te.compute(
        raised.shape, lambda b, h, s, t: raised(b, h, s, t) / total(b, h, s, 0), name="T_weights"
    )
    t = te.reduce_axis((0, keys), name="t")

    def mean(b: te.Scalar, s: te.Scalar, h: te.Scalar, w: te.Scalar) -> Any:
        return te.sum(weights(b, h, s, t) * exprs.wide(value(b, t, h // shared, w)), axis=t)

    made = te.compute(out.shape, mean, name="T_attention_of")
    return exprs.filled(out, made)


def _factor(scale: Any, width: te.Scalar, kind: Any) -> te.Scalar:
    if scale is not None:
        return te.cast(kind, scalars.scalar(scale))
    return te.cast(kind, te.const(1, exprs.FLOAT64) / te.sqrt(te.cast(exprs.FLOAT64, width)))


def _seen_definition(
    s: te.Scalar, t: te.Scalar, queries: te.Scalar, keys: te.Scalar, causal: str, window: Any
) -> te.Scalar:
    """Whether a query sees a key: one not behind its place, and of a window one of the last so
    many.
    """
    if causal not in ("TopLeft", "BottomRight"):
        decline(f"unknown mask {causal!r}")
    offset = te.abs(keys - queries) if causal == "BottomRight" else exprs.int64(0)
    distance = s + offset - t
    seen = distance >= exprs.int64(0)
    return seen if window is None else exprs.both(seen, distance < exprs.int64(int(window)))


@operator(
    "relax.nn.attention_var_len",
    kept="its loop bounds depend on data",
    calls="f(1, b, 8, 16), f(1, c, 8, 16), f(1, c, 8, 32), int32(a), int32(), int32(a), int32()",
)
def attention_var_len(
    site: OperatorCall,
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
    found = attention(site, queries, keys, values, None)
    own, own_most = seqstart_k is not None, max_seqlen_k is not None
    of_queries = _starts(site, 3, 4)
    of_keys = _starts(site, 5, 6 if own_most else 4) if own else of_queries
    _end(site, 0, queries, of_queries, 3)
    of_both = [dims[1] for dims in map(site.dims, (queries, keys)) if dims is not None]
    if own or not (len(of_both) == 2 and same(*of_both)):  # otherwise it is said of the queries
        _end(site, 1, keys, of_keys, 5 if own else 3)
    if not need(
        "OBL-starts-count", not of_queries or not of_keys or len(of_queries) == len(of_keys)
    ):
        words = f"{len(of_queries)} starts of queries do not match {len(of_keys)} of keys"
        site.warn_of_fault("OBL-starts-count", words, 5)
    return found


@rule("OBL-starts", "obligation")
def _starts(site: OperatorCall, index: int, most: int) -> list[int]:
    """Check the starts of the sequences in an axis, where the text states them."""
    line = [int(number) for number in stated(site, site.argument(index))]
    lengths = [b - a for a, b in pairwise(line)]
    if not need("OBL-starts-order", line[:1] in ([], [0]) and min(lengths, default=0) >= 0):
        words = f"the starts of the sequences, {line}, do not ascend from 0"
        site.warn_of_fault("OBL-starts-order", words, index)
        return []
    longest, limits = max(lengths, default=0), stated(site, site.argument(most))
    if not need("OBL-starts-longest", not limits or longest <= limits[0]):
        words = f"a sequence has length {longest}, but the maximum given is {limits[0]}"
        site.warn_of_fault("OBL-starts-longest", words, most)
    return line


def _end(site: OperatorCall, data: int, tokens: Tensor, line: list[int], index: int) -> None:
    """Check that the sequences fill their axis."""
    dims = site.dims(tokens)
    if line and dims is not None:
        site.require_of_value(
            "OBL-starts-end",
            (EQ(dims[1], const(line[-1])),),
            lambda: (
                f"the sequences end at {line[-1]}, but axis 1 has length {show(dims[1])}"
                f" {site.of(data)}"
            ),
            index,
        )


@rule("E-sequences", "computation")
def _bounds(starts: Array, total: int, longest: Any) -> list[tuple[int, int]]:
    """The starts and ends of the sequences in an axis that holds them one after the other."""
    line = [int(k) for k in starts.reshape(-1)]
    bounds = list(pairwise(line))
    if not line or line[0] != 0 or line[-1] != total or any(a > b for a, b in bounds):
        raise OperatorFault(
            "E-sequences-starts",
            (
                f"the starts of the sequences, {line}, do not ascend from 0 to the length of the"
                f" axis, {total}"
            ),
        )
    most = max((b - a for a, b in bounds), default=0)
    if most > int(arrays.number(longest)):
        raise OperatorFault(
            "E-sequences-longest",
            f"a sequence has length {most}, but the maximum given is {arrays.number(longest)}",
        )
    return bounds


@computes("relax.nn.attention_var_len")
def attention_var_len_value(
    query: Array,
    key: Array,
    value: Array,
    starts: Array,
    longest: Array,
    key_starts: Array | None,
    key_longest: Array | None,
    scale: Any,
    causal: str | None,
    window: Any,
) -> Array:
    """Attention over sequences of different lengths, concatenated along axis 1."""
    queries = _bounds(starts, query.shape[1], longest)
    keys = _bounds(
        starts if key_starts is None else key_starts,
        key.shape[1],
        longest if key_longest is None else key_longest,
    )
    if len(queries) != len(keys) or query.shape[0] != 1:
        raise OperatorFault(
            "E-sequences-starts",
            (
                f"{len(queries)} sequences of queries do not match {len(keys)} sequences of keys"
                " in a batch of one"
            ),
        )
    parts = [
        attention_value(query[:, a:b], key[:, c:d], value[:, c:d], None, scale, causal, window)
        for (a, b), (c, d) in zip(queries, keys, strict=True)
    ]
    empty = np.zeros((1, 0, query.shape[2], value.shape[3]), query.dtype)
    return np.concatenate([empty, *parts], axis=1)
