"""BlockBuilder: what is emitted is checked at once, and an error leaves no trace."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

import rlx
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Call, op
from rlx.grammar.nodes.equal import structural_equal
from rlx.transform import DeadCodeElimination, annotated, wildcard

F = 'R.Tensor(("n", 4), "float32")'


def call(name: str, *args: ast.Expr) -> Call:
    return Call(op(f"relax.{name}"), args)


def main_of(bb: rlx.BlockBuilder) -> ast.Function:
    (found,) = bb.get().functions.values()
    assert isinstance(found, ast.Function)
    return found


def test_a_function_with_a_dataflow_block() -> None:
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", F)
    with bb.function("main", [x]):
        with bb.dataflow():
            lv = bb.emit(call("add", x, x))
            gv = bb.emit_output(call("nn.relu", lv))
        bb.emit_func_output(gv)
    text = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
        with R.dataflow():
            lv: R.Tensor((n, 4), "float32") = R.add(x, x)
            gv: R.Tensor((n, 4), "float32") = R.nn.relu(lv)
            R.output(gv)
        return gv
"""
    assert structural_equal(bb.get(), rlx.parse(text))
    assert rlx.check(bb.get()).ok


def test_what_is_nested_gets_variables() -> None:
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", F)
    with bb.function("main", [x]):
        bb.emit_func_output((x + 1) * x - 2)
    assert [b.value.op for b in _bindings(main_of(bb))] == [  # type: ignore[attr-defined]
        op("relax.add"),
        op("relax.multiply"),
        op("relax.subtract"),
    ]


def _bindings(function: ast.Function) -> list[ast.VarBinding]:
    assert isinstance(function.body, ast.SeqExpr)
    return [b for block in function.body.blocks for b in block.bindings]  # type: ignore[misc]


def test_a_violation_is_the_checkers_and_at_the_users_line() -> None:
    bb = rlx.BlockBuilder()
    x, y = rlx.Var("x", F), rlx.Var("y", 'R.Tensor(("n", 5), "float32")')
    with bb.function("main", [x, y]):
        with pytest.raises(rlx.BuildError) as caught:
            bb.emit(x + y)
        found = caught.value.diagnostics[0]
        assert found.code == "OBL-broadcast-dims" and found.source is not None
        assert found.source.path.endswith("test_builder.py") and found.span is not None
        assert found.source.text[slice(*found.span)] == "x + y"
        assert str(caught.value).startswith(f"{found.source.path}:")
        bb.emit_func_output(bb.emit(x + x))
    assert rlx.check(bb.get()).ok
    assert len(_bindings(main_of(bb))) == 1


def test_the_same_expression_is_refused_each_time() -> None:
    bb = rlx.BlockBuilder()
    x, y = rlx.Var("x", F), rlx.Var("y", 'R.Tensor(("n", 5), "float32")')
    with bb.function("main", [x, y]):
        wrong = x + y
        for _ in range(2):
            with pytest.raises(rlx.BuildError, match="OBL-broadcast-dims"):
                bb.emit(wrong)
            with pytest.raises(rlx.BuildError, match="WF02-undefined"):
                bb.emit(rlx.Var("z", F))
            with pytest.raises(rlx.BuildError, match="WF05-unbound"):
                bb.emit(ast.ShapeExpr((tir.Var("k"),)))
            with pytest.raises(rlx.BuildError, match="D14-operator"):
                bb.emit(call("ad", x, x))
        bb.emit_func_output(x)


def test_what_may_be_wrong_warns() -> None:
    bb = rlx.BlockBuilder()
    x, y = rlx.Var("x", F), rlx.Var("y", 'R.Tensor(("m", 4), "float32")')
    with bb.function("main", [x, y]):
        with pytest.warns(rlx.BuildWarning, match="OBL-broadcast-dims"):
            gv = bb.emit(x + y)
        bb.emit_func_output(gv)
    assert [d.code for d in bb.diagnostics] == ["OBL-broadcast-dims"]


