"""Tensor expressions: what they make, and what is said of wrong ones where they were written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlx
from rlx import te
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.rewrite import rebuild
from rlx.semantics.tir import evaluate
from rlx.te.check import check_reads, written_once
from rlx.te.graph import operations

N, M = te.var("n"), te.var("m")
A = te.placeholder((N, M), "float32", name="A")
I = te.placeholder((N,), "int64", name="I")


def made(body: Callable[..., Any], shape: Any = (N, M), *given: te.Tensor) -> Any:
    """The PrimFunc of one computation."""
    out = te.compute(shape, body, name="B")
    return te.create_prim_func([*(given or (A,)), out], "int64")


def value(function: Any, *args: Any, shape: tuple[int, ...], kind: Any = np.float32) -> Any:
    """The content of the last parameter after a run of a PrimFunc."""
    result = np.zeros(shape, kind)
    evaluate(function, [*args, result])
    return result


def wrong(build: Callable[[], Any]) -> te.TensorExpressionError:
    """The error of an expression, which names this file and the line."""
    with pytest.raises(te.TensorExpressionError) as caught:
        build()
    error = caught.value
    line, _ = error.place.source.position(error.place[0])
    assert error.place.source.path == str(Path(__file__).relative_to(Path.cwd()))
    assert f"{error.place.source.path}:{line}:" in str(error)
    return error


def test_values_are_those_of_numpy() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    doubled = made(lambda i, j: A[i, j] * 2.0 + te.exp(A[i, j]))
    assert np.allclose(value(doubled, x, shape=(3, 4)), x * 2 + np.exp(x))
    squared = made(lambda i, j: A[i, j] ** 2 + 2.0 ** A[i, j])
    assert np.allclose(value(squared, x, shape=(3, 4)), x**2 + 2**x)
    k = te.reduce_axis((0, M), name="k")
    summed = made(lambda i: te.sum(A[i, k], axis=k), (N,))
    assert np.allclose(value(summed, x, shape=(3,)), x.sum(1))
    assert written_once(doubled)
    assert written_once(summed)


def test_a_reduction_over_nothing_is_the_identity() -> None:
    k = te.reduce_axis((0, M), name="k")
    total = te.compute((N,), lambda i: te.sum(A[i, k], axis=k), name="S")
    function = te.create_prim_func([A, total], "int64", store_identities=True)
    assert written_once(function)
    empty = np.zeros((2, 0), np.float32)
    result = np.full(2, 7, np.float32)
    evaluate(function, [empty, result])
    assert result.tolist() == [0, 0]


def test_where_and_init_of_a_reduction() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    k = te.reduce_axis((0, M), name="k")
    some = made(lambda i: te.sum(A[i, k], axis=k, where=k < 2), (N,))
    assert value(some, x, shape=(3,)).tolist() == x[:, :2].sum(1).tolist()
    more = made(lambda i: te.max(A[i, k], axis=k, init=5.0), (N,))
    assert value(more, x, shape=(3,)).tolist() == [5, 7, 11]


def test_a_range_need_not_begin_at_zero() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    k = te.reduce_axis((1, N), name="k")
    below = made(lambda j: te.sum(A[k, j], axis=k), (M,))
    assert value(below, x, shape=(4,)).tolist() == x[1:].sum(0).tolist()


def test_shapes_by_name_are_one_variable() -> None:
    x = te.placeholder(("rows", 4), name="X")
    y = te.placeholder(("rows", 4), name="Y")
    total = te.compute(x.shape, lambda i, j: x[i, j] + y[i, j], name="T")
    ones = np.ones((2, 4), np.float32)
    function = te.create_prim_func([x, y, total], "int64")
    assert value(function, ones, ones, shape=(2, 4)).tolist() == (ones + ones).tolist()


@pytest.mark.parametrize(
    ("body", "example"),
    [
        (lambda i, j: A[i + 1, j], {"i": 0, "n": 1}),
        (lambda i, j: te.select(i > 0, A[i - 1, j], 0.0), {"i": 0}),
        (lambda i, j: A[i, j + i], {"i": 1}),
        (lambda i, j: te.if_then_else(i < N - 2, A[i + 3, j], 0.0), {}),
    ],
)
def test_a_read_outside_for_some_sizes(body: Any, example: dict[str, int]) -> None:
    error = wrong(lambda: made(body))
    assert "A is read outside" in str(error)
    assert error.counterexample is not None
    assert example.items() <= error.counterexample.items()


@pytest.mark.parametrize(
    "body",
    [
        lambda i, j: A[N - 1 - i, M - 1 - j],
        lambda i, j: te.if_then_else(te.all(i > 0, j > 0), A[i - 1, j - 1], 0.0),
        lambda i, j: te.if_then_else(te.any(i + 1 >= N, False), 0.0, A[i + 1, j]),
        lambda i, j: A[(i * M + j) // M, (i * M + j) % M],
        lambda i, j: A[te.maximum(te.minimum(i + 5, N - 1), 0), j],
    ],
)
def test_reads_that_are_proved(body: Any) -> None:
    out = te.compute((N, M), body, name="B")
    assert check_reads(operations([out])) == []


def test_what_data_decide_is_undecided_unless_it_is_guarded() -> None:
    plain = te.compute((N, M), lambda i, j: A[I[i], j], name="B")
    (open_,) = check_reads(operations([plain]))
    assert (open_.axis, open_.reason) == (0, "it depends on the elements of tensors")
    held = te.compute(
        (N, M),
        lambda i, j: te.if_then_else(te.all(I[i] >= 0, I[i] < N), A[I[i], j], 0.0),
        name="B",
    )
    assert check_reads(operations([held])) == []


def test_bad_input() -> None:
    k = te.reduce_axis((0, M), name="k")
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: te.placeholder((N,), None), "needs an element type"),  # type: ignore[arg-type]
        (lambda: te.placeholder((N,), "float33x"), "expected a data type"),
        (lambda: te.placeholder((-1,)), "expected a dimension of at least 0"),
        (lambda: te.placeholder((1.5,)), "expected an integer as dimension"),
        (lambda: made(lambda i: A[i, 0]), "B has 2 axes, but its function takes 1 index"),
        (lambda: made(lambda i, j: A[i]), "A has 2 axes, but 1 indices are given"),
        (lambda: made(lambda i, j: A[i, 1.5]), "expected an integer"),
        (lambda: made(lambda i, j: A + 1), "index it, as in A[i, j]"),
        (lambda: made(lambda i, j: A[i, j] if i > 0 else 0.0), "te.if_then_else"),
        (lambda: made(lambda i, j: te.exp(i)), "te.exp takes a float"),
        (lambda: made(lambda i, j: i**2), "te.power takes floats, found int64 and int32"),
        (lambda: made(lambda i, j: 2**A), "index it, as in A[i, j]"),
        (lambda: made(lambda i, j: i / 2), "te.truncdiv"),
        (lambda: made(lambda i, j: i // 0), "a division by zero"),
        (lambda: made(lambda i, j: "x"), "expected a number or an element"),
        (lambda: made(lambda i: te.sum(A[i, k], axis=k) + 1.0, (N,)), "a tensor of its own"),
        (
            lambda: te.compute((N,), lambda i: (s := te.sum(A[i, k], axis=k), s)),
            "a tensor of its own",
        ),
        (lambda: made(lambda i: te.sum(A[i, k], axis="k"), (N,)), "axes of te.reduce_axis"),
        (lambda: te.comm_reducer(lambda a, b: a * b), "has no identity"),
        (lambda: te.comm_reducer(abs, lambda kind: te.const(0, kind)), "expected 2"),  # type: ignore[arg-type]
        (lambda: te.create_prim_func([]), "at least one tensor"),
        (lambda: te.create_prim_func([A]), "nothing is computed"),
        (lambda: te.const(1, "float3"), "no float numbers of 3 bits"),
        (lambda: te.sum(A[0, k], axis=[]), "needs at least one axis"),
        (lambda: te.compute((N,), lambda i: (te.sum(A[i, k], axis=k), 1.0)), "a tensor of its own"),
        (lambda: te.create_prim_func([A, A]), "twice"),
        (
            lambda: te.create_prim_func([te.compute((N, M), lambda i, j: A[i, j])]),
            "is not a parameter",
        ),
        (lambda: te.te_tensor(rlx.Var("x", "R.Tensor(ndim=2)")), "is not known"),
    ]
    for build, words in cases:
        assert words in str(wrong(build)), words


def test_a_variable_that_nothing_binds() -> None:
    out = te.compute((N,), lambda i: te.if_then_else(M > 3, I[i], 0), name="B")
    assert "m: no dimension of a parameter" in str(wrong(lambda: te.create_prim_func([I, out])))
    function = te.create_prim_func([I, M, out], "int64")
    assert [p.name for p in function.params] == ["I", "m", "B"]


def test_scalars_of_the_syntax_tree_and_of_expressions_mix() -> None:
    n = rlx.dim("n")
    x = te.placeholder((n, 4), name="X")
    rows = x.shape[0]
    assert [str(e) for e in (n + rows, rows + n, n * 2 + x.shape[1])] == [
        "n + n",
        "n + n",
        "n * 2 + 4",
    ]
    out = te.compute((n + 1,), lambda i: te.if_then_else(i < n, x[te.minimum(i, n - 1), 0], 0.0))
    result = np.zeros(3, np.float32)
    evaluate(te.create_prim_func([x, out], "int64"), [np.ones((2, 4), np.float32), result])
    assert result.tolist() == [1, 1, 0]


def test_two_variables_of_one_name_stay_two() -> None:
    other = te.var("n")
    x, y = te.placeholder((N,), name="X"), te.placeholder((other,), name="Y")
    out = te.compute((N, other), lambda i, j: x[i] + y[j], name="B")
    function = te.create_prim_func([x, y, out], "int64")
    first, second = (b.shape[0] for b in list(function.buffer_map.values())[:2])
    assert (str(first), str(second)) == ("n", "n_1")


def test_running_results() -> None:
    best = te.running((N, M), lambda i, j: A[i, j], 1, te.maximum, name="best")
    function = te.create_prim_func([A, best], "int64")
    assert written_once(function)
    assert "v_j = T.axis.scan(m, j)" in rlx.show(function)
    given = np.array([[3, 1, 4, 1, 5], [2, 7, 1, 8, 2]], np.float32)
    found = value(function, given, shape=(2, 5))
    assert found.tolist() == np.maximum.accumulate(given, 1).tolist()
    with pytest.raises(te.TensorExpressionError, match="best has 2 axes; axis 2 is out of range"):
        te.running((N, M), lambda i, j: A[i, j], 2, te.maximum, name="best")
    with pytest.raises(te.TensorExpressionError, match="one value for each element"):
        te.running((N, M), lambda i, j: (A[i, j], A[i, j]), 1, te.maximum)
    outside = te.running((N, M), lambda i, j: A[i, j + 1], 1, te.maximum)
    with pytest.raises(te.TensorExpressionError, match="read outside"):
        te.create_prim_func([A, outside], "int64")


def test_a_tensor_is_shown_with_its_shape_as_python_writes_tuples() -> None:
    shapes: list[tuple[Any, ...]] = [(), (N,), (N, M), (N, M, N)]
    shown = [repr(te.placeholder(shape, "int8", name="A")) for shape in shapes]
    tuples = ["()", f"({N},)", f"({N}, {M})", f"({N}, {M}, {N})"]
    assert shown == [f"Tensor(A: {each}, int8)" for each in tuples]


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (lambda i, at: at[i], [2, 0, 1]),
        (lambda i, at: at[i] + te.cast(at.dtype, i), [2, 1, 3]),
        (lambda i, at: te.cast(at.dtype, i), [0, 1, 2]),
        (lambda i, at: te.cast(at.dtype, 2), [2, 2, 2]),
        (lambda i, at: at[at[i]], [1, 2, 0]),
    ],
)
def test_each_index_is_of_the_index_type(
    kind: str, index: Callable[..., Any], expected: list[int]
) -> None:
    """It is converted also where it is an element of a tensor."""
    at = te.placeholder((3,), kind, name="at")
    x = te.placeholder((4,), "float32", name="x")
    function = te.create_prim_func([at, x, te.compute((3,), lambda i: x[index(i, at)])], "int64")
    loads: list[tir.BufferLoad] = []

    def see(node: Any) -> Any:
        if isinstance(node, tir.BufferLoad):
            loads.append(node)
        return node

    rebuild(function.body, see)
    assert loads and {str(tir.type_of(i)) for each in loads for i in each.indices} == {"int64"}
    given = np.array([2, 0, 1], kind), np.arange(4, dtype=np.float32)
    assert value(function, *given, shape=(3,)).tolist() == expected


def test_both_bounds_of_an_axis_are_one_argument() -> None:
    call: Any = te.reduce_axis
    assert "te.reduce_axis((0, 4))" in wrong(lambda: call(0, 4)).message
