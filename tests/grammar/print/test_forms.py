"""Single forms: precedence, literals, the short form of messages, and sizes that are no problem."""

from __future__ import annotations

import pytest

from rlx.grammar.dialects import DIALECTS, dialect
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT32, INT64, VOID, dtype
from rlx.grammar.nodes.node import Node
from rlx.grammar.print.printer import (
    print_expr,
    print_function,
    print_module,
    print_prim_expr,
    show,
)
from rlx.grammar.read.parser import parse

N, M = tir.Var("n"), tir.Var("m")
ONE, TWO = tir.IntImm(1), tir.IntImm(2)
LESS = tir.LT(N, M)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (tir.Sub(N, tir.Sub(M, ONE)), "n - (m - 1)"),
        (tir.Sub(tir.Sub(N, M), ONE), "n - m - 1"),
        (tir.Mul(tir.Add(N, M), TWO), "(n + m) * 2"),
        (tir.FloorMod(tir.FloorDiv(N, M), TWO), "n // m % 2"),
        (tir.FloorDiv(N, tir.FloorMod(M, TWO)), "n // (m % 2)"),
        (tir.Sub(tir.IntImm(0), N), "0 - n"),
        (tir.Mul(tir.Sub(tir.IntImm(0), tir.Add(N, M)), TWO), "(0 - (n + m)) * 2"),
        (tir.Sub(tir.IntImm(0), ONE), "0 - 1"),
        (tir.Sub(N, tir.IntImm(-1)), "n - -1"),
        (tir.EQ(LESS, tir.GT(N, ONE)), "(n < m) == (n > 1)"),
        (tir.And(tir.Or(LESS, LESS), tir.Not(LESS)), "(n < m or n < m) and not n < m"),
        (tir.EQ(tir.Not(LESS), LESS), "(not n < m) == (n < m)"),
        (tir.Max(tir.Min(N, ONE), M), "T.max(T.min(n, 1), m)"),
        (tir.TruncDiv(tir.Add(N, ONE), TWO), "T.truncdiv(n + 1, 2)"),
        (tir.Select(LESS, N, M), "T.Select(n < m, n, m)"),
        (tir.Cast(INT32, tir.Add(N, ONE)), 'T.Cast("int32", n + 1)'),
        (tir.Add(N, tir.IntImm(1, INT32)), "n + T.int32(1)"),
        (tir.Add(tir.Var("i", INT32), ONE), "i + T.int64(1)"),
        (tir.IntImm(1, BOOL), "T.bool(True)"),
        (tir.FloatImm(float("-inf")), 'T.float32("-inf")'),
        (tir.FloatImm(1e-5), "T.float32(1e-05)"),
        (tir.FloatImm(-0.0), "T.float32(-0.0)"),
        (tir.Call("bitwise_and", (N, tir.Call("shift_left", (M, ONE), INT64)), INT64), "n & m << 1"),
        (tir.Call("bitwise_and", (N, M)), "T.bitwise_and(n, m)"),
        (tir.Call("pow", (tir.Call("pow", (N, M), INT64), TWO), INT64), "(n ** m) ** 2"),
    ],
)  # fmt: skip
def test_parentheses_are_as_few_as_needed(expr: tir.PrimExpr, text: str) -> None:
    assert print_prim_expr(expr) == text


def test_strings_are_escaped_so_that_they_stay_on_a_line() -> None:
    odd = 'a"b\\c\n\r\t\x00\x85\u2028\ud800é'
    assert print_expr(ast.StringImm(odd)) == (r'R.str("a\"b\\c\n\r\t\x00\u0085\u2028\ud800é")')


def tensor(*dims: tir.PrimExpr) -> ast.TensorStructInfo:
    return ast.TensorStructInfo(ast.ShapeExpr(dims), FLOAT32, len(dims))


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (tensor(N, tir.Mul(N, TWO)), "Tensor((n, n * 2), float32)"),
        (tensor(N), "Tensor((n,), float32)"),
        (ast.TensorStructInfo(), "Tensor"),
        (ast.TensorStructInfo(None, FLOAT32, 2), "Tensor(float32, ndim=2)"),
        (
            ast.TensorStructInfo(ast.Var("s"), VOID, -1, ast.VDevice("cuda", 1)),
            "Tensor(s, cuda:1:global)",
        ),
        (ast.ShapeStructInfo((N, M)), "Shape((n, m))"),
        (ast.ShapeStructInfo(None, 2), "Shape(ndim=2)"),
        (ast.ShapeStructInfo(), "Shape"),
        (ast.PrimStructInfo(INT64, tir.Add(N, ONE)), "Prim(int64, n + 1)"),
        (ast.PrimStructInfo(INT64), "Prim(int64)"),
        (ast.ObjectStructInfo(), "Object"),
        (ast.TupleStructInfo((tensor(N), ast.ObjectStructInfo())), "Tuple(Tensor((n,), float32), Object)"),
        (ast.FuncStructInfo((tensor(N),), tensor(N)), "Callable((Tensor((n,), float32)) -> Tensor((n,), float32))"),
        (ast.FuncStructInfo(None, ast.ObjectStructInfo(), False), "Callable(... -> Object, impure)"),
        (ast.Call(ast.op("relax.add"), (ast.Var("x"), ast.Var("y"))), "R.add(x, y)"),
        (ast.Var("x"), "x"),
        (dtype("bfloat16"), "bfloat16"),
    ],
)  # fmt: skip
def test_messages_name_things_shortly(node: Node, text: str) -> None:
    assert show(node) == text


