"""Programs of the builder, mutators, patterns and rewriters, said once for TVM and once for rlx: the results are equal."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("tvm")

import tvm
from tvm import relax, tirx
from tvm import te as their_te
from tvm.relax import dpl
from tvm_ffi import structural_equal

import rlx
from rlx import te as our_te
from rlx import transform
from rlx.grammar.nodes.ast import Function
from tests.tvm.same_passes import in_tvm

n = tirx.Var("n", "int64")


def their_tensor(name: str, *shape: object) -> Any:
    """A variable of TVM; ``"n"`` is a dimension."""
    return relax.Var(name, relax.TensorType([n if dim == "n" else dim for dim in shape], "float32"))


def our_tensor(name: str, *shape: object) -> Any:
    """The same for rlx."""
    dims = "".join(f"{dim!r}, " for dim in shape)
    return rlx.Var(name, f'R.Tensor(({dims}), "float32")')


OURS = SimpleNamespace(
    ours=True,
    BlockBuilder=rlx.BlockBuilder,
    const=rlx.const,
    dpl=transform,
    edit=transform.DataflowBlockRewrite,
    op=rlx.op,
    parse=rlx.parse,
    shape=rlx.op.shape,
    te=our_te,
    tensor=our_tensor,
    n=rlx.dim("n"),
)
THEIRS = SimpleNamespace(
    ours=False,
    BlockBuilder=relax.BlockBuilder,
    const=relax.const,
    dpl=dpl,
    edit=relax.binding_rewrite.DataflowBlockRewrite,
    op=relax.op,
    parse=tvm.script.from_source,
    shape=relax.ShapeExpr,
    te=their_te,
    tensor=their_tensor,
    n=n,
)


def built(api: Any, params: list[Any], body: Callable[[Any], Any], **options: object) -> Any:
    """A module with a function; ``body`` gets the builder."""
    bb = api.BlockBuilder()
    with bb.function("main", params, **options):
        bb.emit_func_output(body(bb))
    return bb.get()


def in_dataflow(api: Any, params: list[Any], body: Callable[[Any], Any]) -> Any:
    """The same, in a dataflow block."""

    def inside(bb: Any) -> Any:
        with bb.dataflow():
            return bb.emit_output(body(bb))

    return built(api, params, inside)


# ---------------------------------------------------------------- the builder


def printed_values(api: Any) -> Any:
    x = api.tensor("x", "n")
    body = lambda bb: bb.emit(api.op.print(x, x, format="{} {}"))
    return built(api, [x], body, pure=False)


def a_nested_value_is_normalized_in_a_dataflow_block(api: Any) -> Any:
    x = api.tensor("x", "n")
    return in_dataflow(api, [x], lambda bb: bb.normalize(api.op.exp(api.op.add(x, x))))


def a_shape_is_a_value(api: Any) -> Any:
    x = api.tensor("x", "n", 4)
    return built(api, [x], lambda bb: bb.emit(api.shape([api.n, 2, 2])))


def a_list_of_one_tensor(api: Any) -> Any:
    def added(a: Any) -> list[Any]:
        return [api.te.compute(a.shape, lambda i: a[i] + 1.0, name="conv.out")]

    x = api.tensor("x", "n")
    return in_dataflow(api, [x], lambda bb: bb.emit_te(added, x))


def lists_and_words_for_a_tensor_expression(api: Any) -> Any:
    def added(tensors: Any, others: Any, word: str) -> Any:
        a, b = tensors[0], others["b"]
        assert word == "fast"
        return api.te.compute(a.shape, lambda i: a[i] + b[i])

    x, y = api.tensor("x", "n"), api.tensor("y", "n")
    return in_dataflow(api, [x, y], lambda bb: bb.emit_te(added, [x], {"b": y}, word="fast"))


IN_PLACE = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("A"):
                v = T.axis.spatial(4, i)
                A[v] = A[v] + T.float32(1)
"""


def a_call_in_place(api: Any) -> Any:
    bb, x, y = api.BlockBuilder(), api.tensor("x", 4), api.tensor("y", 4)
    out = "R.Tensor((4,), 'float32')" if api.ours else relax.TensorType([4], "float32")
    kernel = api.parse(IN_PLACE)["f"]
    assert bb.add_func(kernel, "f").name_hint == bb.add_func(kernel, "g").name_hint
    gv = bb.add_func(kernel, "f")
    with bb.function("main", [x, y]):
        bb.emit_func_output(bb.emit(api.op.call_tir_inplace(gv, [x], [0], out_ty=[out])))
    return bb.get()


# ---------------------------------------------------------------- mutators

