"""Least upper and greatest lower bounds, kind by kind."""

from __future__ import annotations

from rlx.grammar.nodes.ast import FuncStructInfo
from rlx.solver.order import free_shape_vars, lub, subtype
from tests.solver.order.build import (
    func,
    mul,
    obj,
    prim,
    prover,
    shape,
    tensor,
    tup,
    var,
)

N, M = var("n"), var("m")
A, B, C, D = var("a"), var("b"), var("c"), var("d")
GENERIC = func((tensor((A,)),), tensor((A,)), A)


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
