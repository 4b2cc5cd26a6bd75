"""New values beside old bindings that are not checked again: legal if they are legal among all of them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rlx
from rlx.generate import modules
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Call, Expr
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.visit import bindings
from rlx.transform.visitors.mutator import ExprMutator

TWO_BLOCKS = """
@R.function
def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor((3,), "float32")):
    with R.dataflow():
        a = R.nn.relu(x)
        b = R.exp(a)
        R.output(b)
    c = R.nn.relu(b)
    with R.dataflow():
        d = R.nn.relu(c)
        e = R.nn.relu(d)
        R.output(e)
    return e
"""


Make = Callable[["Instead"], Expr | None]


class Instead(rlx.ExprMutator):
    """Puts what ``make`` returns in place of the activation bound to ``name``."""

    def __init__(self, name: str, make: Make) -> None:
        self.name, self.make = name, make
        self.seen: dict[str, ast.Var] = {}

    def visit_global_function(self, gv: ast.GlobalVar, function: ast.Function) -> None:
        self.seen = {param.name_hint: param for param in function.params}
        for block in function.body.blocks:  # type: ignore[attr-defined]
            self.seen |= {binding.var.name_hint: binding.var for binding in block.bindings}
        super().visit_global_function(gv, function)

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        if binding.var.name_hint != self.name:
            super().visit_var_binding(binding)
            return
        new = self.make(self)
        if new is not None:
            self.rebind(binding, new)


def test_a_value_of_the_same_struct_info_takes_the_place() -> None:
    module = rlx.parse(TWO_BLOCKS)
    found = Instead("d", lambda own: rlx.op.nn.gelu(own.seen["c"]))(module)
    assert str(found["main"]) == str(module["main"]).replace("= R.nn.relu(c)", "= R.nn.gelu(c)")
    assert not rlx.check(found).diagnostics


def test_what_is_emitted_before_it_has_an_unused_name() -> None:
    found = Instead("d", lambda own: rlx.op.tanh(own.builder.emit(rlx.op.exp(own.seen["c"]), "e")))(
        rlx.parse(TWO_BLOCKS)
    )
    names = [b.var.name_hint for b in bindings(found["main"]) if b.var is not None]
    assert len(names) == len({*names}) == 6
    assert not rlx.check(found).diagnostics


@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(lambda own: rlx.op.exp(own.seen["e"]), "e", id="a later variable"),
        pytest.param(lambda own: rlx.op.exp(own.seen["a"]), "a", id="a local of another block"),
        pytest.param(lambda own: rlx.op.exp(rlx.Var("z", "R.Tensor((4,))")), "z", id="a stranger"),
        pytest.param(lambda own: rlx.op.add(own.seen["c"], own.seen["y"]), "4", id="other sizes"),
        pytest.param(lambda own: None, "d", id="none, and it is used"),
    ],
)
def test_what_breaks_a_rule_is_refused(make: Make, words: str) -> None:
    with pytest.raises(rlx.BuildError, match=words):
        Instead("d", make)(rlx.parse(TWO_BLOCKS))


def test_memory_that_was_overwritten_is_still_warned_of() -> None:
    module = rlx.parse("""
        @I.ir_module
        class Module:
            @T.prim_func
            def double(A: T.Buffer((4,), "float32")):
                for i in range(4):
                    A[i] = A[i] * T.float32(2)

            @R.function
            def main(p: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                x = R.exp(p)
                y = R.call_tir_inplace(
                    Module.double, (x,), inplace_indices=[0], out_sinfo=R.Tensor((4,), "float32")
                )
                z = R.nn.relu(y)
                return z
        """)
    assert not rlx.check(module).diagnostics
    with pytest.warns(rlx.BuildWarning, match="is used again"):
        Instead("z", lambda own: rlx.op.nn.relu(own.seen["x"]))(module)


class Other(rlx.ExprMutator):
    """Replaces some calls at random, by the same draws each time."""

    asks = False
    """Whether a question at the beginning of each function has all bindings checked."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def visit_global_function(self, gv: ast.GlobalVar, function: ast.Function) -> None:
        self.fresh = self.asks
        super().visit_global_function(gv, function)

    def visit_call(self, call: Call) -> Expr:
        if self.fresh:
            self.builder.struct_info(rlx.const(1.0))
            self.fresh = False
        new = super().visit_call(call)
        if not isinstance(new, Call) or not isinstance(call.op, ast.Op) or not call.args:
            return new
        match self.random.randrange(4):
            case 0:
                return Call(rlx.op.exp(call.args[0]).op, call.args[:1], span=call.span)
            case 1:
                return Call(call.op, call.args[::-1], call.attrs, call.sinfo_args, span=call.span)
            case 2:
                emitted = self.builder.emit(new)
                return rlx.op.abs(emitted)
        return new


class OtherAsking(Other):
    asks = True


def outcome(mutator: ExprMutator, module: ast.IRModule) -> ast.IRModule | str:
    """The new module, or that it is refused."""
    try:
        return mutator(module)
    except rlx.BuildError:
        return "refused"


@pytest.mark.filterwarnings("ignore::rlx.BuildWarning")
@given(modules(), st.integers(0, 1000))
def test_it_makes_no_difference_when_bindings_are_checked(module: ast.IRModule, seed: int) -> None:
    one, other = outcome(Other(seed), module), outcome(OtherAsking(seed), module)
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
    else:
        assert structural_equal(one, other)
