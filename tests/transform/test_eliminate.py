"""Casts that are removed, casts that stay, and what takes their places."""

from __future__ import annotations

from collections import Counter

import pytest

from rlx.checker.check import check_text
from rlx.checker.dynamic_checks import DynamicCheck, analyse
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.equal import first_difference
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.visit import bindings
from rlx.grammar.print.printer import print_module
from rlx.solver.order import substitute_prim
from rlx.transform.dynamic_checks import eliminate, plan

from .programs import CLEAN, module_of, report


def body(text: str, *, replace_variables: bool = True) -> list[str]:
    """The statements of the only function, after elimination."""
    module = eliminate(module_of(text), replace_variables=replace_variables)
    lines = print_module(module).splitlines()
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))
    return [line.strip() for line in lines[start + 1 :]]


def program(*lines: str, x: str = 'R.Tensor(("n", 4), "float32")') -> str:
    """A function of ``x`` with these statements."""
    names = " ".join(lines).translate(str.maketrans("()[],", "     ")).split()
    declared = [f"    {v} = T.int64()\n" for v in ("n", "m", "k") if v in (*names, *x.split('"'))]
    statements = "".join(f"    {line}\n" for line in lines)
    return f"@R.function\ndef main(x: {x}):\n{''.join(declared)}{statements}"


def casts(module: ast.IRModule) -> int:
    return sum(
        isinstance(b, ast.MatchCast) for f in module.relax_functions.values() for b in bindings(f)
    )


def test_a_named_cast_becomes_a_binding() -> None:
    text = program('y = R.match_cast(x, R.Tensor((n, 4), "float32"))', "return y")
    assert body(text) == ["y = x", "return y"]


def test_the_annotation_stays() -> None:
    text = program(
        'y: R.Tensor((n, 4), "float32") = R.match_cast(x, R.Tensor((n, 4), "float32"))', "return y"
    )
    assert body(text) == ['y: R.Tensor((n, 4), dtype="float32") = x', "return y"]


def test_a_cast_without_a_name_goes() -> None:
    text = program('R.match_cast(x, R.Tensor((n, 4), "float32"))', "return x")
    module = module_of(text)
    assert casts(module) == 1
    assert body(text) == ["return x"]


def test_a_block_that_loses_everything_goes() -> None:
    text = program(
        "y = R.nn.relu(x)",
        "with R.dataflow():",
        '    z = R.match_cast(y, R.Tensor((n, 4), "float32"))',
        "    R.output(z)",
        "w = R.nn.relu(z)",
        "return w",
    )
    assert body(text)[:4] == ["y = R.nn.relu(x)", "with R.dataflow():", "z = y", "R.output(z)"]


def test_a_variable_is_replaced_everywhere() -> None:
    text = program(
        'y = R.match_cast(x, R.Tensor((k, 4), "float32"))',
        'z: R.Tensor((k * 2, 2), "float32") = R.reshape(y, R.shape([k * 2, 2]))',
        "return z",
    )
    assert body(text) == [
        "y = x",
        'z: R.Tensor((n * 2, 2), dtype="float32") = R.reshape(y, R.shape([n * 2, 2]))',
        "return z",
    ]


def test_images_of_images() -> None:
    """A variable replaced by an expression over a variable that is itself replaced."""
    text = program(
        'y = R.match_cast(x, R.Tensor((m, 4), "float32"))',
        "s = R.shape([m + 1])",
        "R.match_cast(s, R.Shape([k]))",
        "t = R.shape([k * 2])",
        "return t",
    )
    assert body(text) == ["y = x", "s = R.shape([n + 1])", "t = R.shape([(n + 1) * 2])", "return t"]


def test_without_replacing_the_cast_stays() -> None:
    text = program('y = R.match_cast(x, R.Tensor((k, 4), "float32"))', "return y")
    kept = body(text, replace_variables=False)
    assert any("match_cast" in line for line in kept)
    assert not any("match_cast" in line for line in body(text))


@pytest.mark.parametrize(
    "lines",
    [
        ('y = R.match_cast(x, R.Tensor((4, 4), "float32"))',),  # n may be 4
        ('y = R.match_cast(x, R.Tensor((n, 5), "float32"))',),  # impossible: it has to fail
        ('y = R.match_cast(x, R.Tensor((n // n * n, 4), "float32"))',),  # fails for n = 0
        (
            'z = R.call_pure_packed("f", x, sinfo_args=R.Tensor((n,), "float32"))',
            'y = R.match_cast(z, R.Tensor((n,), "float32"))',  # "f" may not keep its word
        ),
        (
            'z: R.Tensor((n, n), "float32") = R.call_pure_packed("f", x, sinfo_args=R.Any)',
            'y = R.match_cast(z, R.Tensor((n, n), "float32"))',  # nobody checks the annotation
        ),
        (
            "z = R.nonzero(x)",
            'y = R.match_cast(z, R.Tensor((2, k), "int64"))',  # k stands for what nobody can write
        ),
    ],
)
def test_what_may_fail_or_binds_stays(lines: tuple[str, ...]) -> None:
    module = module_of(program(*lines, "return y"))
    assert eliminate(module) is module


def test_a_division_that_has_been_done_is_no_doubt() -> None:
    text = program(
        "s = R.shape([n // n])",
        "y = R.match_cast(s, R.Shape([n // n]))",
        "return y",
    )
    assert body(text)[1] == "y = s"


