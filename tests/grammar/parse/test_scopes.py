"""Names: the four scopes, shadowing, dataflow outputs, closures, recursion."""

from __future__ import annotations

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.read.parser import parse


def _main(text: str) -> ast.Function:
    parsed = parse(text)
    assert not parsed.diagnostics, [d.message for d in parsed.diagnostics]
    functions = parsed.modules[-1].functions
    function = next(f for v, f in functions.items() if v.name_hint == "main")
    assert isinstance(function, ast.Function)
    return function


def _bindings(function: ast.Function) -> list[ast.VarBinding]:
    assert isinstance(function.body, ast.SeqExpr)
    return [
        b for block in function.body.blocks for b in block.bindings if isinstance(b, ast.VarBinding)
    ]


def _first_arg(binding: ast.VarBinding) -> ast.Expr:
    assert isinstance(binding.value, ast.Call)
    return binding.value.args[0]


def test_shadowing_makes_a_new_variable() -> None:
    main = _main(
        "@R.function\ndef main(x: R.Tensor):\n    x = R.exp(x)\n    y = R.exp(x)\n    return y"
    )
    x, y = _bindings(main)
    assert x.var is not main.params[0]
    assert _first_arg(x) is main.params[0]
    assert _first_arg(y) is x.var


def test_a_branch_is_a_scope() -> None:
    main = _main(
        "@R.function\ndef main(c: R.Tensor((), 'bool'), x: R.Tensor):\n"
        "    if c:\n        x = R.exp(x)\n        y = R.add(x, x)\n    else:\n        y = x\n"
        "    z = R.exp(x)\n    return z"
    )
    z = _bindings(main)[-1]
    assert _first_arg(z) is main.params[1]


def test_dataflow_variables_and_outputs() -> None:
    main = _main(
        "@R.function\ndef main(x: R.Tensor):\n    with R.dataflow():\n"
        "        a = R.exp(x)\n        b = R.exp(a)\n        R.output(b)\n    return b"
    )
    assert isinstance(main.body, ast.SeqExpr)
    (block,) = main.body.blocks
    assert isinstance(block, ast.DataflowBlock)
    a, b = _bindings(main)
    assert type(a.var) is ast.DataflowVar and type(b.var) is ast.Var
    assert main.body.body is b.var


def test_outputs_of_an_inner_block_are_its_own() -> None:
    main = _main(
        "@R.function\ndef main(x: R.Tensor):\n    with R.dataflow():\n        @R.function\n"
        "        def inner(p: R.Tensor):\n            with R.dataflow():\n                q = R.exp(p)\n"
        "                R.output(q)\n            return q\n        q = R.exp(x)\n        r = inner(q)\n"
        "        R.output(r)\n    return r"
    )
    inner, q, r = _bindings(main)
    assert type(inner.var) is ast.DataflowVar and type(q.var) is ast.DataflowVar
    assert type(r.var) is ast.Var


def test_local_recursion_and_capture() -> None:
    main = _main(
        "@R.function\ndef main(x: R.Tensor((n,), 'int8')):\n    @R.function\n"
        "    def go(y: R.Tensor((n,), 'int8')) -> R.Tensor((n,), 'int8'):\n        z = go(x)\n"
        "        return z\n    r = go(x)\n    return r"
    )
    go, r = _bindings(main)
    assert isinstance(go.value, ast.Function)
    assert go.value.shape_vars == ()  # n is the outer function's
    (call,) = (e for e in expressions(go.value) if isinstance(e, ast.Call))
    assert call.op is go.var and call.args[0] is main.params[0]
    assert isinstance(r.value, ast.Call) and r.value.op is go.var


def test_global_names_before_their_definition() -> None:
    main = _main(
        "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor):\n        cls = M\n"
        "        a = cls.later(x)\n        b = M.later(a)\n        c = later(b)\n        return c\n"
        "    @R.function\n    def later(x: R.Tensor):\n        return x\n"
    )
    callees = {b.value.op for b in _bindings(main) if isinstance(b.value, ast.Call)}
    (callee,) = callees
    assert isinstance(callee, ast.GlobalVar) and callee.name_hint == "later"


def test_functions_of_one_module_do_not_share_shape_variables() -> None:
    text = "    @R.function\n    def {}(x: R.Tensor((n,), 'int8')):\n        return x\n"
    parsed = parse(
        "n = TypeVar('n')\n@I.ir_module\nclass M:\n" + text.format("f") + text.format("g")
    )
    f, g = parsed.modules[0].functions.values()
    assert isinstance(f, ast.Function) and isinstance(g, ast.Function)
    assert f.shape_vars[0] is not g.shape_vars[0]
    assert parsed.modules[0].type_vars == ("n",)


def test_comments_above_definitions_are_kept() -> None:
    parsed = parse(
        "# from tvm.script import ir as I\n\n# about the module\n@I.ir_module\nclass M:\n"
        "    # about f\n    # in two lines\n    @R.function\n    def f(x: R.Tensor):\n        # lost\n        return x\n"
    )
    (module,) = parsed.modules
    assert module.comments == ("# about the module",)
    (function,) = module.functions.values()
    assert function.comments == ("# about f", "# in two lines")
