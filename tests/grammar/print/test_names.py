"""Variables that share a name are renamed apart exactly where one would hide the other."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import FLOAT32, INT32
from rlx.grammar.print.formatting import format_text
from rlx.grammar.print.printer import print_function

X, Y, Z = ast.Var("x"), ast.Var("x"), ast.Var("x")


def exp(value: ast.Expr) -> ast.Call:
    return ast.Call(ast.op("relax.exp"), (value,))


def function(*bindings: ast.Binding, result: ast.Expr, params: tuple[ast.Var, ...] = (X,)) -> str:
    body = ast.SeqExpr((ast.BindingBlock(bindings),), result)
    return print_function(ast.Function(params, body))


def body(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()[2:]]


def test_a_name_that_is_not_needed_any_more_may_be_taken() -> None:
    shown = function(ast.VarBinding(Y, exp(X)), ast.VarBinding(Z, exp(Y)), result=Z)
    assert body(shown) == ["x = R.exp(x)", "x = R.exp(x)", "return x"]


def test_a_name_that_is_still_needed_may_not() -> None:
    shown = function(ast.VarBinding(Y, exp(X)), ast.VarBinding(Z, exp(X)), result=Y)
    assert body(shown) == ["x_1 = R.exp(x)", "x = R.exp(x)", "return x_1"]


def test_an_inner_scope_may_hide_what_only_the_outer_one_needs() -> None:
    inner = ast.Function((Y,), ast.SeqExpr((), Y))
    name = ast.Var("f")
    shown = function(ast.VarBinding(name, inner), result=ast.Tuple((X, name)))
    assert body(shown)[1] == "def f(x):"


def test_an_inner_scope_may_not_hide_what_it_needs_itself() -> None:
    inner = ast.Function((Y,), ast.SeqExpr((), ast.Tuple((X, Y))))
    name = ast.Var("f")
    shown = function(ast.VarBinding(name, inner), result=name)
    assert body(shown)[1:3] == ["def f(x_1):", "return (x, x_1)"]


def test_what_a_dataflow_block_puts_out_has_a_name_of_its_own() -> None:
    local = ast.DataflowVar("x")
    block = ast.DataflowBlock((ast.VarBinding(local, exp(X)), ast.VarBinding(Y, exp(local))))
    shown = print_function(ast.Function((X,), ast.SeqExpr((block,), Y)))
    assert body(shown)[1:] == ["x = R.exp(x)", "x_1 = R.exp(x)", "R.output(x_1)", "return x_1"]


def test_a_free_variable_is_never_caught() -> None:
    outside = ast.Var("x")
    shown = print_function(ast.Function((X,), ast.SeqExpr((), ast.Tuple((X, outside)))))
    assert body(shown) == ["return (x_1, x)"]


def test_a_shape_variable_makes_way_for_a_tensor() -> None:
    n = tir.Var("x")
    info = ast.TensorStructInfo(ast.ShapeExpr((n,)), FLOAT32, 1)
    made = ast.Function(
        (ast.Var("x", info),), ast.SeqExpr((), ast.ShapeExpr((n,))), shape_vars=(n,)
    )
    assert print_function(made, dialect="0.16").splitlines()[1:] == [
        'def main(x: R.Tensor(("x_1",), dtype="float32")):',
        "    x_1 = T.int64()",
        "    return R.shape([x_1])",
    ]


def test_a_dimension_and_the_scalar_of_that_name_stay_together() -> None:
    n = tir.Var("n")
    scalar = ast.Var("n", ast.PrimStructInfo(n.dtype, n), shape_var=n)
    tensor = ast.Var("x", ast.TensorStructInfo(ast.ShapeExpr((n,)), FLOAT32, 1))
    made = ast.Function((scalar, tensor), ast.SeqExpr((), tensor), shape_vars=(n,))
    assert "def main(n: T.int64, x: R.Tensor((n,), " in print_function(made)


def test_names_that_are_no_names_are_mended() -> None:
    odd = [ast.Var(name) for name in ("for", "a.b", "", "1", "R", "cls", "_")]
    shown = print_function(ast.Function(tuple(odd), ast.SeqExpr((), ast.Tuple(tuple(odd)))))
    header = shown.splitlines()[1]
    assert header == "def main(v_for, a_b, v, v_1, v_R, v_cls, v_2):"


def test_loops_one_after_the_other_may_share_their_variable() -> None:
    def loop(var: tir.Var) -> tir.For:
        four = tir.IntImm(4, INT32)
        return tir.For(var, tir.IntImm(0, INT32), four, "serial", tir.Evaluate(var))

    i, j = tir.Var("i", INT32), tir.Var("i", INT32)
    made = tir.PrimFunc((), tir.SeqStmt((loop(i), loop(j))), None, {}, {})
    assert print_function(made).count("for i in range(4):") == 2


def test_a_loop_inside_another_may_hide_it_only_if_it_is_not_needed() -> None:
    i, j = tir.Var("i", INT32), tir.Var("i", INT32)
    four, zero = tir.IntImm(4, INT32), tir.IntImm(0, INT32)
    inner = tir.For(j, zero, four, "serial", tir.Evaluate(tir.Add(i, j)))
    made = tir.PrimFunc((), tir.For(i, zero, four, "serial", inner), None, {}, {})
    assert "for i, i_1 in T.grid(4, 4):" in print_function(made)


@pytest.mark.parametrize(
    "text",
    [
        "@R.function\ndef main(x: R.Tensor((n,), dtype='float32')):\n    y = R.add(y, x)\n    return y\n",
        "@R.function\ndef main(x: R.Object):\n    z = y\n    y = x\n    return (y, z)\n",
        (
            "@R.function\ndef main(c: R.Tensor((), dtype='bool')):\n    if c:\n        y = c\n        z = y\n"
            "    else:\n        z = c\n    return (y, z)\n"
        ),
        (
            "@T.prim_func\ndef main(b: T.Buffer((8,), 'int32')):\n    for i in range(8):\n"
            "        b[i] = i\n    b[i] = i\n"
        ),
        (
            "@T.prim_func\ndef main(b: T.Buffer((8,), 'int32')):\n    b[0] = c[0]\n"
            "    c = T.alloc_buffer((8,), 'int32')\n    c[0] = 1\n"
        ),
    ],
)
def test_a_name_used_before_it_is_bound_or_behind_its_scope_stays(text: str) -> None:
    """Formatting renames nothing in a program with such a mistake: the mistake is the same then."""
    shown = format_text(text)
    assert shown.text is not None
    assert "_1" not in shown.text
    codes = [[d.code for d in check_text(each).diagnostics] for each in (text, shown.text)]
    assert codes[0] == codes[1] != []


@pytest.mark.parametrize(
    ("name", "shown"),
    [("for", "v_for"), ("a.b", "a_b"), ("", "v"), ("1", "v_1"), ("R", "v_R"), ("_", "v")],
)
def test_one_name_that_is_none_is_mended(name: str, shown: str) -> None:
    """No other name has to change."""
    odd = ast.Var(name)
    assert print_function(ast.Function((odd, Y), ast.SeqExpr((), odd))).splitlines()[1:] == [
        f"def main({shown}, x):",
        f"    return {shown}",
    ]


@pytest.mark.parametrize("where", ["min", "extent", "step", "nowhere"])
def test_a_name_is_free_where_no_limit_of_a_loop_needs_it(where: str) -> None:
    """A loop variable `i` with another `i` in its body, around a loop that needs the outer one or does not."""
    outer, inner, k = (tir.Var(name, INT32) for name in ("i", "i", "k"))
    limits = {"min": tir.IntImm(0, INT32), "extent": tir.IntImm(8, INT32)}
    used = {**limits, where: outer} if where != "nowhere" else limits
    innermost = tir.For(
        k, used["min"], used["extent"], "serial", tir.Evaluate(inner), step=used.get("step")
    )
    body = tir.SeqStmt((tir.LetStmt(inner, tir.IntImm(1, INT32)), innermost))
    loop = tir.For(outer, limits["min"], limits["extent"], "serial", body)
    shown = print_function(tir.PrimFunc((), loop, None, {}, {}))
    assert ("i_1" in shown) is (where != "nowhere")
