"""Tensor expressions written once, for TVM's `te` and for ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Made = list[Any]
"""The parameters of the PrimFunc."""
EXPRESSIONS: dict[str, Callable[[Any], Made]] = {}


def expression(build: Callable[[Any], Made]) -> Callable[[Any], Made]:
    EXPRESSIONS[build.__name__] = build
    return build


def tensors(te: Any, kind: str = "float32", *names: str) -> list[Any]:
    """Placeholders of shape (n, 4)."""
    n = te.var("n", "int64")
    return [te.placeholder((n, 4), kind, name=name) for name in names or ("A",)]


def elementwise(
    name: str, kinds: str, body: Callable[..., Any], shape: Callable[[Any], Any] | None = None
) -> None:
    """An expression whose elements a function of `te`, the placeholders and the indices gives."""

    def build(te: Any) -> Made:
        n = te.var("n", "int64")
        given = [te.placeholder((n, 4), kind, name=f"A{k}") for k, kind in enumerate(kinds.split())]
        dims = (n, 4) if shape is None else shape(n)
        wrapped: Any = {
            1: lambda i: body(te, *given, i),
            2: lambda i, j: body(te, *given, i, j),
            3: lambda i, j, k: body(te, *given, i, j, k),
        }[len(dims)]
        return [*given, te.compute(dims, wrapped, name="C")]

    EXPRESSIONS[name] = build


elementwise("double", "float32", lambda te, a, i, j: a[i, j] * 2.0)
elementwise("plus_one", "float16", lambda te, a, i, j: a[i, j] + 1)
elementwise("half_and_single", "float16", lambda te, a, i, j: a[i, j] + 1.0)
elementwise("two_types", "float16 float32", lambda te, a, b, i, j: a[i, j] * b[i, j])
elementwise("two_integers", "int32 int64", lambda te, a, b, i, j: a[i, j] + b[i, j])
elementwise("integer_and_float", "int32", lambda te, a, i, j: a[i, j] + 1.5)
elementwise("unsigned", "uint8", lambda te, a, i, j: a[i, j] + 1)
elementwise("unsigned_and_signed", "uint8 int32", lambda te, a, b, i, j: a[i, j] - b[i, j])
elementwise("negative", "int32", lambda te, a, i, j: -a[i, j])
elementwise("floor_divide", "int32", lambda te, a, i, j: a[i, j] // 2 + a[i, j] % 3)
elementwise("truncated", "int64 int64", lambda te, a, b, i, j: te.truncdiv(a[i, j], b[i, j]))
elementwise("remainder", "int64 int64", lambda te, a, b, i, j: te.truncmod(a[i, j], b[i, j]))
elementwise("greater", "float32", lambda te, a, i, j: a[i, j] > 0)
elementwise("at_least", "float32", lambda te, a, i, j: a[i, j] >= a[i, 0])
elementwise("equal", "int32 int32", lambda te, a, b, i, j: te.equal(a[i, j], b[i, j]))
elementwise("cast", "float32", lambda te, a, i, j: a[i, j].astype("int8"))
elementwise("of_boolean", "bool", lambda te, a, i, j: a[i, j].astype("float32"))
elementwise("index_as_value", "float32", lambda te, a, i, j: a[i, j] + j)
elementwise("relu", "float32", lambda te, a, i, j: te.maximum(a[i, j], te.const(0.0, "float32")))
elementwise("clip", "int32", lambda te, a, i, j: te.minimum(te.maximum(a[i, j], 0), 6))
elementwise("select", "float32", lambda te, a, i, j: te.select(a[i, j] > 0, a[i, j], 0.0))
elementwise(
    "shifted",
    "float32",
    lambda te, a, i, j: te.if_then_else(te.all(i > 0, j < 3), a[i - 1, j + 1], 0.0),
)
elementwise(
    "either",
    "float32",
    lambda te, a, i, j: te.if_then_else(te.any(i < 1, j > 2), a[i, j], te.exp(a[i, j])),
)
elementwise("exp", "float32", lambda te, a, i, j: te.exp(a[i, j]))
elementwise("tanh_of_half", "float16", lambda te, a, i, j: te.tanh(a[i, j]))
elementwise("sqrt_sum", "float64", lambda te, a, i, j: te.sqrt(a[i, j]) + te.sin(a[i, j]))
elementwise("power", "float32", lambda te, a, i, j: te.power(a[i, j], te.const(2.0, "float32")))
elementwise("absolute", "float32", lambda te, a, i, j: te.abs(a[i, j]))
elementwise("sigmoid", "float32", lambda te, a, i, j: te.sigmoid(a[i, j]) * a[i, j])
elementwise("gelu", "float32", lambda te, a, i, j: a[i, j] * (te.erf(a[i, j] * 0.7) + 1.0) * 0.5)
elementwise("isnan", "float32", lambda te, a, i, j: te.isnan(a[i, j]))
elementwise("rounding", "float32", lambda te, a, i, j: te.floor(a[i, j]) + te.ceil(a[i, j]))
elementwise("bits", "int32", lambda te, a, i, j: (a[i, j] << 2) | (a[i, j] >> 1) & 3 ^ 1)
elementwise("inverted", "int32", lambda te, a, i, j: ~a[i, j])
elementwise("constant", "float32", lambda te, a, i, j: te.const(1.0, "float32"))
elementwise("reversed", "float32", lambda te, a, i, j: a[te.rows(a) - 1 - i, 3 - j])
elementwise("rolled", "float32", lambda te, a, i, j: a[i, (j + 1) % 4])
elementwise("transposed", "float32", lambda te, a, i, j: a[j, i], lambda n: (4, n))
elementwise("flattened", "float32", lambda te, a, i: a[i // 4, i % 4], lambda n: (n * 4,))
elementwise("broadcast", "float32", lambda te, a, i, j, k: a[i, k], lambda n: (n, 3, 4))
elementwise("last_column", "float32", lambda te, a, i: a[i, 3], lambda n: (n,))
elementwise(
    "diagonal", "float32", lambda te, a, i: te.if_then_else(i < 4, a[i, i], 0.0), lambda n: (n,)
)
elementwise("folded", "float32", lambda te, a, i, j: a[i * 1 + 0, j - 0] * 1.0)
elementwise("doubled_integer", "int32", lambda te, a, i, j: a[i, j] + a[i, j] * 2)


@expression
def row_sums(te: Any) -> Made:
    (a,) = tensors(te)
    k = te.reduce_axis((0, 4), name="k")
    return [a, te.compute((te.rows(a),), lambda i: te.sum(a[i, k], axis=k), name="S")]


@expression
def column_max(te: Any) -> Made:
    (a,) = tensors(te)
    k = te.reduce_axis((0, te.rows(a)), name="k")
    return [a, te.compute((4,), lambda j: te.max(a[k, j], axis=k), name="M")]


@expression
def integer_min(te: Any) -> Made:
    (a,) = tensors(te, "int32")
    k = te.reduce_axis((0, 4), name="k")
    return [a, te.compute((te.rows(a),), lambda i: te.min(a[i, k], axis=k), name="M")]


@expression
def whole_sum(te: Any) -> Made:
    (a,) = tensors(te)
    i, j = te.reduce_axis((0, te.rows(a)), name="i"), te.reduce_axis((0, 4), name="j")
    return [a, te.compute((), lambda: te.sum(a[i, j], axis=[i, j]), name="S")]


@expression
def products(te: Any) -> Made:
    (a,) = tensors(te)
    times = te.comm_reducer(lambda x, y: x * y, lambda kind: te.const(1, kind), name="times")
    k = te.reduce_axis((0, 4), name="k")
    return [a, te.compute((te.rows(a),), lambda i: times(a[i, k], axis=k), name="P")]


@expression
def matmul(te: Any) -> Made:
    n, m = te.var("n", "int64"), te.var("m", "int64")
    a, b = te.placeholder((n, 8), name="A"), te.placeholder((8, m), name="B")
    k = te.reduce_axis((0, 8), name="k")
    return [a, b, te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")]


@expression
def argmax(te: Any) -> Made:
    (a,) = tensors(te)
    number = te.placeholder((te.rows(a), 4), "int32", name="N")
    best = te.comm_reducer(
        lambda x, y: (
            te.select(x[1] >= y[1], x[0], y[0]),
            te.select(x[1] >= y[1], x[1], y[1]),
        ),
        lambda t0, t1: (te.const(-1, t0), te.min_value(t1)),
        name="best",
    )
    k = te.reduce_axis((0, 4), name="k")
    first, second = te.compute(
        (te.rows(a),), lambda i: best((number[i, k], a[i, k]), axis=k), name="T"
    )
    return [number, a, first, second]


@expression
def two_outputs(te: Any) -> Made:
    (a,) = tensors(te)
    p, q = te.compute((te.rows(a), 4), lambda i, j: (a[i, j] + 1.0, a[i, j] * 2.0), name="P")
    return [a, p, q]


@expression
def softmax(te: Any) -> Made:
    (a,) = tensors(te)
    n = te.rows(a)
    k, l = te.reduce_axis((0, 4), name="k"), te.reduce_axis((0, 4), name="l")
    top = te.compute((n,), lambda i: te.max(a[i, k], axis=k), name="top")
    raised = te.compute((n, 4), lambda i, j: te.exp(a[i, j] - top[i]), name="raised")
    total = te.compute((n,), lambda i: te.sum(raised[i, l], axis=l), name="total")
    return [a, te.compute((n, 4), lambda i, j: raised[i, j] / total[i], name="softmax")]


@expression
def two_readers(te: Any) -> Made:
    (a,) = tensors(te)
    n = te.rows(a)
    b = te.compute((n, 4), lambda i, j: a[i, j] + 1.0, name="B")
    c = te.compute((n, 4), lambda i, j: b[i, j] * 2.0, name="C")
    return [a, te.compute((n, 4), lambda i, j: b[i, j] + c[i, j], name="D")]


@expression
def both_returned(te: Any) -> Made:
    (a,) = tensors(te)
    n = te.rows(a)
    b = te.compute((n, 4), lambda i, j: a[i, j] + 1.0, name="B")
    return [a, b, te.compute((n, 4), lambda i, j: b[i, j] * 2.0, name="C")]


@expression
def gathered(te: Any) -> Made:
    (a,) = tensors(te)
    at = te.placeholder((3,), "int64", name="at")
    return [a, at, te.compute((3, 4), lambda i, j: a[at[i], j], name="G")]


@expression
def convolved(te: Any) -> Made:
    n = te.var("n", "int64")
    x, w = te.placeholder((n + 2,), name="X"), te.placeholder((3,), name="W")
    k = te.reduce_axis((0, 3), name="k")
    y = te.compute((n,), lambda i: te.sum(x[i + k] * w[k], axis=k), name="Y")
    return [x, w, n, y]


@expression
def padded(te: Any) -> Made:
    (a,) = tensors(te)
    n = te.rows(a)
    p = te.compute(
        (n + 2, 4),
        lambda i, j: te.if_then_else(te.all(i >= 1, i < n + 1), a[i - 1, j], 0.0),
        name="P",
    )
    return [a, p]


@expression
def even_width(te: Any) -> Made:
    n, m = te.var("n", "int64"), te.var("m", "int64")
    a = te.placeholder((n, 2 * te.floordiv(m, 2)), name="A")
    return [a, m, te.compute(a.shape, lambda i, j: a[i, j] + 1.0, name="B")]


@expression
def any_rank(te: Any) -> Made:
    a = te.placeholder((2, 3, 4), name="A")
    return [a, te.compute((2, 3, 4), lambda *i: te.exp(a(*i)), name="E")]


@expression
def no_axes(te: Any) -> Made:
    a = te.placeholder((), name="A")
    return [a, te.compute((), lambda: a() + 1.0, name="B")]


@expression
def plain_sizes(te: Any) -> Made:
    a = te.placeholder((4, 8), name="A")
    k = te.reduce_axis((0, 8), name="k")
    return [a, te.compute((4,), lambda i: te.sum(a[i, k] * a[i, k], axis=k), name="S")]


elementwise(
    "nested_conditions",
    "float32",
    lambda te, a, i, j: te.if_then_else(
        j < 1, a[i, j], te.if_then_else(j < 2, a[i, j - 1] * 2.0, te.sqrt(te.abs(a[i, j])))
    ),
)
elementwise("repeated_rows", "int8", lambda te, a, i, j: a[i // 3, j], lambda n: (n * 3, 4))
elementwise(
    "two_Booleans_and_more",
    "bool float32",
    lambda te, a, b, i, j: te.any(a[i, j], b[i, j] > 1.0, j < 2),
)


@expression
def half_softmax(te: Any) -> Made:
    n, m = te.var("n", "int64"), te.var("m", "int64")
    A = te.placeholder((n, m), "float16", name="A")
    k = te.reduce_axis((0, m), "k")
    r = te.reduce_axis((0, m), "r")
    top = te.compute((n,), lambda i: te.max(A[i, k], axis=k), name="top")
    e = te.compute((n, m), lambda i, j: te.exp(A[i, j] - top[i]), name="e")
    s = te.compute((n,), lambda i: te.sum(e[i, r], axis=r), name="s")
    return [A, te.compute((n, m), lambda i, j: e[i, j] / s[i], name="C")]


@expression
def two_outputs_mixed(te: Any) -> Made:
    n = te.var("n", "int64")
    A = te.placeholder((n, 4), "float32", name="A")
    a, b = te.compute((n, 4), lambda i, j: (A[i, j] > 0, A[i, j].astype("int8")), name="C")
    return [A, a, b]


@expression
def bool_all(te: Any) -> Made:
    n, m = te.var("n", "int64"), te.var("m", "int64")
    A = te.placeholder((n, m), "bool", name="A")
    k = te.reduce_axis((0, m), "k")
    every = te.comm_reducer(
        lambda a, b: te.all(a, b), lambda kind: te.const(True, kind), name="every"
    )
    return [A, te.compute((n,), lambda i: every(A[i, k], axis=k), name="C")]


@expression
def scatter_read(te: Any) -> Made:
    n = te.var("n", "int64")
    A, I = te.placeholder((n, 4), "float32", name="A"), te.placeholder((n,), "int32", name="I")
    k = te.reduce_axis((0, n), "k")
    return [
        A,
        I,
        te.compute(
            (n, 4),
            lambda i, j: te.sum(
                te.if_then_else(te.equal(I[k].astype("int64"), i), A[k, j], 0.0), axis=k
            ),
            name="C",
        ),
    ]