def test_calls_out_of_order() -> None:
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", F)
    with pytest.raises(rlx.BuildError, match="must be inside a function"):
        bb.emit(x)
    with bb.function("main", [x]):
        with pytest.raises(rlx.BuildError, match="must be inside a dataflow block"):
            bb.emit_output(x)
        with bb.dataflow():
            with pytest.raises(rlx.BuildError, match="do not nest"), bb.dataflow():
                pass
            lv = bb.emit(x + x)
            with pytest.raises(rlx.BuildError, match="still open"):
                bb.emit_func_output(lv)
            gv = bb.emit_output(lv)
        with pytest.raises(rlx.BuildError, match="WF01-escape"):
            bb.emit(lv + lv)
        with pytest.raises(rlx.BuildError, match="WF01-escape"):
            bb.emit_func_output(lv)
        bb.emit_func_output(gv)
        for again in (bb.emit, bb.emit_func_output):
            with pytest.raises(rlx.BuildError, match="already has its output"):
                again(gv)
    with (
        pytest.raises(rlx.BuildError, match="already has a function 'main'"),
        bb.function("main", [x]),
    ):
        pass
    with (
        pytest.raises(rlx.BuildError, match="ends without an output"),
        bb.function("other", [rlx.Var("x", F)]),
    ):
        pass
    with bb.function("other", [rlx.Var("y", F)]):
        with pytest.raises(rlx.BuildError, match="WF02-undefined"):
            bb.emit(x + x)
        bb.emit_func_output(bb.emit(ast.Tuple(())))
    assert rlx.check(bb.get()).ok
    assert [gv.name_hint for gv in bb.get().functions] == ["main", "other"]


def test_an_exception_of_the_user_leaves_the_function_out() -> None:
    bb = rlx.BlockBuilder()
    with pytest.raises(KeyError), bb.function("main", [rlx.Var("x", F)]):
        raise KeyError
    x = rlx.Var("x", F)
    with bb.function("main", [x]):
        bb.emit_func_output(x)
    assert len(bb.get().functions) == 1


def test_casts_bind_dimensions_that_the_prover_knows() -> None:
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", "R.Tensor(ndim=2)")
    with bb.function("main", [x]):
        z = bb.emit_match_cast(x, 'R.Tensor(("a", "b"), "float32")')
        assert set(bb.shape_vars) == {"a", "b"}
        w = bb.emit_match_cast(z, 'R.Tensor(("c", "c"), "float32")')
        assert bb.prove("a == b").status == "proved"
        assert bb.prove("a == 4").status == "refuted"
        assert str(bb.simplify("a + b - c")) in ("a", "b", "c")
        bb.emit_func_output(w)
    assert rlx.check(bb.get()).ok


def test_functions_call_each_other() -> None:
    bb = rlx.BlockBuilder()
    x, y = rlx.Var("x", F), rlx.Var("y", 'R.Tensor(("m", 4), "float32")')
    with bb.function("inner", [x], private=True) as inner:
        bb.emit_func_output(x + x)
    with bb.function("main", [y]):
        gv = bb.emit(inner(y))
        info = bb.struct_info(gv)
        assert str(info) == 'R.Tensor((m, 4), dtype="float32")'
        with pytest.raises(rlx.BuildError, match="D14-arity"):
            bb.emit(inner(gv, gv))
        bb.emit_func_output(gv)
    assert rlx.check(bb.get()).ok


def test_a_function_calls_itself() -> None:
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", F)
    with bb.function("main", [x], ret_struct_info=F) as gv:
        with bb.dataflow(), pytest.raises(rlx.BuildError, match="WF07-recursion"):
            bb.emit(gv(x))
        bb.emit_func_output(bb.emit(gv(x)))
    assert rlx.check(bb.get()).ok


def test_functions_within_functions() -> None:
    bb = rlx.BlockBuilder()
    x, y = rlx.Var("x", F), rlx.Var("y", F)
    with bb.function("main", [x]):
        lv = bb.emit(x + x)
        with bb.function("helper", [y], private=True) as helper:
            with pytest.raises(rlx.BuildError, match="WF02-undefined"):
                bb.emit(lv)
            bb.emit_func_output(y * y)
        bb.emit_func_output(helper(lv))
    assert rlx.check(bb.get()).ok


