"""The order of struct info against the checks of a run: what is a member below is a member above."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from rlx.generate import struct_infos
from rlx.generate.elements import Elements
from rlx.generate.inputs import value
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import VOID
from rlx.semantics.cast import check
from rlx.semantics.machine.numpy_conversion import typed
from rlx.solver import Proved
from rlx.solver.order import NotSubtype, compatibility, glb, lub, subtype
from rlx.solver.prover import Prover

N, M = tir.Var("n"), tir.Var("m")
PROVER = Prover()
SIZES = st.fixed_dictionaries({N: st.integers(0, 3), M: st.integers(0, 3)})


def data(info: ast.StructInfo) -> bool:
    """Whether values of an info can be made: no functions, no objects."""
    match info:
        case ast.TupleStructInfo(fields=fields):
            return all(map(data, fields))
        case ast.FuncStructInfo() | ast.ObjectStructInfo():
            return False
        case ast.TensorStructInfo(ndim=-1) | ast.ShapeStructInfo(ndim=-1):
            return False
    return True


def _elements(seed: int) -> Elements:
    return Elements(random.Random(seed).randbytes)


INFOS = struct_infos((N, M)).map(lambda info: info if data(info) else ast.ShapeStructInfo((N,), 1))


@given(INFOS, struct_infos((N, M)), SIZES, st.integers(0, 99))
def test_a_member_is_a_member_of_every_bound(
    one: ast.StructInfo, other: ast.StructInfo, sizes: dict[tir.Var, int], seed: int
) -> None:
    """A value of one info passes the cast to its bound with any other."""
    member = typed(value(one, sizes, _elements(seed), special=False), one)
    check([member], [one], sizes)
    for above in (lub(one, other, PROVER), lub(other, one, PROVER)):
        check([member], [above], sizes)


@given(struct_infos((N, M)), struct_infos((N, M)))
def test_a_bound_is_above(one: ast.StructInfo, other: ast.StructInfo) -> None:
    """Whatever is derived from two infos, it never says that one of them is not below their bound."""
    above = lub(one, other, PROVER)
    for info in (one, other):
        assert compatibility(info, above, PROVER).kind != "incompatible"
        assert not isinstance(subtype(info, above, PROVER), NotSubtype)


@given(INFOS, SIZES, st.integers(0, 99))
def test_the_meet_of_an_info_with_itself_keeps_its_members(
    info: ast.StructInfo, sizes: dict[tir.Var, int], seed: int
) -> None:
    member = typed(value(info, sizes, _elements(seed), special=False), info)
    both = glb(info, info, PROVER)
    assert both is not None
    check([member], [both], sizes)


@st.composite
def looser(draw: st.DrawFn, info: ast.StructInfo) -> ast.StructInfo:
    """An info that says no more than this one."""
    match info:
        case ast.TensorStructInfo(dtype=kind, ndim=ndim):
            rank = draw(st.sampled_from((ndim, -1)))
            less: ast.StructInfo = ast.TensorStructInfo(
                None, draw(st.sampled_from((kind, VOID))), rank
            )
        case ast.ShapeStructInfo(ndim=ndim):
            less = ast.ShapeStructInfo(None, draw(st.sampled_from((ndim, -1))))
        case ast.PrimStructInfo(dtype=kind):
            less = ast.PrimStructInfo(kind)
        case ast.TupleStructInfo(fields=fields):
            less = ast.TupleStructInfo(tuple(draw(looser(f)) for f in fields))
        case _:
            return info
    return draw(st.sampled_from((less, info, ast.ObjectStructInfo())))


@given(st.data(), SIZES, st.integers(0, 99))
def test_subsumption(data_source: st.DataObject, sizes: dict[tir.Var, int], seed: int) -> None:
    """A less precise info is proved to be above, and it has every member of the one below."""
    info = data_source.draw(INFOS)
    above = data_source.draw(looser(info))
    assert isinstance(subtype(info, above, PROVER), Proved)
    member = typed(value(info, sizes, _elements(seed), special=False), info)
    check([member], [above], sizes)


@given(INFOS, INFOS, SIZES, st.integers(0, 99))
def test_what_is_proved_below_is_below(
    one: ast.StructInfo, other: ast.StructInfo, sizes: dict[tir.Var, int], seed: int
) -> None:
    """For two unrelated infos, members agree if the order is proved."""
    if isinstance(subtype(one, other, PROVER), Proved):
        member = typed(value(one, sizes, _elements(seed), special=False), one)
        check([member], [other], sizes)


@given(st.data())
def test_what_says_less_may_fit(data_source: st.DataObject) -> None:
    """A value of which less is known may stand where more is asked for; the reverse always may."""
    info = data_source.draw(INFOS)
    above = data_source.draw(looser(info))
    assert compatibility(info, above, PROVER).kind == "compatible"
    assert compatibility(above, info, PROVER).kind != "incompatible"


@given(st.data())
def test_functions_that_take_more_and_give_less_are_below(data_source: st.DataObject) -> None:
    """Parameters count the other way round than results do."""
    param, result = data_source.draw(INFOS), data_source.draw(INFOS)
    more, less = data_source.draw(looser(param)), data_source.draw(looser(result))
    below = ast.FuncStructInfo((more,), result)
    above = ast.FuncStructInfo((param,), less)
    assert isinstance(subtype(below, above, PROVER), Proved)
    if not isinstance(subtype(more, param, PROVER), Proved):
        assert not isinstance(subtype(above, below, PROVER), Proved)