ADD_RELU_ADD = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.nn.relu(a)
            c = R.add(b, b)
            R.output(c)
        return c
"""


def new_variables(api: Any) -> Any:
    module = api.parse(ADD_RELU_ADD)
    if api.ours:

        class Renamed(rlx.ExprMutator):
            def visit_var_def(self, var: Any) -> Any:
                new = rlx.Var(f"{var.name_hint}_new", var.struct_info_annotation)
                self.replace_var(var, new)
                return new

        return Renamed()(module)

    def renamed_var(self: Any, var: Any) -> Any:
        new = relax.Var(f"{var.name}_new", var.ty)
        self.set_var_remap(var, new)
        return new

    other = type("Other", (relax.PyExprMutator,), {"visit_var_def_": renamed_var})
    renamed = relax.expr_functor.mutator(other)(module)
    return tvm.IRModule({"main": renamed.visit_expr(module["main"])})


# ---------------------------------------------------------------- patterns and rewriters


def several_results_that_use_each_other(api: Any) -> Any:
    rule = """
@I.ir_module
class Rule:
    @R.function
    def pattern(p: R.Tensor((4,), "float32"), q: R.Tensor((4,), "float32")):
        a = R.add(p, q)
        b = R.multiply(a, q)
        return (a, b)
    @R.function
    def replacement(p: R.Tensor((4,), "float32"), q: R.Tensor((4,), "float32")):
        s = R.subtract(p, q)
        return (s, s)
"""
    program = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        a = R.add(x, y)
        b = R.multiply(a, y)
        c = R.divide(a, b)
        return c
"""
    return api.dpl.PatternMatchingRewriter.from_module(api.parse(rule))(api.parse(program))


def equal_values_of_rewritten_bindings(api: Any) -> Any:
    module = api.parse(ADD_RELU_ADD.replace("R.add(b, b)", "R.nn.relu(b)"))
    with api.dpl.PatternContext() as context:
        x = api.dpl.wildcard()
        relu = api.dpl.is_op("relax.nn.relu")(x)

    def replaced(match: Any, _: Any) -> Any:
        return {match[relu]: api.op.add(match[x], api.op.exp(module["main"].params[1]))}

    return api.dpl.rewrite_bindings(context, replaced, module["main"])


def one_of_the_bindings_of_a_chain(api: Any) -> Any:
    module = api.parse(ADD_RELU_ADD)
    with api.dpl.PatternContext() as context:
        first = api.dpl.is_op("relax.add")(varg_default_wildcard=True)
        second = api.dpl.is_op("relax.nn.relu")(varg_default_wildcard=True)
        first >> second

    def replaced(match: Any, values: Any) -> Any:
        return {match[second]: api.op.exp(values[match[first]].args[0])}

    return api.dpl.rewrite_bindings(context, replaced, module["main"])


def edited_bindings(api: Any) -> Any:
    module = api.parse(ADD_RELU_ADD)
    function = module["main"]
    block = function.body.blocks[0]
    edit = api.edit(block, function)
    value, var = block.bindings[1].value, block.bindings[0].var
    edit.add(value, "again", is_dfvar=True)
    edit.add(api.const(1.0, "float32"), "first")
    edit.replace_all_uses(block.bindings[1].var, var)
    edit.remove_unused(block.bindings[1].var)
    return edit.mutate_irmodule(module)


PROGRAMS: list[Callable[[Any], Any]] = [
    printed_values,
    a_nested_value_is_normalized_in_a_dataflow_block,
    a_shape_is_a_value,
    a_list_of_one_tensor,
    lists_and_words_for_a_tensor_expression,
    a_call_in_place,
    new_variables,
    several_results_that_use_each_other,
    equal_values_of_rewritten_bindings,
    one_of_the_bindings_of_a_chain,
    edited_bindings,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_makes_what_it_makes_in_tvm(program: Callable[[Any], Any]) -> None:
    ours, theirs = program(OURS), program(THEIRS)
    if isinstance(ours, Function):
        ours = rlx.IRModule({rlx.parse(ADD_RELU_ADD).get_global_var("main"): ours})
        theirs = tvm.IRModule({"main": theirs})
    assert rlx.check(ours).ok
    read = {gv.name_hint: function for gv, function in in_tvm(ours).functions.items()}
    assert read.keys() == {gv.name_hint for gv in theirs.functions}
    for gv, wanted in theirs.functions.items():
        assert structural_equal(read[gv.name_hint], wanted, map_free_vars=True), str(theirs)
    transform.assert_structural_equal(ours, rlx.parse(theirs.script(show_meta=True)))
