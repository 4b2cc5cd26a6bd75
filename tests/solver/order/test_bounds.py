"""Least upper and greatest lower bounds, kind by kind."""

from __future__ import annotations

import pytest

from rlx.grammar.nodes.ast import FuncStructInfo, StructInfo, Var
from rlx.solver.order import free_shape_vars, glb, lub, subtype
from tests.solver.order.build import (
    add,
    func,
    mul,
    obj,
    packed,
    prim,
    prover,
    shape,
    tensor,
    tup,
    var,
)

N, M = var("n"), var("m")
A, B, C, D = var("a"), var("b"), var("c"), var("d")
S = Var("s")
GENERIC = func((tensor((A,)),), tensor((A,)), A)

UPPER: list[tuple[StructInfo, StructInfo, StructInfo]] = [
    (obj(), tensor(), obj()),
    (shape(), tensor(), obj()),
    (tensor((N,)), tensor((N,)), tensor((N,))),
    (tensor((add(N, N),)), tensor((mul(2, N),)), tensor((mul(2, N),))),
    (tensor((N,)), tensor((M,)), tensor(ndim=1)),
    (tensor((N,)), tensor((N, M)), tensor()),
    (tensor((N,), "int8"), tensor((N,)), tensor((N,), "void")),
    (tensor((N,), on="cuda"), tensor((M,), on="cuda"), tensor(ndim=1, on="cuda")),
    (tensor((N,), on="cuda"), tensor((N,), on="llvm"), tensor((N,))),
    (tensor(S, ndim=2), tensor(S, "void", ndim=2), tensor(S, "void", ndim=2)),
    (tensor(S, ndim=2), tensor((N, M)), tensor(ndim=2)),
    (shape((N,)), shape((N,)), shape((N,))),
    (shape((N,)), shape((M,)), shape(ndim=1)),
    (shape((N,)), shape(ndim=1), shape(ndim=1)),
    (shape((N,)), shape(ndim=2), shape()),
    (prim(value=N), prim(value=N), prim(value=N)),
    (prim(value=N), prim(value=M), prim()),
    (prim("int32"), prim("int64"), obj()),
    (tup(shape(), tensor()), tup(shape(), shape()), tup(shape(), obj())),
    (tup(), tup(obj()), obj()),
    (
        func((tensor(),), tensor((N,))),
        func((tensor((N,)),), tensor()),
        func((tensor((N,)),), tensor()),
    ),
    (func((shape(),), obj()), func((tensor(),), obj()), packed("empty", pure=True)),
    (func((), obj()), func((obj(),), obj()), packed("empty", pure=True)),
    (func((), obj()), packed(), packed("empty")),
    (func((), obj(), pure=False), func((), tensor()), func((), obj(), pure=False)),
    (GENERIC, func((tensor((4,)),), tensor((4,))), func((tensor((4,)),), tensor((4,)))),
    (GENERIC, func((tensor((4,)),), tensor((5,))), func((tensor((4,)),), tensor(ndim=1))),
    (
        func((tensor((A, A)),), tensor((A,)), A),
        func((tensor((B, C)),), tensor((B,)), B, C),
        func((tensor((D, D)),), tensor((D,)), D),
    ),
    (
        func((tensor((A, 2)),), tensor((A,)), A),
        func((tensor((3, B)),), tensor((B,)), B),
        func((tensor((3, 2)),), tensor(ndim=1)),
    ),
    (
        func((tensor((N,)),), obj()),
        func((tensor((M,)),), obj()),
        packed("empty", pure=True),
    ),
    (func((), tensor()), packed("empty"), packed("empty")),
    (packed(), packed(pure=True), packed()),
    (packed(), packed("empty"), packed("empty")),
    (packed(None, tensor((N,))), packed(None, tensor((M,))), packed(None, tensor(ndim=1))),
    (packed(None, tensor()), packed(None, shape()), packed("empty")),
    (packed(None, tensor()), packed(), packed("empty")),
]


@pytest.mark.parametrize(("a", "b", "expected"), UPPER, ids=range(len(UPPER)))
def test_lub(a: StructInfo, b: StructInfo, expected: StructInfo) -> None:
    for x, y in ((a, b), (b, a)):
        assert same(lub(x, y, prover()), expected)


def same(a: StructInfo, b: StructInfo) -> bool:
    """Whether each is proved to be below the other."""
    return all(subtype(x, y, prover()).status == "proved" for x, y in ((a, b), (b, a)))


