"""Rules of well-formedness: programs that they let through, and ways to break them that their examples in `spec/` do not show."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.checker.well_formed import well_formed
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import FLOAT32, INT64, dtype
from rlx.grammar.nodes.tir import IntImm
from rlx.grammar.read.parser import parse

X = 'x: R.Tensor((n, 4), "float32")'
DEVICES = (
    "@I.ir_module\nclass M:\n"
    '    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice({"kind": "cuda"}, 1, "global")]})\n'
)


def function(signature: str, body: str, result: str = "", head: str = "@R.function") -> str:
    lines = "\n    ".join(body.splitlines())
    return f"{head}\ndef main({signature}){result}:\n    {lines}\n"


def module(*functions: str, head: str = "@I.ir_module\nclass M:\n") -> str:
    inside = "\n".join(functions).splitlines()
    return head + "".join(f"    {line}\n" for line in inside)


def codes(text: str) -> list[str]:
    parsed = parse(text)
    assert not parsed.diagnostics, parsed.diagnostics[0].message
    return [d.code for m in parsed.modules for d in well_formed(m, parsed.captured)]


FLOW = "with R.dataflow():\n    a = R.exp(x)\n    b = R.exp(a)\n    R.output(b)\n"
GO = (
    '@R.function\ndef go(x: R.Tensor((n, 4), "float32")) -> R.Tensor((n, 4), "float32"):\n'
    "    y = cls.main(x)\n    return y\n"
)

GOOD = {
    "dataflow": function(X, FLOW + "return b"),
    "branch": function(
        X + ', c: R.Tensor((), "bool")', "if c:\n    y = R.exp(x)\nelse:\n    y = x\nreturn y"
    ),
    "local recursion": function(
        X,
        "@R.function\ndef f(y: R.Any) -> R.Any:\n    z = f(y)\n    return z\nw = f(x)\nreturn w",
    ),
    "outer shape variables": function(
        X,
        'y = R.zeros(R.shape([n + 1, 4]), "float32")\n'
        '@R.function\ndef f(z: R.Tensor((n, k), "float32")) -> R.Tensor((n, k), "float32"):\n'
        "    return z\nreturn y",
    ),
    "cast binds": function(
        "x: R.Any", 'm = T.int64()\ny = R.match_cast(x, R.Tensor((m, m * 2), "int8"))\nreturn y'
    ),
    "signature in any order": function(
        "x: R.Tensor((n * m,)), y: R.Tensor((m, n))", "return x", " -> R.Tensor((n * m,))"
    ),
    "devices": module(
        function('x: R.Tensor((4,), "int8", vdevice="cuda:1")', "return x"), head=DEVICES
    ),
    "scalars": function('p: T.int64, q: R.Prim("bool"), r: R.Prim(value=n)', "return p"),
    "types": function('x: R.Tensor((4,), "float8_e4m3fn"), y: R.Tensor((), "uint2")', "return x"),
    "operator form": function(
        "x: R.Tensor, f: R.Callable",
        "y = R.call_dps_packed('g', (x,), out_sinfo=R.Tensor((4,), 'int8'))\nreturn y",
    ),
    "global symbol": function(X, 'R.func_attr({"global_symbol": "main"})\nreturn x'),
    "forced purity": function(X, 'R.func_attr({"relax.force_pure": True})\nreturn x'),
    "no functions": "@I.ir_module\nclass M:\n    pass\n",
    "cast of the same variable": function(
        "x: R.Any",
        "k = T.int64()\ny = R.match_cast(x, R.Tensor((k,)))\nz = R.match_cast(y, R.Tensor((k,)))\nreturn z",
    ),
    "mutual recursion": module(
        "@R.function\ndef main(x: R.Any) -> R.Any:\n    y = cls.go(x)\n    return y\n",
        "@R.function\ndef go(x: R.Any) -> R.Any:\n    y = cls.main(x)\n    return y\n",
    ),
    "recursion outside of dataflow": module(
        function(
            X,
            "with R.dataflow():\n    a = x\n    R.output(a)\ny = cls.go(a)\nreturn y",
            " -> R.Any",
        ),
        GO,
    ),
    "a private one beside": module(
        function(X, "return x"),
        "@R.function(private=True)\ndef help(x: R.Any):\n    return x\n",
    ),
    "rank repeated": function(
        'x: R.Tensor((4,), "int8", ndim=1), s: R.Shape([4], ndim=1)', "return x"
    ),
    "shape by name": function(
        "s: R.Shape(ndim=1), x: R.Tuple(R.Tensor(s, ndim=1))",
        "return x",
        " -> R.Tuple(R.Tensor(s, ndim=1))",
    ),
    "void": function('x: R.Tensor((4,), "void")', "return x"),
    "impure": function(X, "return x", head="@R.function(pure=False)"),
    "a name of each branch": function(
        X + ', c: R.Tensor((), "bool")',
        "if c:\n    a = R.exp(x)\n    y = a\nelse:\n    a = R.sin(x)\n    y = a\nreturn y",
    ),
}

BAD = {
    "WF01-escape": function(X, FLOW + "return a"),
    "WF14-variable in a tuple": function("x: R.Any", "y: R.Tuple(R.Tensor(q)) = x\nreturn y"),
    "WF14-variable in a function type": function(
        "x: R.Any", "y: R.Callable((R.Tensor(q),), R.Any) = x\nreturn y"
    ),
    "WF14-variable of the body": function(
        "x: R.Tensor(ndim=1)", "s = R.shape_of(x)\nreturn x", " -> R.Tensor(s, ndim=1)"
    ),
    "WF14-unbound by its own cast": function(
        "x: R.Any", "y = R.match_cast(x, R.Tensor((k * 2,)))\nreturn y"
    ),
    "WF01-escape into a branch": function(
        X + ', c: R.Tensor((), "bool")',
        FLOW + "if c:\n    y = a\nelse:\n    y = x\nreturn y",
    ),
    "WF07-recursion through local functions": module(
        function(
            X,
            "@R.function\ndef f(z: R.Any) -> R.Any:\n    w = cls.main(z)\n    return w\n"
            "@R.function\ndef g(z: R.Any) -> R.Any:\n    w = f(z)\n    return w\n"
            "with R.dataflow():\n    y = g(x)\n    R.output(y)\nreturn y",
            " -> R.Any",
        )
    ),
    "WF05-unbound before the cast": function(
        "x: R.Any", "k = T.int64()\ns = R.shape([k])\ny = R.match_cast(x, R.Tensor((k,)))\nreturn s"
    ),
    "WF05-unbound behind the branch": function(
        "x: R.Any, c: R.Tensor((), 'bool')",
        "k = T.int64()\nif c:\n    a = R.match_cast(x, R.Tensor((k,)))\n    y = a\nelse:\n    y = x\n"
        "s = R.shape([k])\nreturn s",
    ),
    "WF06-unbound in a function type": function(
        "g: R.Callable((R.Tensor((k * 2,)),), R.Tensor((k,)))", "return g"
    ),
    "WF08-annotation of one in a circle": module(
        "@R.function\ndef main(x: R.Any):\n    y = cls.go(x)\n    return y\n",
        "@R.function\ndef go(x: R.Any) -> R.Any:\n    y = cls.main(x)\n    return y\n",
    ),
    "WF24-vdevice of none": function('x: R.Tensor((4,), "int8", vdevice="cuda:0")', "return x"),
}


@pytest.mark.parametrize("name", GOOD)
def test_well_formed(name: str) -> None:
    assert codes(GOOD[name]) == []


@pytest.mark.parametrize("name", BAD)
def test_one_mistake_one_report(name: str) -> None:
    assert codes(BAD[name]) == [name.split()[0]]


@pytest.mark.parametrize("code", BAD)
def test_nothing_more_is_said_by_the_whole_check(code: str) -> None:
    """Derivation does not report again what well-formedness reported."""
    found = [d for d in check_text(BAD[code]).diagnostics if d.is_error]
    assert len(found) <= 1, [f"{d.code}: {d.message}" for d in found]


@pytest.mark.parametrize("code", BAD)
def test_the_place_is_inside_of_the_text(code: str) -> None:
    for found in check_text(BAD[code]).diagnostics:
        assert found.span is not None and 0 <= found.span[0] <= found.span[1] <= len(BAD[code])


def _module(params: tuple[ast.Var, ...], body: ast.Expr) -> ast.IRModule:
    made = ast.Function(params, body, attrs={"global_symbol": "main"})
    return ast.IRModule({ast.GlobalVar("main"): made})


def _bind(var: ast.Var, value: ast.Expr) -> ast.BindingBlock:
    return ast.BindingBlock((ast.VarBinding(var, value),))


ONE = ast.Constant(ast.Literal(1, dtype("int32"), ()))


def _built() -> dict[str, ast.IRModule]:
    x, flow, y = ast.Var("x"), ast.DataflowVar("flow"), ast.Var("y")
    both = ast.FuncStructInfo((), ast.ObjectStructInfo(), True, "default")
    wrong = ast.TensorStructInfo(ast.Constant(ast.Literal(4, INT64, ())), FLOAT32, 1)
    given = ast.Call(
        ast.op("relax.call_tir"), (ast.ExternFunc("f"), y), sinfo_args=(ast.ObjectStructInfo(),)
    )
    return {
        "WF01-bind": _module((), ast.SeqExpr((_bind(flow, ONE),), ONE)),
        "WF02-twice": _module((x,), ast.SeqExpr((_bind(y, x), _bind(y, ONE)), y)),
        "WF02-self": _module((), ast.SeqExpr((_bind(y, ast.Tuple((y,))),), y)),
        "WF14-expression": _module((ast.Var("t", wrong),), ONE),
        "WF17-both": _module((ast.Var("f", both),), ONE),
        "WF18-lanes": _module(
            (ast.Var("p", ast.PrimStructInfo(dtype("int32"), IntImm(1, dtype("int32")))),),
            ast.PrimValue(tir.Cast(dtype("int32x4"), tir.IntImm(1))),
        ),
        "WF05-unbound": _module((), ast.PrimValue(tir.Add(tir.Var("k"), tir.IntImm(1)))),
        "WF23-form": _module((), ast.SeqExpr((_bind(y, ONE), _bind(ast.Var("z"), given)), y)),
    }


@pytest.mark.parametrize("code", list(_built()))
def test_programs_that_no_text_spells(code: str) -> None:
    assert [d.code for d in well_formed(_built()[code])] == [code]


def test_a_similar_name_is_suggested() -> None:
    (found,) = (
        d
        for d in check_text(
            function(X, "hidden = R.exp(x)\ny = R.exp(hiden)\nreturn y")
        ).diagnostics
    )
    assert found.help == "did you mean 'hidden'?"


def test_definition_sites_are_shown() -> None:
    (found,) = check_text(BAD["WF01-escape"]).diagnostics
    (label,) = found.related
    assert BAD["WF01-escape"][slice(*label.span)] == "a"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (function(X, "y = R.exp(z)\nw = R.add(z, z)\nreturn z"), "WF02-undefined"),
        (function(X, "y = R.add(y, y)\nreturn y"), "WF02-self"),
        (module(function(X, "y = cls.other(x)\nw = cls.other(y)\nreturn w")), "WF02-global"),
        (function(X, "y = R.add(z, z)\nz = R.exp(x)\nreturn y"), "WF03-before"),
        (
            function("x: R.Tensor", "s = R.shape([n])\nt = R.shape([n, n])\nreturn t"),
            "WF05-unbound",
        ),
    ],
)
def test_a_mistake_used_often_is_one_mistake(text: str, code: str) -> None:
    assert [d.code for d in check_text(text).errors] == [code]


def test_scopes_hold_for_trees_that_no_text_made() -> None:
    """A parser makes another variable of a name that is out of scope; a pass may use the same one."""
    x, a, z = ast.Var("x"), ast.Var("a"), ast.Var("z")
    branch = ast.SeqExpr((ast.BindingBlock((ast.VarBinding(a, x),)),), a)
    inner = ast.SeqExpr((ast.BindingBlock((ast.VarBinding(ast.Var("b"), x),)),), x)
    chosen = ast.VarBinding(ast.Var("y"), ast.If(x, branch, inner))
    body = ast.SeqExpr((ast.BindingBlock((chosen, ast.VarBinding(z, a))),), z)
    function = ast.Function((x,), body, attrs={"global_symbol": "main"})
    found = well_formed(ast.IRModule({ast.GlobalVar("main"): function}))
    assert [d.code for d in found] == ["WF03-scope"]


POSSIBLE = """\
@R.function
def main(x: R.Any, f: R.Callable((R.Any,), R.Any)) -> R.Any:
    @R.function
    def local(a: R.Any) -> R.Any:
        return a
    with R.dataflow():
        y = {callee}(x)
        R.output(y)
    return y

