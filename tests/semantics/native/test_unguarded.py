"""Calls as users make them: arrays are used where they are if that is possible, without the guards of other tests."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from rlx.semantics import native
from rlx.semantics.faults import FaultStop, OutOfFuelStop
from rlx.semantics.native import arrays, c_program, kernel, sequence
from rlx.semantics.native import workspace as workspaces
from rlx.semantics.tir import evaluate
from tests.semantics.tir.programs import of_body

PARAMETERS = 'A: T.Buffer(("n", "m"), "{0}"), s: T.{0}, B: T.Buffer(("n", "m"), "{0}"), C: T.Buffer(("m",), "{0}")'
BODY = "for i, j in T.grid(n, m): B[i, j] = A[i, j] + C[j] - s"

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "in one piece": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "every second": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "backwards": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "not aligned": lambda a: _shifted(a),
}


def _shifted(array: Any) -> Any:
    """The same elements, at an odd address."""
    memory = np.zeros(array.nbytes + 1, np.uint8)
    shifted = memory[1:].view(array.dtype).reshape(array.shape)
    shifted[...] = array
    return shifted


@pytest.fixture(autouse=True)
def unguarded(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (arrays, c_program, kernel, workspaces):
        monkeypatch.setattr(module, "GUARDED", False)


def made(kind: Any, n: int, m: int) -> list[Any]:
    a = np.arange(n * m).reshape(n, m).astype(kind)
    return [a, 2, np.zeros((n, m), kind), np.arange(m).astype(kind)]


@pytest.mark.parametrize("kind", ["int8", "float32", "float16", "bfloat16"])
def test_arrays_of_every_layout(kind: str) -> None:
    numpy_kind = ml_dtypes.bfloat16 if kind == "bfloat16" else np.dtype(kind)
    func = of_body(PARAMETERS.format(kind), BODY)
    compiled = native.compile(func)
    layouts = itertools.product(LAYOUTS.values(), repeat=2)
    for at, (of_a, of_b) in enumerate(layouts):
        # Two calls in a row with one shape, and then another: what is remembered of the last call is looked at.
        a, s, b, c = made(numpy_kind, 2 + at // 2 % 3, 3)
        given = [of_a(a), s, of_b(b), c]
        wanted = [a, s, b.copy(), c]
        evaluate(func, wanted)
        compiled(given)
        for got, other in zip(given, wanted, strict=True):
            np.testing.assert_array_equal(got, other)


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (1, 1)])
def test_arrays_without_elements(sizes: tuple[int, int]) -> None:
    given = made(np.float32, *sizes)
    native.compile(of_body(PARAMETERS.format("float32"), BODY))(given)
    np.testing.assert_array_equal(given[2], given[0] + given[3] - 2)


def test_arrays_that_share_memory() -> None:
    """The result is what the loops give one after the other."""
    func = of_body(
        'A: T.Buffer(("n",), "int32"), B: T.Buffer(("n",), "int32")',
        "for i in range(n): B[i] = A[i] + 1",
    )
    for shift in (0, 1, 2):
        mine, theirs = np.arange(12, dtype=np.int32), np.arange(12, dtype=np.int32)
        evaluate(func, [theirs[: 12 - shift], theirs[shift:]])
        native.compile(func)([mine[: 12 - shift], mine[shift:]])
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("count", [3, 24])
@pytest.mark.parametrize("step", ["down", "up"])
def test_any_two_of_many_arrays_may_share_memory(count: int, step: str) -> None:
    """Each loop moves one array into the next. Whichever two overlap, by whatever shift, the result
    is what the loops give one after the other; few arrays are compared in another way than many.
    """
    names = [f"B{k}" for k in range(count)]
    params = ", ".join(f'{name}: T.Buffer((4,), "int32")' for name in names)
    moves = itertools.pairwise(names)
    start = "3 - i" if step == "down" else "i"
    body = "\n".join(f"for i in range(4): {b}[{start}] = {a}[{start}] + 1" for a, b in moves)
    func = of_body(params, body)
    compiled, draw = native.compile(func), Random(count)
    pairs = list(itertools.combinations(range(count), 2))
    for one, other in draw.sample(pairs, min(len(pairs), 40)):
        for shift in (-3, 1, 0, 4):
            memory = np.arange(4 * count + 8, dtype=np.int32)
            other_memory = memory.copy()
            places = [4 * k + 4 for k in range(count)]
            places[other] = places[one] + shift
            evaluate(func, [memory[at : at + 4] for at in places])
            compiled([other_memory[at : at + 4] for at in places])
            np.testing.assert_array_equal(memory, other_memory)


def test_what_is_only_read_may_be_read_only() -> None:
    compiled = native.compile(of_body(PARAMETERS.format("float32"), BODY))
    given = made(np.float32, 2, 3)
    given[0].flags.writeable = given[3].flags.writeable = False
    compiled(given)
    np.testing.assert_array_equal(given[2], given[0] + given[3] - 2)
    given[2].flags.writeable = False
    with pytest.raises(
        FaultStop, match=r"argument 2 \(B\) is read-only, but the function writes to it"
    ):
        compiled(given)


@pytest.mark.parametrize(
    ("place", "change", "words"),
    [
        (0, lambda a: a.astype(np.float64), "expected elements of float32, found float64"),
        (0, lambda a: a.astype(">f4"), "expected elements of float32, found >f4"),
        (0, lambda a: a[0], "expected 2 axes, found 1"),
        (2, lambda a: a[None], "expected 2 axes, found 3"),
        (0, lambda a: a.tolist(), "expected an array, found list"),
        (1, lambda s: np.zeros(3), "expected a number, found an array"),
    ],
)
def test_arguments_that_do_not_fit(place: int, change: Callable[[Any], Any], words: str) -> None:
    compiled = native.compile(of_body(PARAMETERS.format("float32"), BODY))
    for _ in range(2):
        given = made(np.float32, 2, 3)
        compiled(given)
        given[place] = change(given[place])
        with pytest.raises(FaultStop, match=words):
            compiled(given)


def test_shapes_that_do_not_agree() -> None:
    compiled = native.compile(of_body(PARAMETERS.format("float32"), BODY))
    given = made(np.float32, 2, 3)
    for place, shape in [(2, (3, 3)), (3, (4,)), (2, (2, 2))]:
        wrong = [*given]
        wrong[place] = np.zeros(shape, np.float32)
        with pytest.raises(FaultStop) as found:
            compiled(wrong)
        assert found.value.code == "E-tir-argument"


INSIDE = """
for k in range(n):
    s = T.alloc_buffer((k + 1,), "int64")
    t = T.alloc_buffer((n,), "int64")
    for i in range(k + 1): s[i] = x[i] * k
    for i in range(n): t[i] = x[n - 1 - i]
    x[k] = s[k] + t[k]