LOWER: list[tuple[StructInfo, StructInfo, StructInfo | None]] = [
    (obj(), tensor((N,)), tensor((N,))),
    (shape(), tensor(), None),
    (tensor(ndim=1), tensor(of="void", on="cuda"), tensor(ndim=1, on="cuda")),
    (tensor((N,), "void"), tensor(ndim=1), tensor((N,))),
    (tensor((N,)), tensor((M,)), None),
    (tensor(ndim=1), tensor(ndim=2), None),
    (tensor(of="int8"), tensor(), None),
    (tensor(on="cuda"), tensor(on="llvm"), None),
    (tensor(S, ndim=1), tensor((N,)), None),
    (tensor(S, ndim=1), tensor(ndim=1), tensor(S, ndim=1)),
    (shape((N,)), shape(ndim=1), shape((N,))),
    (shape((N,)), shape(), shape((N,))),
    (shape((N,)), shape((M,)), None),
    (shape((N,)), shape(ndim=2), None),
    (prim(value=N), prim(), prim(value=N)),
    (prim(value=N), prim(value=M), None),
    (prim("int32"), prim("int64"), None),
    (tup(obj(), shape()), tup(tensor(), obj()), tup(tensor(), shape())),
    (tup(shape()), tup(tensor()), None),
    (tup(), tup(obj()), None),
    (func((tensor(),), obj()), func((shape(),), tensor()), func((obj(),), tensor())),
    (func((), obj(), pure=False), func((), tensor()), func((), tensor())),
    (func((), shape()), func((), tensor()), None),
    (func((), obj()), packed(), None),
    (func((), tensor(), pure=False), packed("empty", pure=True), func((), tensor())),
    (func((), obj()), func((obj(),), obj()), None),
    (GENERIC, func((tensor((4,)),), tensor(ndim=1)), GENERIC),
    (func((tensor((N,)),), shape((N,))), func((tensor((M,)),), shape()), None),
    (func((shape((N,)),), shape((N,))), func((shape((M,)),), shape()), None),
    (func((prim(value=N),), shape((N,))), func((prim(),), shape()), None),
    (
        func((tensor((A,)), tensor()), shape((A,)), A),
        func((tensor((B,)), shape()), shape(ndim=1), B),
        func((tensor((C,)), obj()), shape((C,)), C),
    ),
    (
        func((tensor((A,)), tensor()), shape((A,)), A),
        func((tensor((3,)), shape()), shape(ndim=1)),
        None,
    ),
    (packed(), packed("empty", pure=True), packed(pure=True)),
    (packed(), packed(pure=True), packed(pure=True)),
    (packed(), packed(None, tensor()), None),
    (packed("empty"), packed(None, tensor()), packed(None, tensor())),
    (packed(None, shape()), packed(None, tensor()), None),
    (packed(None, tensor((N,))), packed(None, tensor(of="void")), packed(None, tensor((N,)))),
]


@pytest.mark.parametrize(("a", "b", "expected"), LOWER, ids=range(len(LOWER)))
def test_glb(a: StructInfo, b: StructInfo, expected: StructInfo | None) -> None:
    for x, y in ((a, b), (b, a)):
        found = glb(x, y, prover())
        if expected is None:
            assert found is None
        else:
            assert found is not None and same(found, expected)


def test_the_first_operand_is_kept_where_nothing_changes() -> None:
    """Callers compare by identity to see that nothing was lost."""
    for info, smaller in (
        (tensor((N,)), tensor((N,))),
        (shape(ndim=1), shape((N,))),
        (prim(), prim(value=N)),
        (tup(tensor()), tup(tensor((N,)))),
        (func((tensor((N,)),), tensor()), func((tensor(),), tensor((N,)))),
    ):
        assert lub(info, smaller, prover()) is info


def test_generic_functions_have_no_least_upper_bound() -> None:
    """Two upper bounds, neither below the other, and nothing below both: what is found is minimal."""
    twos = func((tensor(ndim=1),), tensor((2,)))
    at_two = func((tensor((2,)),), tensor((2,)))
    found = lub(GENERIC, twos, prover())
    for low in (GENERIC, twos):
        assert subtype(low, at_two, prover()).status == "proved"
        assert subtype(low, found, prover()).status == "proved"
    assert isinstance(found, FuncStructInfo)
    assert subtype(found, at_two, prover()).status == "refuted"
    assert subtype(at_two, found, prover()).status == "refuted"


def test_no_variable_is_left_without_a_place() -> None:
    """``a`` stands alone only in the parameter of a parameter, which the bound widens."""
    f = func((func((tensor((A,)),), obj()),), tensor((mul(0, A),)), A)
    g = func((func((tensor(ndim=1),), obj()),), tensor((0,)))
    found = lub(f, g, prover())
    assert not free_shape_vars(found)
    for low in (f, g):
        assert subtype(low, found, prover()).status == "proved"
    assert isinstance(found, FuncStructInfo)
    assert found.params is None