def test_functions_may_share_a_variable() -> None:
    """In generated modules, a cast in one function says nothing of another function's values."""
    cast = 'y = R.match_cast(x, R.Tensor((k, 4), "float32"))'
    first = module_of(program(cast, "s = R.shape([k])", "return s"))
    (gv, one), (_, other) = *first.functions.items(), *_parameter_named_k().functions.items()
    assert isinstance(one, ast.Function)
    assert isinstance(other, ast.Function)
    k = next(b.shape_vars[0] for b in bindings(one) if isinstance(b, ast.MatchCast))
    shared = _Renamed(other.shape_vars[0], k).function(other)
    shared = replace(shared, shape_vars=(k,))
    module = replace(first, functions={gv: one, ast.GlobalVar("other"): shared})
    text = print_module(eliminate(module))
    assert "s = R.shape([n])" in text
    assert "t = R.shape([k * 2])" in text


def _parameter_named_k() -> ast.IRModule:
    x = 'R.Tensor(("k",), "float32")'
    return module_of(program("t = R.shape([k * 2])", "return t", x=x))


class _Renamed(Rewriter):
    """One shape variable in place of another."""

    def __init__(self, old: tir.Var, new: tir.Var) -> None:
        super().__init__()
        self.images = {old: new}

    def prim_expr(self, expr: tir.PrimExpr) -> tir.PrimExpr:
        return substitute_prim(expr, self.images)


@pytest.mark.parametrize("name", CLEAN)
def test_the_result_is_a_program_without_new_diagnostics(name: str) -> None:
    found = report(name)
    modules = [eliminate(module) for module in found.modules]
    text = "\n".join(print_module(module) for module in modules)
    if all(new is old for new, old in zip(modules, found.modules, strict=True)):
        return
    again = check_text(text, name)
    printed = "\n".join(
        print_module(module) for module in found.modules
    )  # words of 2022 are translated
    before = Counter((d.code, d.severity) for d in check_text(printed, name).diagnostics)
    assert not Counter((d.code, d.severity) for d in again.diagnostics) - before
    for module, parsed in zip(modules, again.modules, strict=True):
        assert first_difference(module, parsed) is None


@pytest.mark.parametrize("name", CLEAN)
def test_once_is_enough(name: str) -> None:
    for module in report(name).modules:
        once = eliminate(module)
        assert eliminate(once) is once
        kept = [c for c in analyse(module) if c.kind == "cast" and c.status != "redundant"]
        assert casts(once) == len(kept)


CALLS = """\
@I.ir_module
class Module:
    @R.function(private=True)
    def helper(a: R.Tensor(("n", 4), "float32"), b: R.Tensor(("n",), "float32"), c: R.Tensor("float32")) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
        r: R.Tensor((n, 4), "float32") = R.nn.relu(a)
        return r

    @R.function
    def main(x: R.Tensor(("m", 4), "float32"), y: R.Tensor(("m",), "float32"), z: R.Object) -> R.Tensor(("m", 4), "float32"):
        m = T.int64()
        w: R.Tensor("float32") = R.match_cast(z, R.Tensor("float32"))
        first: R.Tensor((m, 4), "float32") = Module.helper(x, y, w)
        return first
"""


def by_subject(module: ast.IRModule) -> dict[tuple[str, str], DynamicCheck]:
    return {(c.function, c.subject): c for c in analyse(module)}


def test_a_plan_skips_what_all_calls_prove() -> None:
    module = module_of(CALLS)
    helper, main = module.functions.values()
    assert isinstance(helper, ast.Function)
    assert isinstance(main, ast.Function)
    found = plan(module)
    assert found.entries == {helper: frozenset({0, 1, 2})}
    assert found.returns == {helper, main}
    assert not found.casts
    checks = by_subject(module)
    assert checks["helper", "a"].status == "needed"  # it binds n
    assert checks["helper", "a"].reason == "dimension 0: it binds n"
    assert checks["helper", "b"].status == "redundant"
    assert checks["main", "x"].status == "needed"


def test_a_second_call_can_make_a_check_needed() -> None:
    other = CALLS.replace("(x, y, w)", "(x, y, w)").replace(
        "        return first\n", "        second = Module.helper(x, w, w)\n        return first\n"
    )
    checks = by_subject(module_of(other))
    assert checks["helper", "b"].status == "needed"
    assert checks["helper", "c"].status == "redundant"


def test_a_function_used_as_a_value_is_called_by_anyone() -> None:
    other = CALLS.replace(
        "        return first\n",
        "        R.call_pure_packed('f', Module.helper, sinfo_args=R.Any)\n        return first\n",
    )
    checks = by_subject(module_of(other))
    assert checks["helper", "b"].status == "needed"
    assert "used as a value" in checks["helper", "b"].reason


@pytest.mark.parametrize("name", ["", "w = "])
def test_what_a_removed_cast_bound_is_not_used(name: str) -> None:
    """One value is cast twice, and the second cast gets its length from the first."""
    text = program(
        f'{name}R.match_cast(x, R.Tensor((m,), "float32"))',
        'y = R.match_cast(x, R.Tensor((k,), "float32"))',
        'z = R.zeros(R.shape([k]), "float32")',
        "return z",
        x='R.Tensor("float32", ndim=1)',
    )
    left = body(text)
    kept = 'w = R.match_cast(x, R.Tensor((m,), dtype="float32"))'
    if name:
        assert left[-4:] == [
            kept,
            "y = x",
            'z = R.zeros(R.shape([m]), "float32")',
            "return z",
        ]
    else:
        assert left[-3].startswith("y = R.match_cast(x, R.Tensor((k,)")
    assert check_text(print_module(eliminate(module_of(text)))).ok
