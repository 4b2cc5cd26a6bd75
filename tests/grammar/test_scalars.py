"""Laws of walks over scalars and of interned expressions."""

from __future__ import annotations

import gc
import math
import random
import weakref
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import FLOAT32, INT32
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import replace, walk

from .prim_strategies import Prim
from .rebuild import changes
from .strategies import dims

QUICK = settings(deadline=None)
N, M = tir.Var("n"), tir.Var("m")


@st.composite
def values(draw: st.DrawFn) -> tir.PrimExpr:
    """Expressions of PrimFuncs over two variables and a buffer."""
    prim = Prim(draw)
    prim.vars += [N, M]
    prim.buffers.append(BUFFER)
    return prim.value(3)


BUFFER = tir.Buffer("B", (N,), FLOAT32)
LEAVES = st.sampled_from([N, M, *map(tir.IntImm, range(2))])


def again(expr: tir.PrimExpr) -> tir.PrimExpr:
    """The same expression of other objects, with other spans."""

    def copy(node: tir.PrimExpr, operands: list[tir.PrimExpr]) -> tir.PrimExpr:
        if isinstance(node, tir.Var):
            return node
        if not operands:
            return replace(node, span=(7, 9))
        fresh = [tir.Cast(INT32, operand) for operand in operands]  # so that it is another object
        return tir.with_operands(tir.with_operands(node, fresh), operands, (7, 9))

    return tir.fold(expr, copy)


def graph(rng: random.Random, size: int) -> tir.PrimExpr:
    """An expression of about ``size`` nodes, each used several times."""
    nodes: list[tir.PrimExpr] = [N, M, tir.IntImm(3)]
    for _ in range(size):
        a, b, c = (rng.choice(nodes[-4:]) for _ in range(3))
        kind = rng.choice([tir.Add, tir.Mul, tir.Min, tir.Select, tir.Not, tir.Call])
        if kind is tir.Select:
            nodes.append(tir.Select(tir.LT(a, b), b, c))
        elif kind is tir.Not:
            nodes.append(tir.Not(a))
        elif kind is tir.Call:
            nodes.append(tir.Call("if_then_else", (a, b, c)))
        else:
            nodes.append(kind(a, b))
    return nodes[-1]


# ---------------------------------------------------------------- walks


@pytest.mark.parametrize("seed", range(20))
def test_a_fold_visits_each_node_once_after_its_operands(seed: int) -> None:
    root = graph(random.Random(seed), 200)
    visits: Counter[tir.PrimExpr] = Counter()

    def visit(node: tir.PrimExpr, operands: list[tir.PrimExpr]) -> tir.PrimExpr:
        assert operands == list(tir.children(node))
        assert all(visits[child] for child in operands)
        visits[node] += 1
        return node

    assert tir.fold(root, visit) is root
    assert set(visits) == set(walk(root)) == set(tir.postorder(root))
    assert set(visits.values()) == {1}


@pytest.mark.parametrize("size", range(10))
def test_nodes_of_small_expressions_are_listed_as_a_text_has_them(size: int) -> None:
    root, inner = graph(random.Random(size), size), tir.Add(N, M)

    def listed(node: tir.PrimExpr) -> list[tir.PrimExpr]:
        return [below for child in tir.children(node) for below in listed(child)] + [node]

    assert tir.written_out([root]) == listed(root)
    assert tir.postorder(root) == [*dict.fromkeys(listed(root))]
    outer = tir.Mul(inner, M)
    assert tir.written_out([outer], {inner}) == [M, outer]
    assert tir.written_out([graph(random.Random(size), 200)]) is None


@pytest.mark.parametrize("seed", range(20))
def test_a_lazy_fold_that_asks_for_everything_is_a_fold(seed: int) -> None:
    root = graph(random.Random(seed), 12)
    known: dict[tir.PrimExpr, int] = {}
    visits: Counter[tir.PrimExpr] = Counter()

    def ask(node: tir.PrimExpr) -> tir.Visit[int]:
        visits[node] += 1
        return (yield from written_size(node))

    written = tir.fold(root, lambda _, below: 1 + sum(below))
    assert tir.fold_lazily(root, ask) == written == sum(visits.values())
    visits.clear()
    assert tir.fold_lazily(root, ask, known) == written
    assert set(visits) == set(known) == set(tir.postorder(root))
    assert set(visits.values()) == {1}


def written_size(node: tir.PrimExpr) -> tir.Visit[int]:
    """The number of nodes of an expression, where shared ones are repeated."""
    total = 1
    for child in tir.children(node):
        total += yield child
    return total


def test_a_lazy_fold_visits_only_what_is_asked_for() -> None:
    def first(node: tir.PrimExpr) -> tir.Visit[tir.PrimExpr]:
        return (yield node.a) if isinstance(node, tir.Binary) else node

    assert tir.fold_lazily(tir.Add(tir.Mul(N, M), tir.OpaqueExpr("never")), first) is N


