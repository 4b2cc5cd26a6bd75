"""ExprMutator: what does not change is shared, what changes is derived and checked."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings

import rlx
from rlx import generate
from rlx.checker.normalize import normalize
from rlx.generate.near import CODES, near_miss
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.equal import first_difference
from rlx.grammar.nodes.node import replace
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.transform.visitors import rewrite_dataflow

HEAD = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
"""


class Same(rlx.ExprMutator):
    """Changes nothing."""


class Anew(rlx.ExprMutator):
    """Makes every call and tuple anew."""

    def visit_call(self, call: ast.Call) -> Expr:
        made = super().visit_call(call)
        return replace(made)

    def visit_tuple(self, expr: ast.Tuple) -> Expr:
        return replace(super().visit_tuple(expr))


@settings(max_examples=25, deadline=None)
@given(generate.modules())
def test_what_does_not_change_is_shared(module: ast.IRModule) -> None:
    assert Same()(module) is module


@settings(max_examples=25, deadline=None)
@given(generate.modules())
def test_what_is_made_anew_means_the_same(module: ast.IRModule) -> None:
    found = Anew()(module)
    assert "annotation" in (first_difference(found, normalize(module)) or "annotation")
    report = rlx.check(found)
    assert report.ok, str(report)


NAMES = {"WF02-self", "WF03-before", "WF03-scope"}
"""What the builder calls undefined: it does not see what comes later, or what has ended."""


@pytest.mark.filterwarnings("ignore::rlx.BuildWarning")
def test_what_the_checker_refuses_the_builder_refuses_with_the_same_code() -> None:
    rng = random.Random(0)
    compared = 0
    for code in rng.sample(list(CODES), 30):
        module = parse(print_module(near_miss(code, rng))).modules[0]
        report = rlx.check(module)
        expected = {d.code for d in report.errors}
        if not expected or any(c.startswith(("PARSE", "TIR", "VDEV")) for c in expected):
            continue
        if expected & NAMES:
            expected.add("WF02-undefined")
        with pytest.raises(rlx.BuildError) as caught:
            Anew()(module)
        found = {d.code for d in caught.value.diagnostics if d.is_error}
        assert found and found <= expected, code
        compared += 1
    assert compared > 10


class Expand(rlx.ExprMutator):
    """One to several: a relu becomes a maximum with a constant that is bound by itself."""

    def visit_call(self, call: ast.Call) -> Expr:
        if call.op_name == "relax.nn.relu":
            zero = self.builder.emit(rlx.const(0.0), "zero")
            return rlx.op.maximum(self.visit_expr(call.args[0]), zero)
        return super().visit_call(call)


class Fold(rlx.ExprMutator):
    """Leaves out bindings that only copy."""

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        if isinstance(binding.value, ast.Var) and isinstance(binding.var, ast.DataflowVar):
            self.replace_var(binding.var, self.visit_expr(binding.value))
        else:
            super().visit_var_binding(binding)


def _body(text: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in text.strip().splitlines())


def _shown(module: ast.IRModule) -> list[str]:
    lines = rlx.show(module).splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().startswith("def "))
    return [line.strip() for line in lines[start + 1 :] if line.strip()]


def test_one_to_several() -> None:
    module = rlx.parse(_body("a = R.nn.relu(x)\nb = R.add(a, y)\nreturn b"))
    assert _shown(Expand()(module)) == [
        'zero: R.Tensor((), dtype="float32") = R.const(0.0, "float32")',
        "a = R.maximum(x, zero)",
        "b = R.add(a, y)",
        "return b",
    ]


def test_none_in_place_of_one() -> None:
    text = (
        "with R.dataflow():\n    a = x\n    b = a\n    c = R.add(b, a)\n    R.output(c)\nreturn c"
    )
    assert _shown(Fold()(rlx.parse(_body(text)))) == [
        "with R.dataflow():",
        "c = R.add(x, x)",
        "R.output(c)",
        "return c",
    ]


class Halves(rlx.ExprMutator):
    """Adds in float16: struct info changes, and goes on changing."""

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        if isinstance(binding.value, ast.Call) and binding.value.op_name == "relax.add":
            value = self.visit_expr(binding.value)
            self.rebind(binding, rlx.op.astype(value, "float16"))
        else:
            super().visit_var_binding(binding)