"""


@pytest.fixture
def workspace(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The memory that kernels share, of which there is none at first."""
    shared = type(workspaces.kept_workspace)()
    monkeypatch.setattr(workspaces, "kept_workspace", shared)
    monkeypatch.setattr(workspaces, "FIRST_SIZE", 0)
    return shared


def test_memory_of_an_earlier_call_is_used_again(workspace: Any) -> None:
    """A call that needs more takes more; the next ones have it, whatever they need of it."""
    func = of_body('x: T.Buffer(("n",), "int64")', INSIDE)
    compiled = native.compile(func)
    kept = []
    for count in (3, 50, 50, 4, 0, 200, 7, 199, 201):
        mine, theirs = np.arange(count), np.arange(count)
        evaluate(func, [theirs])
        compiled([mine])
        np.testing.assert_array_equal(mine, theirs)
        kept.append(workspace.memory)
    sizes = [memory[2] for memory in kept]
    assert sizes == sorted(sizes) and len({id(memory) for memory in kept}) == 4
    assert all(memory[1] % 64 == 0 for memory in kept)
    for array, start, size in kept:
        begin = array.__array_interface__["data"][0]
        assert begin <= start and start + size <= begin + array.nbytes


def test_memory_is_limited_whether_or_not_there_is_some(workspace: Any) -> None:
    func = of_body('x: T.Buffer(("n",), "int64")', INSIDE)
    compiled, given = native.compile(func), np.arange(8)
    enough = 8 * (8 + 8)
    for _ in range(2):
        compiled([given], memory=enough)
        with pytest.raises(FaultStop) as found:
            compiled([given], memory=enough - 1)
        assert found.value.code == "E-tir-allocate"