def test_a_fold_uses_and_extends_what_is_known() -> None:
    inner = tir.Add(N, M)
    known: dict[tir.PrimExpr, int] = {inner: 5}
    assert tir.fold(tir.Mul(inner, inner), lambda _, below: sum(below), known) == 10
    assert N not in known


def deep(kind: type[tir.Binary], left: bool) -> tir.PrimExpr:
    """A chain of 9,000 operators."""
    chain: tir.PrimExpr = N
    for _ in range(9_000):
        chain = kind(chain, M) if left else kind(M, chain)
    return chain


@pytest.mark.parametrize("left", [True, False])
def test_no_walk_recurses(left: bool) -> None:
    chain = deep(tir.Add, left)
    assert tir.fold(chain, lambda _, below: 1 + sum(below)) == 18_001
    assert tir.fold_lazily(chain, written_size) == 18_001
    assert tir.interned(chain) is tir.interned(deep(tir.Add, left))
    assert tir.free_vars(tir.substitute(chain, {M: N})) == (N,)


def test_a_limited_walk_stops() -> None:
    assert tir.larger_than(9_001, deep(tir.Add, True))
    assert not tir.larger_than(9_002, deep(tir.Add, True))


@pytest.mark.parametrize("seed", range(10))
def test_reached_nodes_are_distinct_and_begin_at_the_roots(seed: int) -> None:
    root = graph(random.Random(seed), 200)
    assert set(tir.reached([root], tir.children)) == set(tir.postorder(root))
    first = list(tir.reached([root], lambda node: tir.children(node)[:1]))
    path = [root]
    while tir.children(path[-1]):
        path.append(tir.children(path[-1])[0])
    assert first == path
    nodes = list(tir.reached([N, root, N], tir.children))
    assert nodes[:2] == [N, root]
    assert len(nodes) == len(set(nodes))


# ---------------------------------------------------------------- interned expressions


def small() -> Iterator[tir.PrimExpr]:
    """Many different small expressions."""
    leaves: list[tir.PrimExpr] = [N, M, tir.Var("n"), tir.IntImm(0), tir.IntImm(0, INT32)]
    leaves += [tir.FloatImm(0.0), tir.FloatImm(-0.0), tir.FloatImm(math.nan), tir.StringImm("n")]
    yield from leaves
    other = tir.Buffer("B", (N,), FLOAT32)
    for a in leaves[:5]:
        yield from (tir.Not(a), tir.Cast(INT32, a), tir.BufferLoad(BUFFER, (a,)))
        yield from (tir.BufferLoad(other, (a,)), tir.Call("exp", (a,)), tir.Call("log", (a,)))
        yield from (tir.Call("exp", (a,), FLOAT32), tir.Call("exp", (a,), None, {"k": [1, a]}))
        yield from (tir.Slice(a, N), tir.Slice(a, N, N), tir.Select(a, N, M), tir.Select(a, M, N))
        for b in leaves[:5]:
            yield from (tir.Add(a, b), tir.Sub(a, b), tir.Call("exp", (a, b)), tir.LT(a, b))


def test_interned_iff_structurally_equal_of_all_pairs() -> None:
    one, other = list(small()), [again(expr) for expr in small()]
    one_n, other_n = one[2], other[2]
    for a in one:
        for b in [*one, *(tir.substitute(o, {other_n: one_n}) for o in other)]:  # type: ignore[dict-item]
            assert (tir.interned(a) is tir.interned(b)) == structural_equal(a, b), (a, b)


@QUICK
@given(values(), values())
def test_interned_iff_structurally_equal(a: tir.PrimExpr, b: tir.PrimExpr) -> None:
    assert (tir.interned(a) is tir.interned(b)) == structural_equal(a, b)
    assert tir.interned(a) is tir.interned(again(a))


@QUICK
@given(dims(), st.data())
def test_a_changed_dimension_is_another(dim: tir.PrimExpr, data: st.DataObject) -> None:
    assert tir.interned(dim) is tir.interned(again(dim))
    ways = changes(dim)
    if ways and not isinstance(dim, tir.Var):
        changed = data.draw(st.sampled_from(ways))()
        assert tir.interned(dim) is not tir.interned(changed)


@QUICK
@given(values())
def test_an_interned_expression_is_the_same_without_spans(expr: tir.PrimExpr) -> None:
    shared = tir.interned(again(expr))
    assert structural_equal(expr, shared)
    for node in tir.postorder(shared):
        assert tir.interned(node) is node
        assert isinstance(node, tir.Var) or node.span is None  # type: ignore[attr-defined]


def test_an_interned_expression_lives_as_long_as_its_users() -> None:
    user = tir.Add(N, tir.IntImm(41), (0, 1))
    shared = weakref.ref(tir.interned(user))
    gc.disable()
    try:
        assert shared() is not None
        del user
        assert shared() is None
    finally:
        gc.enable()