def test_struct_info_is_derived_anew() -> None:
    half = 'R.Tensor((n, 4), dtype="float16")'
    full = 'R.Tensor((n, 4), "float32")'
    module = rlx.parse(
        _body(f"a: {full} = R.add(x, y)\nb: {full} = R.nn.relu(a)\nc = R.exp(b)\nreturn c")
    )
    found = Halves()(module)
    assert _shown(found)[-4:] == [
        f'a: {half} = R.astype(gv, dtype="float16")',
        f"b: {half} = R.nn.relu(a)",
        "c = R.exp(b)",
        "return c",
    ]
    assert f"-> {half}:" in rlx.show(found)
    assert rlx.check(found).ok


def test_what_breaks_a_rule_is_told_where_the_mutator_was_called() -> None:
    class Wrong(rlx.ExprMutator):
        def visit_call(self, call: ast.Call) -> Expr:
            return rlx.op.reshape(call.args[0], (3,))

    with pytest.raises(rlx.BuildError, match=r"test_mutator.py:\d+:\d+: error\[OBL-reshape-count"):
        Wrong()(rlx.parse(_body("a = R.add(x, x)\nreturn a").replace('("n", 4)', "(2, 4)")))


def test_a_binding_that_is_gone_and_used() -> None:
    class Drops(rlx.ExprMutator):
        def visit_var_binding(self, binding: ast.VarBinding) -> None:
            if binding.var.name_hint != "a":
                super().visit_var_binding(binding)

    typed = ': R.Tensor((n, 4), "float32") = R.add'
    for said in (" = R.add", typed):  # one with an annotation is not derived again
        body = f"o{said}(x, y)\na{said}(x, x)\nb{said}(a, a)\nreturn b"
        with pytest.raises(rlx.BuildError, match="WF02-undefined"):
            Drops()(rlx.parse(_body(body)))


class FuseMultiplyAdd(rlx.DataflowMutator):
    def visit_call(self, call: ast.Call) -> Expr:
        made = super().visit_call(call)
        assert isinstance(made, ast.Call)
        if made.op_name == "relax.add":
            left = self.lookup_binding(made.args[0])
            if isinstance(left, ast.Call) and left.op_name == "relax.multiply":
                first, second = left.args
                return rlx.op.ewise_fma(first, second, made.args[1])
        return made


FMA = """
with R.dataflow():
    m = R.multiply(x, y)
    a = R.add(m, x)
    gv = R.nn.relu(a)
    R.output(gv)
m2 = R.multiply(gv, y)
r = R.add(m2, x)
return r
"""


def test_several_to_one_in_dataflow_blocks_only() -> None:
    assert _shown(FuseMultiplyAdd()(rlx.parse(_body(FMA)))) == [
        "with R.dataflow():",
        "a = R.ewise_fma(x, y, x)",
        "gv = R.nn.relu(a)",
        "R.output(gv)",
        "m2 = R.multiply(gv, y)",
        "r = R.add(m2, x)",
        "return r",
    ]


def test_what_stands_before_an_unused_binding_stays() -> None:
    text = FMA.replace("    m = R", "    k = R.exp(x)\n    m = R").replace("relu(a)", "relu(k)")
    text = text.replace("gv = ", "g = R.add(a, x)\n    gv = ").replace("relu(k)", "relu(g) + k")
    shown = _shown(FuseMultiplyAdd()(rlx.parse(_body(text))))
    assert shown[:3] == ["with R.dataflow():", "k = R.exp(x)", "a = R.ewise_fma(x, y, x)"]


def test_all_that_became_unused_goes() -> None:
    chain = (
        "with R.dataflow():\n    a = x\n    b = a\n    k = R.exp(y)\n    d = b\n"
        "    c = R.add(d, k)\n    R.output(c)\nreturn c"
    )
    assert _shown(Fold()(rlx.parse(_body(chain)))) == [
        "with R.dataflow():",
        "k = R.exp(y)",
        "c = R.add(x, k)",
        "R.output(c)",
        "return c",
    ]


