"""ExprVisitor: what is visited, in which order, with which scope."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rlx
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.struct_infos import OBJECT

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")) -> R.Tensor:
        n = T.int64()
        with R.dataflow():
            lv0 = R.add(x, x)
            lv1: R.Tensor((n, 4), "float32") = R.multiply(lv0, x)
            gv0 = R.match_cast(lv1, R.Tensor((n, 4), "float32"))
            R.output(gv0)
        @R.function
        def inner(z: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            w = R.add(z, z)
            return w
        if c:
            a = R.nn.relu(gv0)
            r = a
        else:
            r = R.concat((gv0, x), axis=0)
        return r
"""


class CountVarDef(rlx.ExprVisitor):
    """The document's program: how many variables are bound."""

    def __init__(self) -> None:
        self.count = self.dataflow = 0

    def visit_var_def(self, var: ast.Var) -> None:
        self.count += 1
        super().visit_var_def(var)

    def visit_dataflow_var_def(self, var: ast.DataflowVar) -> None:
        self.dataflow += 1


def test_counting_definitions() -> None:
    counter = CountVarDef()
    counter.visit(rlx.parse(PROGRAM))
    names = ["x", "c", "lv0", "lv1", "gv0", "inner", "z", "w", "a", "r"]
    assert (counter.count, counter.dataflow) == (len(names), 2)
    (main,) = rlx.parse(PROGRAM).functions.values()
    again = CountVarDef()
    assert isinstance(main, ast.Function)
    again.visit_expr(main)
    assert again.count == counter.count


class Trace(rlx.ExprVisitor):
    def __init__(self) -> None:
        self.calls: list[str] = []
        self.scopes: list[set[str]] = []
        self.blocks: list[str] = []

    def visit_call(self, call: ast.Call) -> None:
        super().visit_call(call)
        self.calls.append(call.op_name)
        self.scopes.append({v.name_hint for v in self.scope})
        self.blocks.append(type(self.block).__name__)


def test_order_and_scope() -> None:
    trace = Trace()
    trace.visit(rlx.parse(PROGRAM))
    assert trace.calls == [
        *("relax.add", "relax.multiply", "relax.add", "relax.nn.relu", "relax.concat")
    ]
    assert trace.scopes == [
        {"x", "c"},
        {"x", "c", "lv0"},
        {"x", "c", "gv0", "inner", "z"},
        {"x", "c", "gv0", "inner"},
        {"x", "c", "gv0", "inner"},
    ]
    assert trace.blocks == ["DataflowBlock"] * 2 + ["BindingBlock"] * 3
    assert not trace.scope


def _recording(seen: list[tuple[str, object]], *names: str) -> rlx.ExprVisitor:
    """A visitor whose methods of these names note their nodes."""

    def recorder(name: str) -> Callable[[rlx.ExprVisitor, object], None]:
        def visit(self: rlx.ExprVisitor, node: object) -> None:
            seen.append((name, node))
            getattr(rlx.ExprVisitor, name)(self, node)

        return visit

    made = type("Recording", (rlx.ExprVisitor,), {name: recorder(name) for name in names})()
    assert isinstance(made, rlx.ExprVisitor)
    return made


def test_one_method_sees_the_same_alone_and_among_all_others() -> None:
    """Parts that no method looks at are not visited; the methods that exist see the same."""
    module = rlx.parse(PROGRAM)
    names = [name for name in dir(rlx.ExprVisitor) if name.startswith("visit_")]
    every: list[tuple[str, object]] = []
    _recording(every, *names).visit(module)
    for name in names:
        alone: list[tuple[str, object]] = []
        _recording(alone, name).visit(module)
        assert alone == [each for each in every if each[0] == name]


def test_a_method_that_is_never_called_is_an_error() -> None:
    with pytest.raises(TypeError, match="did you mean visit_call"):

        class Wrong(rlx.ExprVisitor):
            def visit_calls(self, call: ast.Call) -> None:
                pass


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("visit_generic_const_", "visit_constant"),
        ("visit_shape_expr_", "visit_shape_expr"),
        ("visit_int_imm_", "visit_prim_expr"),
        ("visit_floor_div_", "visit_prim_expr"),
        ("visit_expr_fallback_", "visit_expr"),
        ("visit_type", "visit_struct_info"),
        ("visit_expr_post_order", r"write super\(\).visit_call\(call\)"),
    ],
)
@pytest.mark.parametrize("base", [rlx.ExprVisitor, rlx.ExprMutator])
def test_the_methods_of_tvm_are_answered_with_ours(base: type, name: str, meant: str) -> None:
    with pytest.raises(TypeError, match=meant):
        type("Wrong", (base,), {name: lambda self, node: None})
    type("Right", (base,), {"with_type": lambda self, var: var})  # no visiting method


def test_size_is_no_limit() -> None:
    bindings = "".join(f"        a{i + 1} = R.add(a{i}, a{i})\n" for i in range(5_000))
    text = (
        '@R.function\ndef main(a0: R.Tensor((4,), "float32")):\n'
        + bindings.replace("        ", "    ")
        + "    return a5000\n"
    )
    counter = CountVarDef()
    counter.visit(rlx.parse(text))
    assert counter.count == 5_001


def test_a_deep_function_alone() -> None:
    """Branches inside of branches: a function that is given without its module has room for them, too."""
    x, c = ast.Var("x", OBJECT), ast.Var("c", OBJECT)
    inner: ast.Expr = x
    for _ in range(3_000):
        inner = ast.SeqExpr((), ast.If(c, ast.SeqExpr((), inner), x))
    seen: list[ast.Expr] = []

    class Counting(rlx.ExprVisitor):
        def visit_if(self, expr: ast.If) -> None:
            seen.append(expr)
            super().visit_if(expr)

    Counting().visit_expr(ast.Function((x, c), inner, None, None, {}, ()))
    assert len(seen) == 3_000
