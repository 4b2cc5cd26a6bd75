"""Corners of indexing, order and windows, all of them for small sizes, against loops in plain Python."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any

import numpy as np
import pytest

import rlx
from rlx.grammar.nodes.dtype import dtype
from rlx.operators.arrays import windows
from rlx.operators.attention import attention_value
from rlx.operators.evaluation import OperatorFault, numpy_dtype
from tests.operators.context import derive, legal, n, tensor

from .test_values import i64, run


def line(length: int, first: int = 10) -> Any:
    return np.arange(first, first + length, dtype=np.float32)


def found_or_nothing(name: str, *args: Any, **attrs: Any) -> Any:
    try:
        return run(name, *args, **attrs)
    except OperatorFault:
        return None


@pytest.mark.parametrize("mode", ["fast", "wrap", "clip", "nan"])
@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8])
def test_take_at_every_index(mode: str, length: int, kind: type) -> None:
    x = line(length)
    for index in range(-2 * length - 1, 2 * length + 2):
        if index < 0 and kind is np.uint8:
            continue
        inside = 0 <= index < length
        expected: Any = {
            "fast": 10 + index if inside else None,
            "wrap": 10 + index % length,
            "clip": 10 + min(max(index, 0), length - 1),
            "nan": 10 + index if inside else math.nan,
        }[mode]
        found = found_or_nothing("take", x, np.array([index], kind), axis=0, mode=mode)
        if expected is None:
            assert found is None
        else:
            np.testing.assert_array_equal(found, np.array([expected], np.float32))


@pytest.mark.parametrize("mode", ["fast", "wrap", "clip", "nan"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_take_puts_the_indices_where_the_axis_was(mode: str, axis: int) -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    indices = i64([0, 1], [1, 0], [1, 1])
    found = run("take", x, indices, axis=axis, mode=mode)
    along = axis % 3
    assert found.shape == (*x.shape[:along], 3, 2, *x.shape[along + 1 :])
    for place in np.ndindex(*found.shape):
        head, (a, b), tail = place[:along], place[along : along + 2], place[along + 2 :]
        assert found[place] == x[(*head, indices[a, b], *tail)]


@pytest.mark.parametrize("batch", [0, 1, 2])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_gather_nd_takes_one_slice_for_each_tuple(batch: int, depth: int) -> None:
    x = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
    lead = (*x.shape[:batch], 2)
    draw = np.random.default_rng(batch * 7 + depth)
    columns = [draw.integers(-n, n, lead) for n in x.shape[batch : batch + depth]]
    indices = np.stack(columns, -1) if columns else np.zeros((*lead, 0), np.int64)
    found = run("gather_nd", x, indices, batch_dims=batch)
    if depth:
        assert found.shape == (*lead, *x.shape[batch + depth :])
        for place in np.ndindex(*lead):
            np.testing.assert_array_equal(found[place], x[(*place[:batch], *indices[place])])


@pytest.mark.parametrize("length", range(5))
def test_slices_are_those_of_python(length: int) -> None:
    numbers = list(range(10, 10 + length))
    bounds = range(-length - 2, length + 3)
    for begin, end, step in itertools.product(bounds, bounds, (-3, -2, -1, 1, 2, 3)):
        found = run("strided_slice", line(length), (0,), (begin,), (end,), (step,))
        assert found.tolist() == numbers[begin:end:step], (begin, end, step)


@pytest.mark.parametrize("length", range(5))
def test_slices_in_bounds(length: int) -> None:
    """With bounds declared to be inside, -1 is the place before the first element, and others are faults."""
    x = line(length)
    bounds = range(-length - 2, length + 3)
    for begin, end, step in itertools.product(bounds, bounds, (-2, -1, 1, 2)):
        floor = -1 if step < 0 else 0
        attrs = {"assume_inbound": True}
        places = list(range(begin, end, step))
        if not (floor <= begin <= length and floor <= end <= length):
            expected: Any = None
        elif any(not 0 <= place < length for place in places):
            continue  # what lies outside is left to the next test
        else:
            expected = [10.0 + place for place in places]
        found = found_or_nothing("strided_slice", x, (0,), (begin,), (end,), (step,), **attrs)
        assert (None if found is None else found.tolist()) == expected, (begin, end, step)


@pytest.mark.parametrize("length", range(1, 6))
def test_the_median_is_the_lower_one(length: int) -> None:
    for numbers in itertools.islice(itertools.permutations(range(length)), 30):
        expected = sorted(numbers)[(length - 1) // 2]
        x = np.array(numbers, np.int32)
        assert run("median", x) == expected
        value, where = run("median", x, axis=(0,))
        assert (value, where) == (expected, numbers.index(expected))
        both = np.stack([x, x + 100])
        assert run("median", both, axis=(1,), keepdims=True)[0].tolist() == [
            [expected],
            [expected + 100],
        ]
        assert run("median", both, axis=(0, 1)) == sorted(both.flat)[(2 * length - 1) // 2]


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("ordered", [True, False])
def test_unique_can_be_undone(axis: int | None, ordered: bool) -> None:
    """The inverse puts the distinct slices where they stood, the counts say how often."""
    x = np.array([[3, 1, 3, 3], [2, 1, 2, 2], [3, 1, 3, 3]], np.int8)
    every = {"return_index": True, "return_inverse": True, "return_counts": True}
    values, index, inverse, counts = run("unique", x, axis=axis, sorted=ordered, **every)
    flat = x.reshape(-1) if axis is None else x
    along = 0 if axis is None else axis
    np.testing.assert_array_equal(np.take(values, inverse, along), flat)
    np.testing.assert_array_equal(np.take(flat, index, along), values)
    assert inverse.shape == (flat.shape[along],) and counts.sum() == flat.shape[along]
    assert counts.tolist() == [(inverse == k).sum() for k in range(len(counts))]
    if not ordered:  # they stand in order of appearance
        assert index.tolist() == sorted(index.tolist())


@pytest.mark.parametrize("channel", [1, 2, -1])
@pytest.mark.parametrize("axes", [(), (2,), (3,), (2, 3), (1, 3), (1, 2, 3)])
@pytest.mark.parametrize(("center", "scale"), [(True, True), (True, False), (False, True)])
def test_group_norm_over_every_choice_of_axes(
    channel: int, axes: tuple[int, ...], center: bool, scale: bool
) -> None:
    """Each element less the mean over its group's channels and the axes, by the deviation over them."""
    x = np.random.default_rng(5).standard_normal((2, 4, 4, 4))
    along, size = channel % 4, 2
    gamma, beta = np.array([1.0, 2, 3, 4]), np.array([0.5, -1, 2, 0])
    given = (x, gamma, beta, 2, channel, axes)
    found = run("nn.group_norm", *given, epsilon=1e-3, center=center, scale=scale)
    over = set(axes) - {along}
    for place in np.ndindex(*x.shape):
        block: list[Any] = [slice(None) if k in over else p for k, p in enumerate(place)]
        first = place[along] // size * size
        block[along] = slice(first, first + size)
        part = x[tuple(block)]
        expected = (x[place] - part.mean()) / math.sqrt(part.var() + 1e-3)
        expected = expected * gamma[place[along]] if scale else expected
        expected = expected + beta[place[along]] if center else expected
        assert math.isclose(found[place], expected, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
def test_windows_are_those_that_fit(size: int, stride: int, dilation: int) -> None:
    """As many as a floor division counts: where only a part of a stride is missing there are none, else it is a fault."""
    reach = (size - 1) * dilation
    for length in range(1, 9):
        starts = range(0, length - reach, stride)
        if (length - reach - 1) // stride + 1 < 0:
            with pytest.raises(OperatorFault, match="windows of"):
                windows(line(length), [size], [stride], [dilation])
            continue
        found = windows(line(length), [size], [stride], [dilation])
        expected = [[10 + s + k * dilation for k in range(size)] for s in starts]
        assert found.shape == (len(starts), size)
        assert found.tolist() == expected


def test_windows_over_two_axes_with_steps_of_their_own() -> None:
    x = np.arange(2 * 7 * 8).reshape(2, 7, 8)
    found = windows(x, [2, 3], [3, 2], [2, 1])
    assert found.shape == (2, 2, 3, 2, 3)
    for b, i, j, k, q in np.ndindex(*found.shape):
        assert found[b, i, j, k, q] == x[b, 3 * i + 2 * k, 2 * j + q]


@pytest.mark.parametrize(
    ("axis", "values", "every"),
    [
        (None, "Tensor((unique,), float32)", "Tensor(int64, ndim=1)"),
        (0, "Tensor((unique, 4), float32)", "Tensor((n,), int64)"),
        (1, "Tensor((n, unique), float32)", "Tensor((4,), int64)"),
        (-1, "Tensor((n, unique), float32)", "Tensor((4,), int64)"),
    ],
)
def test_the_inverse_of_unique_has_an_index_for_each_slice(
    axis: int | None, values: str, every: str
) -> None:
    flags = {"return_index": True, "return_inverse": True, "return_counts": True}
    found = legal("unique", tensor((n, 4)), axis=axis, **flags)
    some = "Tensor((unique,), int64)"
    assert found == f"Tuple({values}, {some}, {every}, {some})"


@pytest.mark.parametrize("dims", [(3,), (2, 3), (2, 3, 2)])
def test_cross_entropy_is_a_mean_over_the_first_axis(dims: tuple[int, ...]) -> None:
    """A single distribution has no axis to take the mean over."""
    draw = np.random.default_rng(7)
    p, labels = draw.standard_normal(dims), draw.random(dims)
    total = -math.fsum((p * labels).flat)
    found = run("nn.cross_entropy_with_logits", p, labels)
    assert math.isclose(found, total / (dims[0] if len(dims) > 1 else 1), rel_tol=1e-12)


@pytest.mark.parametrize(("kind", "name"), [("float32x4", "float32x4"), ("void", "void")])
def test_arrays_that_there_are_not(kind: str, name: str) -> None:
    with pytest.raises(OperatorFault, match=f"arrays of element type {name} are not supported$"):
        numpy_dtype(dtype(kind))


def test_a_condition_that_is_none_is_told_at_its_place() -> None:
    found = derive("where", tensor((n,)), tensor((n,)), tensor((n,)))
    assert [report[0] for report in found.reports] == ["OBL-element-bool"]
    assert found.recorder.places == [0]


@pytest.mark.parametrize("at", range(-4, 4))
def test_flip_takes_the_axes_that_there_are(at: int) -> None:
    found = derive("flip", tensor((n, 4)), axis=at)
    assert found.codes == ([] if -2 <= at < 2 else ["OBL-axis-range"])
    assert derive("flip", tensor(), axis=at).codes == []


@pytest.mark.parametrize("x", [-9.0, -3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.5, 9.0])
def test_activations_are_their_formulas(x: float) -> None:
    cubed = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    expected = {
        "nn.gelu": x * (1 + math.erf(x / math.sqrt(2))) / 2,
        "nn.gelu_tanh": x * (1 + math.tanh(cubed)) / 2,
        "nn.silu": x / (1 + math.exp(-x)),
        "nn.relu": max(x, 0.0),
        "sigmoid": 1 / (1 + math.exp(-x)),
    }
    for name, value in expected.items():
        found = run(name, np.array([x]))[0]
        assert math.isclose(found, value, rel_tol=1e-6, abs_tol=1e-9), (name, found, value)


@pytest.mark.parametrize("causal", ["TopLeft", "BottomRight"])
@pytest.mark.parametrize("window", [None, 1, 2, 9])
@pytest.mark.parametrize(("queries", "keys"), [(4, 4), (2, 5), (5, 2)])
def test_which_keys_a_query_sees(causal: str, window: int | None, queries: int, keys: int) -> None:
    """Scores are equal and values are unit vectors, so a query's row says what it sees."""
    query, key = (np.zeros((1, length, 1, 3), np.float64) for length in (queries, keys))
    value = np.eye(keys).reshape(1, keys, 1, keys)
    found = attention_value(query, key, value, None, None, causal, window)[0, :, 0]
    behind = abs(keys - queries) if causal == "BottomRight" else 0
    for row in range(queries):
        last = row + behind
        seen = [
            at for at in range(last + 1) if at < keys and (window is None or at > last - window)
        ]
        # Who sees nothing has scores of minus infinity alone.
        wanted = [(1 / len(seen) if at in seen else 0) if seen else np.nan for at in range(keys)]
        np.testing.assert_allclose(found[row], wanted)


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("columns", [0, 1, 4])
def test_triangles_from_any_diagonal(rows: int, columns: int) -> None:
    """The diagonal is a number, whole or not, however large: what lies on its one side is kept."""
    x = np.arange(1, rows * columns + 1, dtype=np.float32).reshape(rows, columns)
    numbers = [
        -(2**63),
        2**63 - 1,
        1e30,
        -1e30,
        math.inf,
        -math.inf,
        math.nan,
        0.5,
        -0.5,
        *range(-4, 5),
    ]
    for k in numbers:
        for name, kept in (("tril", operator.le), ("triu", operator.ge)):
            expected = [
                [x[i, j] if kept(j - i, k) else 0 for j in range(columns)] for i in range(rows)
            ]
            np.testing.assert_array_equal(run(name, x, k), np.array(expected).reshape(x.shape))


@pytest.mark.parametrize(
    "given, wanted, found",
    [("n, 4", "n, -1", (0, 4)), ("3, n", "3, -1", (3, 0)), ("n, 4, 5", "-1, n", (20, 0))],
)
def test_an_inferred_length_beside_none_is_that_of_the_type(
    given: str, wanted: str, found: tuple[int, ...]
) -> None:
    """With no element the rest of the shape tells it: the type has ``n*4 // n``, which is 4."""
    names = given.replace("n", '"n"')
    text = f"@R.function\ndef main(x: R.Tensor(({names}), 'float32')):\n    return R.reshape(x, R.shape([{wanted}]))\n"
    x = np.zeros([0 if part == "n" else int(part) for part in given.split(", ")], np.float32)
    ended = rlx.run(text, inputs=[x])
    assert ended.ok and ended.numpy().shape == found


@pytest.mark.parametrize("groups", [0, 2])
def test_attention_without_heads_is_empty(groups: int) -> None:
    query, key = np.ones((1, 2, 0, 3), np.float32), np.ones((1, 4, groups, 3), np.float32)
    assert run("nn.attention", query, key, key).shape == (1, 2, 0, 3)


@pytest.mark.parametrize("channels", [1, 2])
def test_infinity_times_a_weight_of_zero_is_nan(channels: int) -> None:
    """Also where a window, or what one place of it adds, is a single number."""
    x = np.tile(np.array([math.inf, 1, math.nan], np.float32), (1, channels, 1))
    zero = np.zeros((channels, channels, 1), np.float32)
    kernel = np.tile(np.array([0, 4], np.float32), (channels, 1, 1))
    layouts = {"data_layout": "NCW"}
    found = run("nn.conv1d", x, zero, kernel_layout="OIW", **layouts)
    np.testing.assert_array_equal(found[0, 0], [math.nan, 0, math.nan])
    found = run("nn.conv1d_transpose", x[:, :1], kernel[:1], kernel_layout="IOW", **layouts)
    np.testing.assert_array_equal(found[0, 0], [math.nan, math.inf, math.nan, math.nan])
    apart = run(
        "nn.conv1d_transpose", x, kernel, strides=2, groups=channels, kernel_layout="IOW", **layouts
    )
    np.testing.assert_array_equal(apart[0, 0], [math.nan, math.inf, 0, 4, math.nan, math.nan])