def test_what_is_still_used_stays() -> None:
    text = FMA.replace("R.nn.relu(a)", "R.add(a, m)")
    assert "m = R.multiply(x, y)" in _shown(FuseMultiplyAdd()(rlx.parse(_body(text))))


def test_dataflow_by_a_function() -> None:
    def twice(builder: rlx.BlockBuilder, binding: ast.VarBinding) -> Expr | None:
        if isinstance(binding.value, ast.Call) and binding.value.op_name == "relax.multiply":
            return rlx.op.add(builder.emit(binding.value), rlx.const(0.0))
        return None

    shown = _shown(rewrite_dataflow(rlx.parse(_body(FMA)), twice))
    assert shown[1:3] == [
        'lv: R.Tensor((n, 4), dtype="float32") = R.multiply(x, y)',
        'm = R.add(lv, R.const(0.0, "float32"))',
    ]
    assert "m2 = R.multiply(gv, y)" in shown


def test_callers_see_what_became_of_their_callees() -> None:
    text = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        cls = Module
        a = cls.inner(x)
        return a
    @R.function(private=True)
    def inner(x: R.Tensor(("n", 4), "float32")):
        b = R.add(x, x)
        return b
"""
    found = Halves()(rlx.parse(text))
    report = rlx.check(found)
    assert report.ok
    (main, *_), _ = zip(*found.functions.items(), strict=True)
    info = next(
        i for gv, i in report.info.items() if getattr(gv, "name_hint", "") == main.name_hint
    )
    assert "float16" in str(info)


CALLED = """
@I.ir_module
class Module:
    @R.function(private=True)
    def inner(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        b = R.add(x, x)
        return b
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        cls = Module
        a = cls.inner(x)
        return a
"""


def test_a_caller_stays_where_its_callee_keeps_its_type() -> None:
    class Doubles(rlx.ExprMutator):
        def visit_call(self, call: ast.Call) -> Expr:
            if call.op_name == "relax.add":
                return rlx.op.multiply(call.args[0], rlx.const(2.0))
            return call

    before = rlx.parse(CALLED)
    after = Doubles()(before)
    (inner, main) = before.functions
    assert after.functions[main] is before.functions[main]
    assert "R.multiply(x, " in str(after.functions[inner])


def test_a_callee_that_calls_back_makes_its_caller_recursive() -> None:
    class CallsBack(rlx.ExprMutator):
        def visit_call(self, call: ast.Call) -> Expr:
            if call.op_name == "relax.add":
                return ast.Call(self.builder.global_var("main"), (call.args[0],))
            return call

    with pytest.raises(rlx.BuildError, match=r"WF08-annotation.*'main'"):
        CallsBack()(rlx.parse(CALLED))


def test_what_a_method_returns_is_an_expression() -> None:
    class Forgets(rlx.ExprMutator):
        def visit_call(self, call: ast.Call) -> Any:
            super().visit_call(call)

    class Numbers(rlx.ExprMutator):
        def visit_call(self, call: ast.Call) -> Any:
            return object()

    module = rlx.parse("@R.function\ndef f(x: R.Tensor):\n    y = R.abs(x)\n    return y\n")
    with pytest.raises(rlx.BuildError, match=r"Forgets\.visit_call returned nothing"):
        Forgets()(module)
    with pytest.raises(rlx.BuildError, match="expected a Relax value"):
        Numbers()(module)
    with pytest.raises(rlx.MisuseError, match="expected a module"):
        Forgets()("x")  # type: ignore[type-var]


def test_shapes_of_annotations_may_get_another_rank() -> None:
    class Flat(rlx.ExprMutator):
        def visit_shape_expr(self, shape: ast.ShapeExpr) -> ast.Expr:
            return rlx.op.shape([8])

    module = rlx.parse(
        "@R.function\ndef main(x: R.Tensor((2, 4), 'float32')):\n    return R.exp(x)"
    )
    found = Flat()(module)["main"]
    assert isinstance(found, ast.Function)
    assert str(found.params[0].struct_info) == 'R.Tensor((8,), dtype="float32")'


@pytest.mark.parametrize(
    ("owner", "name", "instead"),
    [
        (rlx, "PyExprMutator", "write rlx.ExprMutator"),
        (rlx, "TensorStructInfo", r"write the text of the annotation, such as 'R\.Tensor"),
        (rlx.ExprMutator(), "builder_", r"write self\.builder"),
        (rlx.ExprMutator(), "builder", "only while it visits"),
        (rlx.transform, "well_formed", r"write rlx\.check\(module\)\.ok"),
        (rlx.transform, "PrintIR", r"an instrument whose run_after_pass"),
        (rlx.te, "logaddexp", r"write te\.log"),
        (rlx.IRModule({}), "clone", "modules do not change"),
        (rlx.ExprVisitor(), "visit_expr_post_order", r"write super\(\)\.visit_call\(call\)"),
    ],
)
def test_names_of_tvm_say_what_to_write(owner: object, name: str, instead: str) -> None:
    with pytest.raises(AttributeError, match=instead):
        getattr(owner, name)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("visit_var_def", "visit_var_def returned NoneType None: return the variable to bind"),
        ("visit_prim_expr", "visit_prim_expr returned NoneType None: return a scalar"),
    ],
)
def test_a_method_that_returns_nothing_is_named(method: str, words: str) -> None:
    module = rlx.parse(
        "@R.function\ndef main(x: R.Tensor(('n',), 'float32')):\n    return R.exp(x)"
    )
    forgetful = type("Forgetful", (rlx.ExprMutator,), {method: lambda self, node: None})
    with pytest.raises(rlx.BuildError, match=words):
        forgetful()(module)


BRANCHES = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        @R.function
        def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return R.add(y, x)
        if c:
            n = T.int64()
            q = R.match_cast(inner(x), R.Tensor((n,), "float32"))
            r = R.zeros(R.shape([n]), "float32")
        else:
            r = R.exp(x)
        return r
    @R.function
    def other(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.exp(x)
"""


@pytest.mark.parametrize("branch", ["true_branch", "false_branch"])
def test_a_branch_may_stand_for_its_if(branch: str) -> None:
    class Chosen(rlx.ExprMutator):
        def visit_if(self, expr: ast.If) -> Expr:
            return self.visit_expr(getattr(expr, branch))

    made = Chosen()(rlx.parse(BRANCHES))
    text = rlx.show(made)
    assert rlx.check(made).ok and "if c" not in text
    assert ("R.exp(x)" in text.split("def other")[0]) == (branch == "false_branch")
    assert ("R.match_cast" in text) == (branch == "true_branch")


def test_all_functions_are_visited_by_one_method() -> None:
    """The functions of the module, and local ones: what the method returns takes their place."""
    module = rlx.parse(BRANCHES)

    class Marked(rlx.ExprMutator):
        def visit_function(self, function: ast.Function) -> Expr:
            made = super().visit_function(function)
            assert isinstance(made, ast.Function)
            return made.with_attr("mark", 1)

    class Kept(rlx.ExprMutator):
        def visit_function(self, function: ast.Function) -> Expr:
            return super().visit_function(function)

    made = Marked()(module)
    assert rlx.show(made).count('R.func_attr({"mark": 1})') == 3 and rlx.check(made).ok
    assert Kept()(module) is module


def test_variables_of_other_names_are_replaced_where_they_are_used() -> None:
    class Renamed(rlx.ExprMutator):
        def visit_var_def(self, var: ast.Var) -> ast.Var:
            return rlx.Var(f"{var.name_hint}_new", var.struct_info_annotation)

    made = Renamed()(rlx.parse(BRANCHES))
    assert rlx.check(made).ok and "inner_new(x_new)" in rlx.show(made)


TWO_BLOCKS = """
@R.function
def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
    with R.dataflow():
        a: R.Tensor((2, 3), "float32") = R.add(x, y)
        b: R.Tensor((2, 3), "float32") = R.exp(a)
        R.output(b)
    c: R.Tensor((2, 3), "float32") = R.add(b, y)
    return c
"""


def blocks_of(text: str) -> tuple[ast.BindingBlock, ...]:
    function = rlx.parse(text)["main"]
    assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
    return function.body.blocks


def test_a_block_alone() -> None:
    class Doubled(rlx.ExprMutator):
        def visit_call(self, call: ast.Call) -> ast.Expr:
            if call.op_name != "relax.add":
                return call
            return rlx.op.multiply(self.builder.emit(rlx.op.negative(call.args[0])), call.args[1])

    class Gone(rlx.ExprMutator):
        def visit_var_binding(self, binding: ast.VarBinding) -> None:
            pass

    dataflow, ordinary = blocks_of(TWO_BLOCKS)
    for block, expected in (
        (dataflow, ["R.negative(x)", "R.multiply(lv, y)", "R.exp(a)"]),
        (ordinary, ["R.negative(b)", "R.multiply(gv, y)"]),
    ):
        made = Doubled().visit_binding_block(block)
        assert made is not None and type(made) is type(block)
        assert [str(binding.value) for binding in made.bindings] == expected
        assert rlx.ExprMutator().visit_binding_block(block) is block
        gone = Gone().visit_binding_block(block)
        assert type(gone) is type(block) and gone.bindings == ()


def test_a_block_alone_may_mention_what_stands_around_it() -> None:
    """Functions of the module, effects, dimensions."""
    module = rlx.parse("""
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def copy(A: T.Buffer((T.int64(4),), "float32"), B: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("B"):
                v = T.axis.spatial(T.int64(4), i)
                B[v] = A[v]
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), s: R.Shape(["n"])):
        n = T.int64()
        y: R.Tensor((4,), "float32") = R.call_tir(Module.copy, (x,), out_ty=R.Tensor((4,), "float32"))
        p = R.print(y, format="{}")
        z: R.Tensor((n, 2), "float32") = R.zeros(R.shape([n, 2]), "float32")
        return z
""")
    function = module["main"]
    assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
    (block,) = function.body.blocks
    assert Same().visit_binding_block(block) is block
    made = Anew().visit_binding_block(block)
    assert made is not None and str(made) == str(block)


def test_a_dataflow_block_becomes_an_ordinary_one() -> None:
    class Ordinary(rlx.ExprMutator):
        def visit_binding_block(self, block: ast.BindingBlock) -> ast.BindingBlock | None:
            return super().visit_binding_block(ast.BindingBlock(block.bindings))

        def visit_dataflow_var_def(self, var: ast.DataflowVar) -> ast.Var:
            return rlx.Var(var.name_hint, var.struct_info)

    made = Ordinary()(rlx.parse(TWO_BLOCKS))
    assert rlx.check(made).ok and "R.dataflow" not in rlx.show(made)
    structural = rlx.transform.ToNonDataflow()(rlx.parse(TWO_BLOCKS))
    rlx.transform.assert_structural_equal(made, structural)


def test_a_mutator_takes_its_module_when_it_is_called() -> None:
    class OfTVM(rlx.ExprMutator):
        def __init__(self, module: ast.IRModule) -> None:
            super().__init__(module)

    with pytest.raises(
        rlx.MisuseError, match=r"write super\(\).__init__\(\), and OfTVM\(…\)\(module\)"
    ):
        OfTVM(rlx.parse(HEAD + "        return x"))


def test_a_method_may_change_a_function_before_it_is_visited() -> None:
    class Impure(rlx.ExprMutator):
        """Prints each value of a relu; the function has no parameter y."""

        def visit_function(self, function: ast.Function) -> Expr:
            return super().visit_function(
                replace(function, is_pure=False, params=function.params[:1])
            )

        def visit_call(self, call: ast.Call) -> Expr:
            if call.op_name == "relax.nn.relu":
                self.builder.emit(rlx.op.print(call.args[0], format="{}"))
            return super().visit_call(call)

    module = rlx.parse(HEAD + "        z = R.nn.relu(x)\n        return z")
    changed = Impure()(module)
    assert rlx.check(changed).ok
    function = changed.relax_functions[changed.get_global_var("main")]
    assert not function.is_pure and [p.name_hint for p in function.params] == ["x"]
    assert rlx.show(changed).count("R.print") == 1
    plain = Impure()(rlx.parse(HEAD + "        return x")).relax_functions
    assert [f.is_pure for f in plain.values()] == [False]
