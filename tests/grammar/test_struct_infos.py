"""Walking struct info sees every part once, and rebuilding keeps what does not change."""

from __future__ import annotations

from hypothesis import given

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.struct_infos import (
    all_parts,
    children,
    held_shape,
    numbers,
    of_the_value,
    with_children,
    with_numbers,
)
from rlx.grammar.read.parser import parse_struct_info
from rlx.solver.order import free_shape_vars, substitute
from tests.solver.order.strategies import struct_infos

NESTED = parse_struct_info(
    'R.Tuple(R.Tensor((n, m), "float32"), R.Callable((R.Shape([n]),), R.Prim(value=k)), R.Object)'
)


def test_every_part_in_the_order_of_the_text() -> None:
    kinds = [type(part).__name__.removesuffix("StructInfo") for part in all_parts(NESTED)]
    assert kinds == ["Tuple", "Tensor", "Func", "Shape", "Prim", "Object"]
    kinds = [type(part).__name__.removesuffix("StructInfo") for part in of_the_value(NESTED)]
    assert kinds == ["Tuple", "Tensor", "Func", "Object"]
    names = [str(n.name) for part in all_parts(NESTED) for n in numbers(part)]  # type: ignore[attr-defined]
    assert names == ["n", "m", "n", "k"]


def test_a_shape_that_a_variable_holds_is_no_number() -> None:
    shape = ast.Var("s", ast.ShapeStructInfo(None, 2))
    info = ast.TensorStructInfo(shape, ndim=2)
    assert held_shape(info) is shape
    assert numbers(info) == ()


@given(struct_infos())
def test_what_does_not_change_is_the_same_object(info: StructInfo) -> None:
    assert with_children(info, lambda part: part) is info
    assert with_numbers(info, lambda number: number) is info
    assert substitute(info, {tir.Var("elsewhere"): tir.IntImm(1)}) is info


@given(struct_infos())
def test_a_change_reaches_all_that_is_inside(info: StructInfo) -> None:
    def changed(part: StructInfo) -> StructInfo:
        return with_numbers(with_children(part, changed), lambda _: tir.IntImm(7))

    made = list(all_parts(changed(info)))
    assert [type(part) for part in made] == [type(part) for part in all_parts(info)]
    assert all(type(number) is tir.IntImm for part in made for number in numbers(part))
    assert sum(len(children(part)) for part in made) == len(made) - 1
    assert free_shape_vars(changed(info)) == ()