def test_scalars_that_shapes_say_may_be_left_out() -> None:
    func = of_body(
        'A: T.Buffer(("n",), "int32"), B: T.Buffer(("n",), "int32"), n: T.int64',
        "for i in range(n): B[i] = A[i]",
    )
    a, b = np.arange(5, dtype=np.int32), np.zeros(5, np.int32)
    native.compile(func)([a, b])
    np.testing.assert_array_equal(a, b)
    with pytest.raises(FaultStop, match="takes 3 arguments, found 1"):
        native.compile(func)([a])
    with pytest.raises(FaultStop, match="takes 3 arguments, found 4"):
        native.compile(func)([a, b, 5, 5])


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "uint64", "float32", "float16"])
def test_the_limits_of_a_type(kind: str) -> None:
    func = of_body(
        f'A: T.Buffer((2,), "{kind}")',
        f'A[0] = T.min_value("{kind}")\nA[1] = T.max_value("{kind}")',
    )
    mine, theirs = np.zeros(2, kind), np.zeros(2, kind)
    evaluate(func, [theirs])
    native.compile(func)([mine])
    np.testing.assert_array_equal(mine, theirs)
    limits = np.finfo(kind) if kind.startswith("float") else np.iinfo(kind)
    assert (mine[0], mine[1]) == (limits.min, limits.max)


PLACED = """
s = T.alloc_buffer((n, 3), "int64")
t = T.alloc_buffer((5,), "int32")
for i in range(5): t[i] = y[i]
for i, j in T.grid(n, 3): s[i, j] = x[i] + j
u = T.alloc_buffer((n,), "int8")
for i in range(n): u[i] = T.Cast("int8", i)
for i in range(n): x[i] = s[i, 2] * t[i % 5] + u[i]
"""
PLACED_PARAMETERS = 'x: T.Buffer(("n",), "int64"), y: T.Buffer((5,), "int32")'


def placed(count: int) -> list[Any]:
    return [np.arange(count), np.arange(5, 10, dtype=np.int32)]