@R.function
def give(x: R.Any) -> R.Any:
    t = ({given}, x)
    return t
"""


@pytest.mark.parametrize(
    ("callee", "given", "warned"),
    [
        ("f", "cls.main", True),
        ("f", "cls.give", False),
        ("f", "x", False),
        ("local", "cls.main", False),
    ],
)
def test_an_unknown_function_may_be_one_that_is_given_away(
    callee: str, given: str, warned: bool
) -> None:
    """A function value leads to a global function only if that is used as a value somewhere."""
    text = module(POSSIBLE.format(callee=callee, given=given))
    assert codes(text) == ["WF07-possible"] * warned


def test_a_recursion_without_annotation_is_told_at_the_name() -> None:
    text = module(function(X, "y = cls.main(x)\nreturn y"))
    (found,) = [d for d in check_text(text).diagnostics if d.code == "WF08-annotation"]
    assert found.span is not None and text[slice(*found.span)] == "main"


@pytest.mark.parametrize(
    ("dimension", "kind"),
    [
        ("n == 2", "bool"),
        ("n < 2 and n > 0", "bool"),
        ("k + 1", "int32"),
        ('T.Cast("int32", n)', "int32"),
        ("n * 1.5", "float64"),
        ("n", None),
        ("n + k", None),
        ("T.min(k, n)", None),
        ('T.Cast("int64", k)', None),
        ("T.Select(n > 2, n, 1)", None),
    ],
)
def test_every_dimension_is_an_int64(dimension: str, kind: str | None) -> None:
    text = function("k: T.int32, x: R.Tensor((n,))", f"s = R.shape([{dimension}, 2])\nreturn s")
    found = [d for d in check_text(text, "<test>").diagnostics if d.is_error]
    assert [d.code for d in found] == (["WF05-dtype"] if kind else [])
    assert all(f"is of type {kind}" in d.message for d in found)
