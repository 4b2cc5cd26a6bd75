"""Each criterion of normal form: what breaks it, and that normalising mends it."""

from __future__ import annotations

import pytest

from rlx.checker.normal_form import normal_form
from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.parser import parse
from rlx.spec import rules

ONE = ast.Constant(ast.Literal(1, dtype("int32"), ()))
X = ast.Var("x")
EXP = ast.op("relax.exp")


def _module(body: ast.Expr) -> ast.IRModule:
    return ast.IRModule({ast.GlobalVar("main"): ast.Function((X,), body)})


def _call(inner: ast.Expr) -> ast.Call:
    return ast.Call(EXP, (inner,))


def _seq(*bindings: ast.Binding, body: ast.Expr = X) -> ast.SeqExpr:
    return ast.SeqExpr((ast.BindingBlock(bindings),) if bindings else (), body)


def _within(value: ast.Expr, span: Span | None) -> ast.SeqExpr:
    return _seq(ast.VarBinding(ast.Var("y"), value, value_span=span))


def _bind(value: ast.Expr) -> ast.VarBinding:
    return ast.VarBinding(ast.Var("y"), value)


INFO = ast.TensorStructInfo(ast.ShapeExpr((tir.IntImm(4),)), dtype("int8"), 1)
BLOCK = ast.BindingBlock((_bind(ONE),))
PAIR = ast.Var("p", ast.TupleStructInfo((ast.TensorStructInfo(), ast.TensorStructInfo())))