def test_buffers_have_places_in_the_memory_that_the_call_brings(
    workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It grows for them, but no further than the limit; what is larger is not kept."""
    monkeypatch.setattr(workspaces, "WORKSPACE_LIMIT", 10_000)
    func = of_body(PLACED_PARAMETERS, PLACED)
    compiled = native.compile(func)
    kept = []
    for count in (3, 50, 50, 4, 0, 200, 7, 500, 201):
        mine, theirs = placed(count), placed(count)
        evaluate(func, theirs)
        compiled(mine)
        np.testing.assert_array_equal(mine[0], theirs[0])
        kept.append(workspace.memory[2])
    assert kept == sorted(kept) and len({*kept}) == 3 and kept[-1] < 10_000
    assert compiled.general_variant is None and not workspaces.blocks


def test_places_are_limited_by_memory_and_fuel(workspace: Any) -> None:
    """The limits hold to the byte and to the iteration: beyond them, the code for all arguments says so."""
    compiled = native.compile(of_body(PLACED_PARAMETERS, PLACED))
    memory, fuel = 8 * 8 * 3 + 4 * 5 + 8, 5 + 8 + 8 * 3 + 8 + 8
    for _ in range(2):
        compiled(placed(8), memory=memory, fuel=fuel)
        with pytest.raises(FaultStop) as found:
            compiled(placed(8), memory=memory - 1)
        assert found.value.code == "E-tir-allocate"
        with pytest.raises(OutOfFuelStop):
            compiled(placed(8), fuel=fuel - 1)


@pytest.mark.parametrize("limit", [100, workspaces.WORKSPACE_LIMIT])
def test_sequences_bring_memory_for_places(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence, "WORKSPACE_LIMIT", limit)
    func = of_body(PLACED_PARAMETERS, PLACED)
    compiled = native.compile(func)
    places = (sequence.ArrayPlace(0, 0, (40,)), sequence.ArrayPlace(1, 0, (5,)))
    run = sequence.KernelSequence([sequence.KernelCall(compiled, places)] * 3, 2)
    mine, theirs = placed(40), placed(40)
    for _ in range(2):
        assert run(mine) is None
        for _ in range(3):
            evaluate(func, theirs)
        np.testing.assert_array_equal(mine[0], theirs[0])
    assert compiled.general_variant is None


STOPPED = """
for k in range(n):
    s = T.alloc_buffer((n + 1,), "int64")
    for i in range(n): s[i] = x[i]
    t = T.alloc_buffer((n,), "int64")
    for i in range(n): t[i] = s[i]
    x[k] = t[x[n - 1]]
"""


@pytest.mark.parametrize("size", [0, workspaces.FIRST_SIZE])
def test_what_a_stopped_call_holds_is_given_back(
    workspace: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it is in the workspace or not: the next call may take as much as if there had been none."""
    monkeypatch.setattr(workspaces, "FIRST_SIZE", size)
    compiled = native.compile(of_body('x: T.Buffer(("n",), "int64")', STOPPED))
    enough = 8 * (6 + 5)
    for _ in range(3):
        with pytest.raises(FaultStop) as found:
            compiled([np.array([0, 1, 2, 3, 7])], memory=enough)
        assert found.value.code == "E-tir-bounds"
        assert not workspaces.blocks
        given = np.array([4, 1, 2, 3, 0])
        compiled([given], memory=enough)
        assert given.tolist() == [4] * 5
    assert not workspaces.blocks


def test_what_a_stopped_sequence_holds_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sequence keeps its numbers from run to run, so what is left in them would count."""
    monkeypatch.setattr(sequence, "MEMORY_LIMIT", 8 * (6 + 5))
    compiled = native.compile(of_body('x: T.Buffer(("n",), "int64")', STOPPED))
    place = sequence.ArrayPlace(0, 0, (5,))
    run = sequence.KernelSequence([sequence.KernelCall(compiled, (place,))], 1)
    for _ in range(3):
        failure = run([np.array([0, 1, 2, 3, 7])])
        assert failure is not None and failure.stop.code == "E-tir-bounds"
        assert not workspaces.blocks
        given = np.array([4, 1, 2, 3, 0])
        assert run([given]) is None
        assert given.tolist() == [4] * 5


TYPES = [
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
]


@pytest.mark.parametrize("seed", range(6))
def test_no_two_places_overlap(workspace: Any, seed: int) -> None:
    """Buffers of any types and sizes are all filled, and then still hold what they were filled with."""
    chosen = Random(seed)
    fills, checks = [], []
    for at, dtype in enumerate(chosen.sample(TYPES, 7)):
        size = chosen.choice(["n", "n + 1", "3 * n", "1", "7", "64", str(chosen.randrange(1, 200))])
        value = f'T.Cast("{dtype}", {at % 2 if dtype == "bool" else at + 1})'
        fills += [f'b{at} = T.alloc_buffer(({size},), "{dtype}")', f"for i in range({size}):"]
        fills.append(f"    b{at}[i] = {value}")
        checks += [f"for i in range({size}):", f"    if b{at}[i] != {value}: x[0] = x[0] + 1"]
    compiled = native.compile(of_body('x: T.Buffer(("n",), "int64")', "\n".join([*fills, *checks])))
    assert "RLX_PLACE" in compiled.source
    for count in (1, 2, 63, 64, 65, 200):
        wrong = np.zeros(count, np.int64)
        compiled([wrong])
        assert not wrong.any()
    assert compiled.general_variant is None
