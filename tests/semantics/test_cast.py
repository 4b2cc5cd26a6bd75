"""E-cast: what a cast, an entry and a return accept, and what each premise refuses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.dtype import INT64, dtype
from rlx.grammar.read.parser import parse_struct_info
from rlx.semantics.cast import CastFailed, check, match_cast
from rlx.semantics.values import (
    Closure,
    Opaque,
    Packed,
    Scalar,
    ShapeValue,
    Tensor,
    TupleValue,
    Value,
)


def tensor(*shape: int, kind: str = "float32", device: tuple[str, int] | None = None) -> Tensor:
    return Tensor(np.zeros(shape, kind), device)


FLOATS = 'T.Cast("int64", T.Cast("float32", n) * T.float32(1.5))'
"""A size as ONNX computes it of a scale."""


class _Code:
    """A function's code, as far as a cast looks at it."""

    captured = ()
    info = parse_struct_info("R.Callable((R.Tensor,), R.Any, True)")


FUNCTION = Closure(_Code)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("R.Any", Opaque("text")),
        ("R.Tensor", tensor(2, 3)),
        ('R.Tensor((n, m), "float32")', tensor(2, 3)),
        ('R.Tensor((n, n * m, m), "float32")', tensor(2, 6, 3)),
        ('R.Tensor((n * m, n, m), "float32")', tensor(6, 2, 3)),
        (f"R.Tensor((n, {FLOATS}))", tensor(5, 7)),
        ("R.Tensor(ndim=2)", tensor(2, 3)),
        ('R.Tensor((4,), vdevice="cuda:1")', tensor(4, device=("cuda", 1))),
        ("R.Shape([n, n])", ShapeValue((3, 3))),
        ("R.Shape", ShapeValue((1, 2))),
        ("R.Prim(value=n + 1)", Scalar(5)),
        ("R.Tuple(R.Tensor((n,)), R.Prim(value=n))", TupleValue((tensor(4), Scalar(4)))),
        ("R.Callable((R.Tensor,), R.Any)", FUNCTION),
        ("R.Callable", Packed(lambda *_: ShapeValue(()))),
    ],
)
def test_accepted(text: str, value: Value) -> None:
    info = parse_struct_info(text)
    known = {var: 4 for var in _lone(info) if text == "R.Prim(value=n + 1)"}
    match_cast(value, info, known)


def _lone(info: StructInfo) -> list[tir.Var]:
    from rlx.solver.order import free_shape_vars

    return list(free_shape_vars(info))


@pytest.mark.parametrize(
    ("text", "value", "code", "message"),
    [
        ("R.Tensor", ShapeValue(()), "E-cast-kind", "expected a tensor, found a shape"),
        ("R.Shape", tensor(2), "E-cast-kind", "expected a shape"),
        (
            "R.Callable((R.Any,), R.Any)",
            Packed(lambda *_: ShapeValue(())),
            "E-cast-kind",
            "a function",
        ),
        ("R.Tensor(ndim=1)", tensor(2, 3), "E-cast-rank", "expected rank 1, found rank 2"),
        ("R.Shape([n])", ShapeValue((1, 2)), "E-cast-rank", "expected rank 1, found rank 2"),
        (
            'R.Tensor("int8")',
            tensor(2),
            "E-cast-dtype",
            "expected elements of type int8, found float32",
        ),
        ('R.Prim("int32")', Scalar(3, INT64), "E-cast-dtype", "expected a scalar of type int32"),
        (
            'R.Tensor((2,), vdevice="cuda:0")',
            Tensor(tensor(2).data, ("llvm", 0)),
            "E-cast-device",
            "cuda:0, found llvm:0",
        ),
        ("R.Tensor((n, n))", tensor(2, 3), "E-cast-dimension", "dimension 1: expected 2, found 3"),
        (
            "R.Tensor((n, n * 2))",
            tensor(2, 3),
            "E-cast-dimension",
            "dimension 1: expected 4, found 3",
        ),
        ("R.Prim(value=4)", Scalar(5), "E-cast-value", "expected 4, found 5"),
        ("R.Callable((R.Any, R.Any), R.Any)", FUNCTION, "E-cast-function", "a function"),
        ("R.Callable((R.Shape,), R.Any, True)", FUNCTION, "E-cast-function", "a function"),
        ("R.Tuple(R.Any)", TupleValue(()), "E-cast-fields", "expected 1 fields, found 0"),
        ("R.Tensor((n, 4 // n))", tensor(0, 3), "E-cast-undefined", "expected a number"),
        ("R.Tensor((n * 2,))", tensor(4), "E-cast-undefined", "n has no value"),
        (f"R.Tensor(({FLOATS},))", tensor(4), "E-cast-undefined", "n has no value"),
        (f"R.Tensor((n, {FLOATS}))", tensor(5, 8), "E-cast-dimension", "expected 7, found 8"),
        (
            "R.Tensor((n, n * 4611686018427387904 // 4611686018427387904))",
            tensor(3, 3),
            "E-cast-undefined",
            "expected a number",
        ),
    ],
)
def test_refused(text: str, value: Value, code: str, message: str) -> None:
    with pytest.raises(CastFailed) as raised:
        match_cast(value, parse_struct_info(text), {})
    assert raised.value.code == code
    assert message in str(raised.value)


def test_the_place_inside_of_a_value() -> None:
    info = parse_struct_info("R.Tuple(R.Any, R.Tuple(R.Tensor((2, 4))))")
    value = TupleValue((Opaque(None), TupleValue((tensor(2, 3),))))
    with pytest.raises(CastFailed) as raised:
        check([Scalar(1), value], [parse_struct_info("R.Any"), info], {})
    assert raised.value.path == ("argument 1", "field 1", "field 0", "dimension 1")


@given(st.integers(0, 5), st.integers(0, 5), st.permutations([0, 1, 2]))
def test_the_order_of_arguments_does_not_matter(n: int, m: int, order: list[int]) -> None:
    a, b = tir.Var("n"), tir.Var("m")
    from rlx.grammar.nodes.ast import ShapeStructInfo

    infos = [
        ShapeStructInfo((tir.Mul(a, b),), 1),
        ShapeStructInfo((b,), 1),
        ShapeStructInfo((a, tir.Add(a, b)), 2),
    ]
    values = [ShapeValue((n * m,)), ShapeValue((m,)), ShapeValue((n, n + m))]
    point = check([values[i] for i in order], [infos[i] for i in order], {})
    assert point == {a: n, b: m}


@given(st.lists(st.integers(0, 4), max_size=3))
def test_a_value_passes_the_cast_to_what_it_is(sizes: list[int]) -> None:
    from rlx.grammar.nodes.ast import ShapeExpr, TensorStructInfo

    dims = ShapeExpr(tuple(tir.IntImm(size) for size in sizes))
    info = TensorStructInfo(dims, dtype("float32"), len(sizes))
    assert match_cast(tensor(*sizes), info, {}) == {}


@pytest.mark.parametrize("target", ["llvm", "cuda", "vulkan"])
@pytest.mark.parametrize("index", [0, 1])
def test_a_device_is_a_target_and_a_number(target: str, index: int) -> None:
    info = parse_struct_info(f'R.Tensor((4,), vdevice="{target}:{index}")')
    for other in itertools.product(("llvm", "cuda", "vulkan"), (0, 1)):
        if other == (target, index):
            match_cast(tensor(4, device=other), info, {})
        else:
            with pytest.raises(CastFailed) as failed:
                match_cast(tensor(4, device=other), info, {})
            assert failed.value.code == "E-cast-device"
