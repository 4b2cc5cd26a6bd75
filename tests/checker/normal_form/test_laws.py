"""Laws of normalising, on random nested programs whose meaning a small evaluator gives."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.checker.normal_form import normal_form
from rlx.checker.normalize import normalize
from rlx.checker.well_formed import well_formed
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.equal import structural_equal

X = ast.Var("x")
OPS = [ast.op(f"relax.{name}") for name in ("exp", "sin", "add")]


def _constant(value: int) -> ast.Expr:
    return ast.Constant(ast.Literal(value, dtype("int32"), ()))


def _binding(var: ast.Var, value: ast.Expr, cast: bool) -> ast.Binding:
    return ast.MatchCast(var, value, ast.ObjectStructInfo()) if cast else ast.VarBinding(var, value)


def _sequence(items: list[ast.Expr], kinds: list[tuple[bool, bool]]) -> ast.Expr:
    """Bindings of these expressions, leading to a tuple of the variables that are left.

    A pair of ``kinds`` says of one expression whether it is bound in a dataflow block, and whether it is cast.
    Neighbours in a dataflow block share it, and all but its last variable end with it.
    """
    blocks: list[ast.BindingBlock] = [ast.BindingBlock(())]
    left: list[ast.Expr] = []
    ending: list[ast.Expr] = []
    for at, (item, (dataflow, cast)) in enumerate(zip(items, kinds, strict=False)):
        ends = dataflow and at + 1 < len(items) and kinds[at + 1][0]
        var = ast.DataflowVar(f"v{at}") if ends else ast.Var(f"v{at}")
        value = ast.Tuple((item, *ending)) if ending else item
        binding = _binding(var, value, cast)
        if ending:
            blocks[-1] = ast.DataflowBlock((*blocks[-1].bindings, binding))
        else:
            blocks.append((ast.DataflowBlock if dataflow else ast.BindingBlock)((binding,)))
        ending = [*ending, var] if ends else []
        if not ends:
            left.append(var)
    return ast.SeqExpr(tuple(blocks), ast.Tuple(tuple(left)))


KINDS = [
    list(zip(dataflow, cast, strict=True))
    for dataflow in product([True, False], repeat=3)
    for cast in product([False, True], repeat=3)
]


def _extend(inner: st.SearchStrategy[ast.Expr]) -> st.SearchStrategy[ast.Expr]:
    some = st.lists(inner, min_size=1, max_size=3)
    three = st.lists(inner, min_size=3, max_size=3)
    return st.one_of(
        st.builds(lambda op, args: ast.Call(op, tuple(args)), st.sampled_from(OPS), some),
        st.builds(lambda fields: ast.Tuple(tuple(fields)), some),
        st.builds(lambda fields: ast.TupleGetItem(ast.Tuple(tuple(fields)), 0), some),
        st.builds(
            _sequence,
            three,
            st.sampled_from(KINDS),
        ),
        st.builds(ast.If, inner, inner, inner),
    )


EXPRESSIONS = st.recursive(
    st.one_of(st.just(X), st.integers(0, 9).map(_constant)), _extend, max_leaves=12
)


def _module(body: ast.Expr) -> ast.IRModule:
    return ast.IRModule({ast.GlobalVar("main"): ast.Function((X,), body)})


def _body(module: ast.IRModule) -> ast.Expr:
    (function,) = module.functions.values()
    assert isinstance(function, ast.Function)
    return function.body


def _run(expr: ast.Expr, scope: Mapping[ast.Var, Any], calls: list[str]) -> Any:
    """The value of an expression; every call leaves its name in ``calls``."""
    match expr:
        case ast.Var():
            return scope[expr]
        case ast.Constant(data=data):
            return data.value
        case ast.Tuple(fields=fields):
            return tuple(_run(field, scope, calls) for field in fields)
        case ast.TupleGetItem(tuple_value=inner, index=index):
            return _run(inner, scope, calls)[index]
        case ast.Call(op=ast.Op(op_name=name), args=args):
            given = tuple(_run(arg, scope, calls) for arg in args)
            calls.append(name)
            return (name, given)
        case ast.If(cond=cond, true_branch=then, false_branch=otherwise):
            chosen = then if _run(cond, scope, calls) else otherwise
            return _run(chosen, scope, calls)
        case ast.SeqExpr(blocks=blocks, body=body):
            inside = dict(scope)
            for block in blocks:
                for binding in block.bindings:
                    assert isinstance(binding, (ast.VarBinding, ast.MatchCast))
                    assert binding.var is not None
                    inside[binding.var] = _run(binding.value, inside, calls)
            return _run(body, inside, calls)
    raise AssertionError(expr)


@given(EXPRESSIONS)
def test_the_result_is_normal_and_normalising_it_changes_nothing(body: ast.Expr) -> None:
    made = normalize(_module(body))
    assert normal_form(made) == []
    assert normalize(made) is made


@given(EXPRESSIONS)
def test_meaning_and_order_of_calls_are_kept(body: ast.Expr) -> None:
    before: list[str] = []
    after: list[str] = []
    scope = {X: 0}
    made = _body(normalize(_module(body)))
    assert _run(body, scope, before) == _run(made, scope, after)
    assert before == after


@settings(max_examples=40)
@given(EXPRESSIONS)
def test_what_was_well_formed_stays_so(body: ast.Expr) -> None:
    module = _module(body)
    before = {found.code for found in well_formed(module)}
    after = {found.code for found in well_formed(normalize(module))}
    assert after <= before


@given(EXPRESSIONS)
def test_normalising_is_deterministic(body: ast.Expr) -> None:
    assert structural_equal(normalize(_module(body)), normalize(_module(body)))