def test_functions_that_are_added_are_checked() -> None:
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 5), "float32"):
        return x
    @R.function
    def fine(x: R.Tensor(("n", 4), "float32")):
        return x
    @T.prim_func(private=True)
    def copy(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("B"):
                v = T.axis.spatial(4, i)
                B[v] = A[v]
""")
    wrong, fine, copy = module.functions.values()
    bb = rlx.BlockBuilder()
    with pytest.raises(rlx.BuildError, match="D15-result"):
        bb.add_func(wrong, "main")
    gv = bb.add_func(fine, "main")
    assert gv.name_hint == "main"
    assert bb.add_func(copy, "copy") is bb.add_func(copy, "other")
    assert bb.add_func(fine, "other") is gv
    with pytest.raises(rlx.BuildError, match="D15-result"):
        bb.update_func(gv, wrong)
    bb.update_func(gv, fine)
    assert rlx.check(bb.get()).ok


def test_lookup_and_normalize() -> None:
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", F)
    with bb.function("main", [x]):
        lv = bb.emit(x + x)
        value = bb.lookup_binding(lv)
        assert isinstance(value, Call) and value.op is op("relax.add")
        assert bb.lookup_binding(x) is None
        flat = bb.normalize((x * x) + x)
        assert isinstance(flat, Call) and isinstance(flat.args[0], ast.Var)
        bb.emit_func_output(flat)
    assert len(_bindings(main_of(bb))) == 3


def test_an_error_takes_back_what_was_nested() -> None:
    bb = rlx.BlockBuilder()
    x, y = rlx.Var("x", F), rlx.Var("y", 'R.Tensor(("n", 5), "float32")')
    with bb.function("main", [x, y]):
        with pytest.raises(rlx.BuildError, match="OBL-broadcast-dims"):
            bb.emit((x + x) * y)
        with pytest.raises(rlx.BuildError, match="OBL-broadcast-dims"):
            bb.emit_match_cast((x + x) * y, "R.Tensor")
        with pytest.raises(rlx.BuildError, match="OBL-broadcast-dims"):
            bb.emit_func_output((x + x) * y)
        bb.emit_func_output(x)
    assert _bindings(main_of(bb)) == []


def test_a_promise_that_is_not_kept() -> None:
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", F)
    with bb.function("main", [x], ret_struct_info='R.Tensor(("n", 4), "float16")'):
        with pytest.raises(rlx.BuildError, match="D15-result"):
            bb.emit_func_output(x)
        n = bb.shape_vars["n"]
        flat = bb.emit(rlx.op.reshape(x, (n * 4,)))
        back = bb.emit(rlx.op.reshape(flat, (n, 4)))
        bb.emit_func_output(rlx.op.astype(back, "float16"))
    assert rlx.check(bb.get()).ok


def test_parameters_that_are_said_at_the_end() -> None:
    bb = rlx.BlockBuilder()
    x, y = rlx.Var("x", F), rlx.Var("y", F)
    with bb.function("main"):
        with bb.dataflow():
            gv = bb.emit_output(y + x)
        assert str(gv.struct_info) == 'R.Tensor((n, 4), dtype="float32")'
        with pytest.raises(rlx.BuildError, match="y: used, but not a parameter"):
            bb.emit_func_output(gv, [x])
        bb.emit_func_output(gv, [x, y])
    report = rlx.check(bb.get())
    assert report.ok
    assert [p.name_hint for p in main_of(bb).params] == ["x", "y"]
    with bb.function("other", [rlx.Var("z", F)]):
        with pytest.raises(rlx.BuildError, match="already given to"):
            bb.emit_func_output(ast.Tuple(()), [])
        bb.emit_func_output(ast.Tuple(()))


def test_code_without_a_file_has_lines_and_columns() -> None:
    bb = rlx.BlockBuilder()
    x, y = rlx.Var("x", F), rlx.Var("y", 'R.Tensor(("n", 5), "float32")')
    with bb.function("main", [x, y]):
        with pytest.raises(rlx.BuildError, match=r"<cell>:3:9: error\[OBL-broadcast-dims\]"):
            exec(compile("\n\nbb.emit(x + y)", "<cell>", "exec"), {"bb": bb, "x": x, "y": y})  # noqa: S102
        bb.emit_func_output(x)


@pytest.mark.parametrize("name", [3, "", None])
def test_a_variable_has_a_name(name: Any) -> None:
    with pytest.raises(TypeError, match="expected the name of a variable"):
        rlx.Var(name)


def test_a_function_is_private_or_has_a_symbol() -> None:
    bb = rlx.BlockBuilder()
    for name, private in (("inner", True), ("main", False)):
        x = rlx.Var("x", "R.Object")
        with bb.function(name, [x], private=private):
            bb.emit_func_output(x)
    found = {gv.name_hint: function.attrs for gv, function in bb.get().functions.items()}
    assert found["inner"]["private"] is True and "global_symbol" not in found["inner"]
    assert found["main"]["global_symbol"] == "main" and "private" not in found["main"]


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a function"])
def test_blocks_are_begun_and_ended(inside: bool) -> None:
    """A block has the bindings of both sides of the blocks inside of it."""
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", [3], "float32")
    with bb.function("main", [x]) if inside else nullcontext():
        bb.begin_binding_block()
        first = bb.emit(rlx.op.exp(x))
        bb.begin_dataflow_block()
        assert bb.current_block_is_dataflow()
        local = bb.emit(rlx.op.exp(first))
        output = bb.emit_output(rlx.op.exp(local))
        dataflow = bb.end_block()
        assert not bb.current_block_is_dataflow()
        bb.begin_binding_block()
        second = bb.emit(rlx.op.log(first))
        inner = bb.end_block()
        last = bb.emit(rlx.op.add(second, output))
        outer = bb.end_block()
        if inside:
            bb.emit_func_output(last)
    assert (
        isinstance(dataflow, ast.DataflowBlock) and type(inner) is type(outer) is ast.BindingBlock
    )
    blocks = [[binding.var for binding in block.bindings] for block in (dataflow, inner, outer)]
    assert blocks == [[local, output], [second], [first, last]]
    if inside:
        assert rlx.check(bb.get()).ok


def test_dimensions_may_be_unbound_outside_of_functions() -> None:
    n = rlx.dim("n")
    bb = rlx.BlockBuilder()
    zeros = rlx.op.zeros([n, 4], "float32")
    assert str(bb.struct_info(zeros)) == 'R.Tensor((n, 4), dtype="float32")'
    assert "R.exp(gv)" in str(bb.normalize(rlx.op.exp(zeros)))
    twice = rlx.Var("x", [n * 2], "float32")
    assert str(bb.struct_info(rlx.op.concat([twice, rlx.op.zeros([n], "float32")]))) in (
        'R.Tensor((n * 2 + n,), dtype="float32")',
        'R.Tensor((n * 3,), dtype="float32")',
    )


def test_what_is_known_of_the_values_of_a_function() -> None:
    """Outside of it, also of those that use local variables of dataflow blocks or have effects."""
    main = annotated(
        rlx.parse("""
@R.function(pure=False)
def main(x: R.Tensor((3,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        b = R.sum(a)
        R.output(b)
    p = R.print(b, format="{}")
    return b
""")
    )["main"]
    bb = rlx.BlockBuilder()
    assert isinstance(main, ast.Function) and isinstance(main.body, ast.SeqExpr)
    for block in main.body.blocks:
        for binding in block.bindings:
            assert binding.var is not None
            assert str(bb.struct_info(binding.value)) == str(binding.var.struct_info)
    with pytest.raises(rlx.BuildError, match="effects, which are not allowed in a dataflow block"):
        bb.begin_dataflow_block()
        bb.emit(rlx.op.print(main.params[0], format="{}"))


def test_parameters_that_come_last() -> None:
    """They bind the dimensions; values and casts of them are known before."""
    n, m = rlx.dim("n"), rlx.dim("m")
    given, sizes = rlx.Var("x", 'R.Tensor("float32", ndim=2)'), rlx.Var("s", [m, n], "float32")
    bb = rlx.BlockBuilder()
    with bb.function("main"):
        cast = bb.match_cast(given, 'R.Tensor(("rows", 4), "float32")')
        assert bb.struct_info(rlx.op.exp(sizes)).dtype == "float32"  # type: ignore[attr-defined]
        zeros = bb.emit(rlx.op.zeros([n, m], "float32"))
        bb.emit_func_output((cast, zeros), [given, sizes])
    assert rlx.check(bb.get()).ok
    assert bb.get()["main"].shape_vars == (m, n)  # type: ignore[union-attr]

    bb = rlx.BlockBuilder()
    with (
        pytest.raises(rlx.BuildError, match="m: used, but not a dimension of a parameter"),
        bb.function("main"),
    ):
        bb.emit_func_output(bb.emit(rlx.op.zeros([n, m], "float32")), [rlx.Var("x", [n])])


def test_names_of_tvm_say_what_to_write() -> None:
    bb: Any = rlx.BlockBuilder()
    x: Any = rlx.Var("x", 'R.Tensor((2,), "float32")')
    with bb.function("main", [x]):
        bb.emit_func_output(x)
    for owner, name, instead in (
        (bb, "finalize", r"write bb\.get\(\)"),
        (bb, "_begin_dataflow_block", r"write bb\.begin_dataflow_block\(\)"),
        (bb, "begin_scope", "no scope is needed"),
        (x, "name", r"write x\.name_hint"),
        (x, "ty", r"write x\.struct_info"),
        (x, "T", r"write rlx\.op\.permute_dims\(x\)"),
        (x, "sum", r"write rlx\.op\.sum\(x, …\)"),
    ):
        with pytest.raises(AttributeError, match=instead):
            getattr(owner, name)
    module = bb.get()
    main = module.get_global_var("main")
    assert [main] == list(module.get_global_vars()) == list(module)
    assert module[main] is module["main"] and "main" in module and "f" not in module
    with pytest.raises(AttributeError, match=r"write rlx.show\(module\)"):
        module.script()
    with pytest.raises(KeyError, match="no function 'f'; it has: main"):
        module.get_global_var("f")
    assert x.struct_info.dtype == "float32" and x.struct_info.dtype in {"float32"}


def test_mistakes_say_what_to_write() -> None:
    bb: Any = rlx.BlockBuilder()
    x = rlx.Var("x", "R.Tensor")
    for mistake, instead in (
        (lambda: rlx.ExprMutator(bb.get()), r"takes no arguments: write ExprMutator\(\)\(module\)"),
        (lambda: rlx.ExprVisitor(bb.get()), r"write ExprVisitor\(\)\.visit\(module\)"),
        (lambda: wildcard().fork_to(wildcard()), "there is no PatternContext"),
        (lambda: DeadCodeElimination("main"), "names of functions in a list, found str 'main'"),
    ):
        with pytest.raises(rlx.MisuseError, match=instead):
            mistake()
    with bb.function("main", [x]):
        with pytest.raises(rlx.BuildError, match="found None"):
            bb.emit(None)
        bb.emit_func_output(x)


def test_a_packed_function_with_effects() -> None:
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", F)
    with bb.function("main", [x], pure=False):
        y = bb.emit(rlx.op.call_packed("f", x, sinfo_args=F))
        z = bb.emit(rlx.op.call_packed("g", y, 1))
        bb.emit_func_output(z)
    text = rlx.show(bb.get())
    assert rlx.check(bb.get()).ok
    assert str(y.struct_info) == str(x.struct_info) and str(z.struct_info) == "R.Any"
    one, other = rlx.op.call_packed("f", x, sinfo_args=F), rlx.op.call_packed("f", x, ty_args=F)
    assert str(one) == str(other)
    assert 'R.call_packed("g", gv, 1)' in text, text


def test_functions_that_call_each_other_in_a_circle() -> None:
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def a(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = Module.b(x)
        return y
    @R.function
    def b(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x
""")
    bb = rlx.BlockBuilder(module)
    x = rlx.Var("x", 'R.Tensor((4,), "float32")')
    with bb.function("c", [x], ret_struct_info='R.Tensor((4,), "float32")'):
        bb.emit_func_output(bb.emit(bb.global_var("a")(x)))
    bb.update_func("b", bb.get()["c"])  # b calls a, which calls b
    circle = bb.get()["a"].body
    with bb.function("d", [x], ret_struct_info='R.Tensor((4,), "float32")'):
        with bb.dataflow():
            y = bb.emit_output(bb.global_var("b")(x))
        bb.emit_func_output(y)
    assert isinstance(circle, ast.SeqExpr)
    with pytest.raises(rlx.BuildError, match="WF07-recursion"):
        bb.update_func("a", bb.get()["d"])
