"""Calls into TIR: the PrimFunc's buffers against arguments and declared results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import HANDLE, INT64, dtype
from rlx.grammar.nodes.node import replace
from rlx.operators import lookup
from tests.operators.context import (
    Derived,
    Recorder,
    derive,
    m,
    n,
    plus,
    prim,
    shape,
    tensor,
    times,
    variable,
)

F = ast.GlobalVar("f")


def prim_func(*params: Any) -> tir.PrimFunc:
    """A PrimFunc with a buffer for each shape, and a scalar for each variable."""
    variables: list[tir.Var] = []
    buffers: dict[tir.Var, tir.Buffer] = {}
    for index, given in enumerate(params):
        if isinstance(given, tir.Var):
            variables.append(given)
            continue
        dims, kind = given if isinstance(given[-1], str) else (given, "float32")
        handle = tir.Var(f"h{index}", HANDLE)
        variables.append(handle)
        buffers[handle] = tir.Buffer(f"b{index}", tuple(map(prim, dims)), dtype(kind))
    return tir.PrimFunc(tuple(variables), tir.SeqStmt(()), None, buffers, {})


def call(
    func: tir.PrimFunc | ast.FuncStructInfo | None,
    args: Any,
    out: ast.StructInfo | Sequence[ast.StructInfo],
    *rest: Any,
    name: str = "call_tir",
    **attrs: Any,
) -> Derived:
    recorder = Recorder({} if func is None else {F: func})
    types = (out,) if isinstance(out, ast.StructInfo) else tuple(out)
    return derive(name, F, args, *rest, types=types, recorder=recorder, **attrs)


def codes(found: Derived) -> list[tuple[str, str]]:
    return [report[:2] for report in found.reports]


i, j = tir.Var("i"), tir.Var("j")


def test_variables_of_the_prim_func_are_bound_by_its_buffers() -> None:
    func = prim_func((i, 4), (4, j), (i, j))
    found = call(func, (tensor((n, 4)), tensor((4, m))), tensor((n, m)))
    assert codes(found) == []
    assert str(found) == "Tensor((n, m), float32)"


def test_compound_dimensions_are_compared_under_the_binding() -> None:
    func = prim_func((i, 4), (times(i, 4),))
    assert codes(call(func, (tensor((n, 4)),), tensor((times(n, 4),)))) == []
    assert codes(call(func, (tensor((plus(n, 1), 4)),), tensor((plus(times(4, n), 4),)))) == []
    wrong = call(func, (tensor((n, 4)),), tensor((plus(times(n, 4), 1),)))
    assert codes(wrong) == [("OBL-joint-dims", "error")]
    assert wrong.message == (
        "call_tir: n * 4 + 1 along axis 0 of the result does not fit b1 of f, which requires i * 4 = n * 4, "
        "where i is n (axis 0 of x)"
    )


def test_dimensions_are_judged_jointly() -> None:
    func = prim_func((i, i), (i,))
    found = call(func, (tensor((16, 32)),), tensor((16,)))
    assert codes(found) == [("OBL-joint-dims", "error")]
    assert found.message == (
        "call_tir: 32 along axis 1 of x does not fit b0 of f, which requires i = 16 (axis 0 of x)"
    )


def test_symbols_that_may_agree_are_a_warning() -> None:
    func = prim_func((i,), (i,), (i,))
    found = call(func, (tensor((n,)), tensor((m,))), tensor((n,)))
    assert codes(found) == [("OBL-joint-dims", "warning")]


def test_a_dimension_nothing_binds_may_be_anything_it_can_be() -> None:
    func = prim_func((times(i, 2),), (times(i, 2),))
    assert codes(call(func, (tensor((8,)),), tensor((8,)))) == []
    assert codes(call(func, (tensor((7,)),), tensor((7,)))) == [("OBL-joint-dims", "error")]


def test_literal_dimensions() -> None:
    func = prim_func((3, 4), (3, 4))
    assert codes(call(func, (tensor((3, 4)),), tensor((3, 4)))) == []
    found = call(func, (tensor((3, 5)),), tensor((3, 4)))
    assert codes(found) == [("OBL-joint-dims", "error")]
    assert found.message == ("call_tir: 5 along axis 1 of x does not fit b0 of f, which requires 4")


def test_number_of_parameters() -> None:
    func = prim_func((i,), (i,))
    found = call(func, (tensor((n,)), tensor((n,))), tensor((n,)))
    assert codes(found) == [("OBL-buffers-count", "error")]
    assert found.message == (
        "call_tir: f has 2 parameters, but the call passes 2 arguments and 1 result"
    )
    assert str(found) == "Tensor((n,), float32)"


def test_buffers_get_tensors_of_their_type_and_rank() -> None:
    func = prim_func(((i, 4), "float16"), (i,))
    out = tensor((n,))
    assert codes(call(func, (tensor((n, 4)),), out)) == [("OBL-buffer-dtype", "error")]
    assert codes(call(func, (tensor((n,), "float16"),), out)) == [("OBL-buffer-rank", "error")]
    assert codes(call(func, (shape((n, 4)),), out)) == [("OBL-buffer-tensor", "error")]
    assert codes(call(func, (tensor(None, "float16", 2),), out)) == []
    assert codes(call(func, (ast.ObjectStructInfo(),), out)) == [("OBL-passed-kind", "warning")]


def test_scalars_among_the_arguments_and_behind_them() -> None:
    func = prim_func((i,), i, (i,))
    assert codes(call(func, (tensor((n,)), n), tensor((n,)))) == []
    assert codes(call(func, (tensor((n,)), tensor((n,))), tensor((n,)))) == [
        ("OBL-scalar-kind", "error")
    ]
    trailing = prim_func((4,), (4,), j)
    out = tensor((4,))
    assert codes(call(trailing, (tensor((4,)),), out, ast.ShapeExpr((m,)))) == []
    assert codes(call(trailing, (tensor((4,)),), out, tir_vars=ast.ShapeExpr((m,)))) == []
    assert codes(call(trailing, (tensor((4,)),), out)) == [("OBL-buffers-count", "error")]
    assert codes(call(trailing, (tensor((4,)),), out, variable(shape(ndim=1), "s"))) == []


def test_several_results() -> None:
    func = prim_func((i,), (i,), (i, 2))
    out = ast.TupleStructInfo((tensor((n,)), tensor((n, 2))))
    assert codes(call(func, (tensor((n,)),), out)) == []
    wrong = ast.TupleStructInfo((tensor((n,)), tensor((n, 3))))
    found = call(func, (tensor((n,)),), wrong)
    assert codes(found) == [("OBL-joint-dims", "error")]
    assert found.message == (
        "call_tir: 3 along axis 1 of result 1 does not fit b2 of f, which requires 2"
    )


def test_what_is_declared() -> None:
    func = prim_func((i,), (i,))
    assert codes(call(func, (tensor((n,)),), ())) == [("OBL-outputs-declared", "error")]
    assert codes(call(func, (tensor((n,)),), shape((n,)))) == [("OBL-outputs-tensor", "error")]


def test_the_callee_is_a_prim_func() -> None:
    relax = ast.FuncStructInfo((tensor((n,)),), tensor((n,)))
    assert codes(call(relax, (tensor((n,)),), tensor((n,)))) == [("OBL-callee-prim_func", "error")]
    assert codes(call(None, (tensor((n,)),), tensor((n,)))) == []
    x = variable(tensor((n,)))
    assert codes(derive("call_tir", x, (x,), types=(tensor((n,)),))) == [
        ("OBL-callee-global", "error")
    ]


def test_in_place_results_take_no_parameter() -> None:
    func = prim_func((i,), (i,), (j,))
    x, y = tensor((n,)), tensor((m,))
    out = ast.TupleStructInfo((x, y))

    def found(*indices: int, result: ast.StructInfo = out) -> list[tuple[str, str]]:
        return codes(
            call(func, (x, x), result, name="call_tir_inplace", inplace_indices=list(indices))
        )

    assert found(1, -1) == []
    assert found(-1, -1) == [("OBL-inplace-none", "error")]
    assert found(1) == [("OBL-inplace-length", "error")]
    assert found(2, -1) == [("OBL-inplace-range", "error")]
    assert found(0, 0) == [("OBL-inplace-repeated", "error")]
    number = ast.PrimStructInfo(INT64)
    scalar = call(func, (x, number), out, name="call_tir_inplace", inplace_indices=[1, -1])
    assert ("OBL-inplace-tensor", "error") in codes(scalar)
    half = tensor((n,), "float16")
    assert found(1, -1, result=ast.TupleStructInfo((half, y))) == [("OBL-reuse-dtype", "error")]
    flat = tensor((n, 1))
    assert found(1, -1, result=ast.TupleStructInfo((flat, y))) == [("OBL-reuse-rank", "error")]
    longer = tensor((plus(n, 1),))
    assert found(1, -1, result=ast.TupleStructInfo((longer, y))) == [("OBL-reuse-shape", "error")]
    assert found(-1, 0, result=ast.TupleStructInfo((y, flat))) == [("OBL-reuse-rank", "error")]
    untyped = (tensor((n,), "void"), x)
    assert codes(call(func, untyped, out, name="call_tir_inplace", inplace_indices=[0, -1])) == []


def test_a_pure_call_stores_to_results_alone() -> None:
    func = prim_func((i,), (i,), (i,))
    handles = func.params
    place = (tir.IntImm(0),)

    def storing(*at: int) -> tir.PrimFunc:
        stores = [
            tir.BufferStore(func.buffer_map[handles[k]], place, tir.FloatImm(1.0)) for k in at
        ]
        looped = tir.For(tir.Var("i"), tir.IntImm(0), i, "serial", tir.SeqStmt(tuple(stores)))
        return replace(func, body=looped)

    x = tensor((n,))
    assert codes(call(storing(2), (x, x), x)) == []
    assert codes(call(storing(1, 2), (x, x), x)) == [("OBL-untouched-store", "warning")]
    inplace = {"name": "call_tir_inplace", "inplace_indices": [1]}
    two = replace(storing(1), params=handles[:2])
    assert codes(call(two, (x, x), x, **inplace)) == []  # type: ignore[arg-type]
    two = replace(storing(0, 1), params=handles[:2])
    assert codes(call(two, (x, x), x, **inplace)) == [  # type: ignore[arg-type]
        ("OBL-untouched-store", "warning")
    ]


def test_packed_calls_have_the_declared_result() -> None:
    extern = variable(ast.FuncStructInfo(None, ast.ObjectStructInfo(), False, "default"), "f")
    x = tensor((n,))
    assert str(derive("call_pure_packed", extern, x, types=(x,))) == "Tensor((n,), float32)"
    assert codes(derive("call_pure_packed", extern, x)) == [("OBL-stated-result", "error")]
    two = derive("call_builtin_with_ctx", extern, (x,), types=(x, shape((n,))))
    assert str(two) == "Tuple(Tensor((n,), float32), Shape((n,)))"
    assert str(derive("call_dps_packed", extern, (x,), types=(x,))) == "Tensor((n,), float32)"
    assert str(derive("invoke_closure", variable(ast.ObjectStructInfo()), (x,), types=(x,))) == (
        "Tensor((n,), float32)"
    )
    assert str(derive("make_closure", variable(ast.ObjectStructInfo()), (x,))) == "Object"
    in_place = derive("call_inplace_packed", extern, x, types=(x,), inplace_indices=[0])
    assert codes(in_place) == []
    for wrong, code in [
        (tensor((n,), "float16"), "OBL-reuse-dtype"),
        (tensor((n, 1)), "OBL-reuse-rank"),
        (tensor((plus(n, 1),)), "OBL-reuse-shape"),
    ]:
        in_place = derive("call_inplace_packed", extern, x, types=(wrong,), inplace_indices=[0])
        assert (code, "error") in codes(in_place)


def test_purity() -> None:
    pure = {"call_tir": True, "print": False, "call_pure_packed": True, "invoke_closure": False}
    pure |= {"add": True, "vm.kill_object": False, "assert_op": False, "call_tir_inplace": True}
    for name, expected in pure.items():
        operator = lookup(f"relax.{name}")
        assert operator is not None and operator.pure is expected, name


def test_arguments_become_a_tuple_literal() -> None:
    operator = lookup("relax.call_tir")
    assert operator is not None

    def normal(args: ast.Expr) -> ast.Expr | None:
        found = operator.normalize(ast.Call(ast.op("relax.call_tir"), (F, args)))
        return None if found is None else found.args[1]

    x = variable(tensor((n,)))
    assert normal(ast.Tuple((x,))) is None
    single = normal(x)
    assert isinstance(single, ast.Tuple) and single.fields == (x,)
    pair = variable(ast.TupleStructInfo((tensor((n,)), tensor((m,)))))
    apart = normal(pair)
    assert isinstance(apart, ast.Tuple)
    assert [f.index for f in apart.fields if isinstance(f, ast.TupleGetItem)] == [0, 1]
    assert normal(ast.Var("t")) is None
    add = lookup("relax.add")
    assert add is not None and add.normalize(ast.Call(ast.op("relax.add"), (x, x))) is None


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("3", "3"),
        ('"a"', "'a'"),
        ("True", "True"),
        ("None", ""),
        ("x", ""),
        ("[x, x]", ""),
        ("[]", ""),
    ],
)
def test_a_positional_rest_by_its_keyword(given: str, found: str) -> None:
    """A list of expressions, one, or none; a plain value is none of these."""
    text = f"""
@R.function(pure=False)
def main(c: R.Prim("bool"), x: R.Prim("int64")):
    y = R.assert_op(c, format="{{}}", format_args={given})
    return y
"""
    words = f"assert_op: format_args is {found}, expected a list or an expression"
    said = [(d.code, d.message) for d in check_text(text).diagnostics]
    assert said == ([("D14-argument", words)] if found else [])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("o", "repeats is Object, expected an integer literal"),
        ("R.str('a')", "repeats is an attribute, but is given as R.str(…): write integers instead"),
        (
            "R.null_value()",
            "repeats is an attribute, but is given as R.null_value(…): write integers instead",
        ),
        ("None", "repeats is None, which is not a value"),
    ],
)
def test_a_list_of_integers_is_an_attribute(given: str, said: str) -> None:
    text = f'@R.function\ndef f(x: R.Tensor((2,), "float32"), o: R.Object):\n    y = R.tile(x, {given})\n    return y\n'
    assert [d.message for d in check_text(text).diagnostics] == [f"tile: {said}"]