CASES: dict[str, ast.IRModule] = {
    "NF1-nested": _module(_seq(_bind(_call(_call(X))))),
    "NF1-nested in a tuple": _module(_seq(_bind(ast.Tuple((_call(X),))))),
    "NF1-nested in an attribute": _module(
        _seq(_bind(ast.Call(EXP, (X,), attrs={"like": _call(X)})))
    ),
    "NF1-nested in a cast": _module(
        _seq(ast.MatchCast(ast.Var("z"), _call(X), ast.ObjectStructInfo()))
    ),
    "NF1-nested in a condition": _module(_seq(_bind(ast.If(_call(X), _seq(), _seq())))),
    "NF2-place": _module(_seq(_bind(_seq(_bind(ONE))))),
    "NF2-place of an operand": _module(_seq(_bind(_call(_seq())))),
    "NF3-body": _module(X),
    "NF3-body of a branch": _module(_seq(_bind(ast.If(X, ONE, _seq())))),
    "NF3-result": _module(_seq(body=_call(X))),
    "NF4-empty": _module(ast.SeqExpr((ast.BindingBlock(()),), X)),
    "NF4-neighbours": _module(
        ast.SeqExpr((BLOCK, ast.BindingBlock((ast.VarBinding(ast.Var("z"), ONE),))), X)
    ),
    "NF4-empty between two that are not": _module(
        ast.SeqExpr(
            (
                BLOCK,
                ast.DataflowBlock(()),
                ast.BindingBlock((ast.VarBinding(ast.Var("z"), ONE),)),
            ),
            X,
        )
    ),
    "NF5-form": _module(
        _seq(
            ast.VarBinding(PAIR, ONE),
            _bind(
                ast.Call(ast.op("relax.call_tir"), (ast.ExternFunc("f"), PAIR), sinfo_args=(INFO,))
            ),
        )
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_not_normal_is_named_and_mended(name: str) -> None:
    module = CASES[name]
    assert {d.code for d in normal_form(module)} == {name.split()[0]}
    assert normal_form(normalize(module)) == []


def test_every_premise_has_a_module() -> None:
    premises = {c for r in rules().values() if r.file == "normal_form.md" for c in r.premises}
    assert premises == {name.split()[0] for name in CASES}


NORMAL = (
    "@R.function\ndef main(x: R.Tensor((4,), 'int8'), c: R.Tensor((), 'bool')):\n"
    "    with R.dataflow():\n        a = R.exp(x)\n        b = R.concat((a, x))\n        R.output(b)\n"
    "    t = (b, (x, x))\n    i = t[0]\n"
    "    @R.function\n    def f(y: R.Tensor):\n        return y\n"
    "    if c:\n        r = f(i)\n    else:\n        r = x\n    return r\n"
)


def test_normal_programs_stay_the_same_objects() -> None:
    (module,) = parse(NORMAL.replace("r = f(i)", "r = i")).modules
    assert normal_form(module) == []
    assert normalize(module) is module


def test_a_branch_may_end_in_a_call() -> None:
    (module,) = parse(NORMAL).modules
    made = normalize(module)
    assert normal_form(made) == []
    assert structural_equal(normalize(made), made)


def test_order_of_evaluation_is_kept() -> None:
    text = (
        "@R.function(pure=False)\ndef main(f: R.Callable, g: R.Callable, h: R.Callable, x: R.Any):\n"
        "    y = R.tuple(f(g(x), h(x)), h(g(x)))\n    return y"
    )
    (module,) = parse(text).modules
    (made,) = normalize(module).functions.values()
    assert isinstance(made, ast.Function) and isinstance(made.body, ast.SeqExpr)
    order = [
        b.value.op.name_hint
        for b in made.body.blocks[0].bindings
        if isinstance(b, ast.VarBinding)
        and isinstance(b.value, ast.Call)
        and isinstance(b.value.op, ast.Var)
    ]
    assert order == ["g", "h", "f", "g", "h"]


def test_new_names_do_not_collide() -> None:
    text = "@R.function\ndef main(gv: R.Any, gv1: R.Any):\n    y = R.exp(R.exp(gv))\n    return R.exp(y)"
    (module,) = parse(text).modules
    (made,) = normalize(module).functions.values()
    assert isinstance(made, ast.Function) and isinstance(made.body, ast.SeqExpr)
    names = [b.var.name_hint for b in made.body.blocks[0].bindings if isinstance(b, ast.VarBinding)]
    assert len({*names, "gv", "gv1"}) == len(names) + 2


def test_long_chains() -> None:
    terms = " + ".join(["x"] * 20_000)
    (module,) = parse(f"@R.function\ndef main(x: R.Tensor):\n    y = {terms}\n    return y").modules
    made = normalize(module)
    assert normal_form(made) == []
    (function,) = made.functions.values()
    assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
    assert len(function.body.blocks[0].bindings) == 19_999


@pytest.mark.parametrize(("inner", "outer"), [((4, 9), (0, 20)), (None, (0, 20)), (None, None)])
@pytest.mark.parametrize(
    "name",
    [
        "an operand",
        "a body",
        "a result",
        "a sequence",
        "a call",
        "a condition",
        "a branch",
        "a block",
    ],
)
def test_what_is_not_normal_is_shown_where_it_stands(
    name: str, inner: Span | None, outer: Span | None
) -> None:
    """A program without source locations is shown with the code around the mistake."""
    nested = ast.Call(EXP, (X,), span=inner)
    tensors = ast.Call(ast.op("relax.call_tir"), (ast.GlobalVar("f"), PAIR), span=inner)
    bodies: dict[str, ast.Expr] = {
        "an operand": _within(_call(nested), outer),
        "a body": nested,
        "a result": ast.SeqExpr((), nested, span=outer, body_span=inner),
        "a sequence": _within(ast.SeqExpr((BLOCK,), X, span=inner), outer),
        "a call": _within(tensors, outer),
        "a condition": _within(ast.If(_call(X), _seq(), _seq(), cond_span=inner), outer),
        "a branch": _within(ast.If(X, nested, _seq(), span=outer), outer),
        "a block": ast.SeqExpr((ast.BindingBlock((), inner),), X, span=outer),
    }
    body = bodies[name]
    module = ast.IRModule({ast.GlobalVar("main"): ast.Function((X,), body, span=outer)})
    (found,) = normal_form(module)
    assert found.span == (inner or outer)
