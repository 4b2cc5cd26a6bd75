"""The analyses that passes use, on programs that a person reads."""

from __future__ import annotations

import pytest

import rlx
from rlx import transform
from rlx.grammar.nodes import ast
from rlx.transform import annotated

MODULE = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def even(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = R.exp(x)
        b = cls.odd(a)
        return b

    @R.function
    def odd(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        return cls.even(x)

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), flag: R.Tensor((), "bool")):
        m = T.int64()
        with R.dataflow():
            y = R.sum(x, axis=1)
            z = R.add(y, y)
            R.output(z)
        w = R.match_cast(z, R.Tensor((m,), "float32"))
        if flag:
            a = R.negative(w)
            r = a
        else:
            r = w
        return r
""")
MAIN = MODULE["main"]
assert isinstance(MAIN, ast.Function) and isinstance(MAIN.body, ast.SeqExpr)


def names(variables: object) -> list[str]:
    return [each.name_hint for each in variables]  # type: ignore[attr-defined]


def test_variables() -> None:
    assert isinstance(MAIN, ast.Function)
    assert names(transform.free_vars(MAIN)) == []
    assert names(transform.free_vars(MAIN.body)) == ["x", "flag"]
    assert sorted(names(transform.bound_vars(MAIN))) == ["a", "flag", "r", "w", "x", "y", "z"]
    assert names(transform.used_vars(MAIN)) == ["x", "y", "z", "flag", "w", "a", "r"]
    assert [v.name for v in transform.defined_symbolic_vars(MAIN)] == ["n", "m"]
    assert transform.free_symbolic_vars(MAIN) == ()
    assert list(transform.name_to_binding(MAIN)) == ["y", "z", "w", "r", "a"]


def test_dimensions_of_local_functions_are_not_free() -> None:
    main = rlx.parse("""
@R.function
def main(x: R.Tensor(("n",), "float32")):
    @R.function
    def inner(y: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        return R.exp(y)
    return inner
""")["main"]
    assert isinstance(main, ast.Function)
    assert transform.free_symbolic_vars(main) == ()
    assert [var.name for var in transform.defined_symbolic_vars(main)] == ["n", "k"]


def test_uses_in_a_dataflow_block() -> None:
    assert isinstance(MAIN, ast.Function) and isinstance(MAIN.body, ast.SeqExpr)
    block = MAIN.body.blocks[0]
    assert isinstance(block, ast.DataflowBlock)
    users = {var.name_hint: names(by) for var, by in transform.udchain(block).items()}
    assert users == {"y": ["z"], "x": ["y"], "z": []}


def test_functions_that_call_each_other() -> None:
    assert [names(group) for group in transform.detect_recursion(MODULE)] == [["even", "odd"]]
    assert isinstance(even := MODULE["even"], ast.Function)
    assert names(transform.all_global_vars(even)) == ["odd"]


def test_effects() -> None:
    loud = rlx.parse("""
@R.function(pure=False)
def main(x: R.Tensor):
    @R.function(pure=False)
    def shout(y: R.Tensor) -> R.Tensor:
        a = R.print(y, format="{}")
        return y
    return x
""")["main"]
    assert isinstance(loud, ast.Function)
    assert not transform.contains_impure_call(loud)  # the local function is not called
    [shout] = (b.value for b in transform.name_to_binding(loud)["shout"])
    assert transform.contains_impure_call(shout)


def test_expressions_are_visited_after_their_parts() -> None:
    x, seen = rlx.Var("x", ["n", 4], "float32"), []
    given = rlx.op.exp(rlx.op.add(x, x))
    transform.post_order_visit(given, lambda e: seen.append(e) if type(e) is ast.Call else None)
    assert seen == [given.args[0], given]


def test_a_parsed_program_with_its_annotations() -> None:
    made = annotated(MODULE)["main"]
    assert isinstance(made, ast.Function)
    known = {var.name_hint: str(var.struct_info) for var in transform.bound_vars(made)}
    assert known["z"] == 'R.Tensor((n,), dtype="float32")'
    assert known["r"] == known["w"] == 'R.Tensor((m,), dtype="float32")'
    whole = annotated(MODULE)
    assert annotated(whole) is whole
    with pytest.raises(rlx.IllFormedError):
        annotated(
            rlx.parse("@R.function\ndef main(x: R.Tensor((2,))):\n    return R.matmul(x, x, x)")
        )