def test_messages_cut_long_sums() -> None:
    total: tir.PrimExpr = N
    for number in range(10_000):
        total = tir.Add(total, tir.IntImm(number))
    whole = print_prim_expr(total)
    assert len(whole) > 60_000
    shown = show(total)
    assert shown.startswith("n + 0 + 1 + 2")
    assert shown.endswith("+ 9999")
    assert len(shown) < 210


def test_long_functions_print() -> None:
    last = param = ast.Var("x")
    bound: list[ast.Binding] = []
    for _ in range(20_000):
        bound.append(ast.VarBinding(var := ast.Var("y"), ast.Call(ast.op("relax.exp"), (last,))))
        last = var
    function = ast.Function((param,), ast.SeqExpr((ast.BindingBlock(tuple(bound)),), last))
    lines = print_function(function).splitlines()
    assert lines[2:4] == ["    y = R.exp(x)", "    y = R.exp(y)"]
    assert len(lines) == 20_003


def test_a_branch_inside_an_expression_is_bound_first() -> None:
    choice = ast.If(ast.Var("c"), ast.Var("x"), ast.Var("y"))
    function = ast.Function((), ast.SeqExpr((), ast.SeqExpr((), choice)))
    assert print_function(function).splitlines()[2:] == [
        "    if c:",
        "        return x",
        "    else:",
        "        return y",
    ]
    cast = ast.MatchCast(ast.Var("z"), choice, ast.ObjectStructInfo())
    block = ast.BindingBlock((cast,))
    lines = print_function(ast.Function((), ast.SeqExpr((block,), ast.Var("z")))).splitlines()
    assert lines[2:6] == ["    if c:", "        gv = x", "    else:", "        gv = y"]
    assert lines[6] == "    z_1 = R.match_cast(gv, R.Any)"


def test_an_unknown_dialect_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"'0\.15': expected one of 0\.16, .*0\.27"):
        print_module(ast.IRModule({}), "0.15")
    assert [dialect(version).version for version in DIALECTS] == list(DIALECTS)


def test_an_empty_module_prints() -> None:
    assert print_module(ast.IRModule({})).endswith("@I.ir_module\nclass Module:\n    pass\n")


def test_a_number_first_in_a_call_of_a_function_is_a_scalar_for_tvm_too() -> None:
    call = ast.Call(
        ast.GlobalVar("f"), (ast.PrimValue(tir.IntImm(4)), ast.PrimValue(tir.IntImm(5)))
    )
    assert print_expr(call) == "cls.f(R.prim_value(4), 5)"
    assert print_expr(ast.Call(ast.op("relax.add"), call.args)) == "R.add(4, 5)"


def test_sizes_of_32_bits_stand_in_parameters_with_literals_of_their_type() -> None:
    text = """\
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

offset = TypeVar("offset")
@I.ir_module
class Module:
    @T.prim_func
    def main(p: T.Buffer(("n", 4), "float32", elem_offset=offset), c: T.Buffer(("n + 1",), "int32"), d: T.Buffer(("2 * m",), "int32"), m: T.int32):
        n = T.int32()
        angle = T.float32()
        angle_1 = T.float32()
        c[0] = T.Let(T.Cast("int32", angle), where={angle: p[0, 0]})
        c[1] = T.Let(T.Cast("int32", angle_1), where={angle_1: p[0, 1]})
"""
    (module,) = parse(text).modules
    assert print_module(module) == text
    (function,) = module.functions.values()
    assert isinstance(function, tir.PrimFunc)
    shapes = [buffer.shape[0] for buffer in function.buffer_map.values()]
    assert [str(tir.type_of(each)) for each in shapes] == ["int32"] * 3
    literals = [e for each in shapes for e in tir.postorder(each) if isinstance(e, tir.IntImm)]
    assert [str(each.dtype) for each in literals] == ["int32"] * 2
