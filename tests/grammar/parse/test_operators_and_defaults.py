"""Python's operators on values of Relax: what TVM reads is read, what it refuses is one error that says what to write."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.read.parser import parse

HEAD = """@R.function
def main(x: R.Tensor((2, 2), "float32"), y: R.Tensor((2, 2), "float32"), p: R.Tensor((), "bool"), n: T.int64, m: T.int64):
"""


def found(value: str) -> tuple[Diagnostic, ...]:
    return check_text(f"{HEAD}    z = {value}\n    return z\n").diagnostics


def bound(value: str) -> ast.Expr:
    parsed = parse(f"{HEAD}    z = {value}\n    return z\n")
    assert not parsed.diagnostics
    [function] = parsed.modules[0].functions.values()
    assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
    [binding] = function.body.blocks[0].bindings
    assert isinstance(binding, ast.VarBinding)
    return binding.value


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">="])
def test_what_works_on_tensors(operator: str) -> None:
    assert not found(f"x {operator} y")


@pytest.mark.parametrize(
    ("value", "help"),
    [
        ("x @ y", "write R.matmul(x, y)"),
        ("x == y", "write R.equal(x, y)"),
        ("R.add(x, y) != y", "write R.not_equal(R.add(x, y), y)"),
        ("x & y", "write R.bitwise_and(x, y)"),
        ("x << y", "write R.left_shift(x, y)"),
        ("p and p", "write R.logical_and(p, p)"),
        ("R.where(p or p, x, y)", "write R.logical_or(p, p)"),
        ("not p", "write R.logical_not(p)"),
        ("~p", "write R.bitwise_not(p)"),
        ("x * 2", 'write R.const(2, "float32")'),
        ("1.5 * x", 'write R.const(1.5, "float32")'),
        ("R.add(x, y) + True", "write R.const(True)"),
        ("x < y < x", None),
        ("n / m", None),
        ("n ** m", None),
    ],
)
def test_what_does_not(value: str, help: str | None) -> None:
    [error] = found(value)
    assert (error.code, error.severity, error.help) == ("PARSE", "error", help)


@pytest.mark.parametrize(
    "value", ["R.add(n, m)", "n == m", "n & m", "n < m < 3", "not n == m", "n < m and n < 3", "-n"]
)
def test_scalars_are_arithmetic(value: str) -> None:
    assert not [d for d in found(value) if d.code == "PARSE"]


def test_a_value_that_may_be_a_scalar_is_not_refused() -> None:
    text = """
@I.ir_module
class M:
    @R.function
    def f(n: T.int64) -> T.int64:
        return n

    @R.function
    def main(n: T.int64, x: R.Tensor):
        a = M.f(n)
        t = (n, x)
        b = t[0]
        return (a == b, b * 2)
"""
    assert not parse(text).diagnostics


def test_comparisons_are_chained_as_in_python() -> None:
    value = bound("n < m <= 3 < n + m")
    assert isinstance(value, ast.PrimValue) and isinstance(value.value, tir.And)
    first, last = value.value.a, value.value.b
    assert (
        isinstance(first, tir.And) and isinstance(first.a, tir.LT) and isinstance(first.b, tir.LE)
    )
    assert isinstance(last, tir.LT) and isinstance(last.b, tir.Add)
    negated = bound("not n < m < 3 or n == 2")
    assert isinstance(negated, ast.PrimValue) and isinstance(negated.value, tir.Or)
    assert isinstance(negated.value.a, tir.Not) and isinstance(negated.value.a.a, tir.And)


@pytest.mark.parametrize(("value", "field"), [("(x, y)[-1]", 1), ("(x, y, p)[-3]", 0)])
def test_a_tuple_that_is_written_out_is_indexed_from_its_end(value: str, field: int) -> None:
    item = bound(value)
    assert isinstance(item, ast.TupleGetItem) and item.index == field
    assert not found(value)


@pytest.mark.parametrize("value", ["(x, y)[2]", "(x, y)[-3]"])
def test_beyond_its_ends_there_is_nothing(value: str) -> None:
    assert [d.code for d in found(value)] == ["D12-index"]


@pytest.mark.parametrize(
    "text",
    [
        'def main(x: R.Tensor((2,), "float32") = None):\n    return x\n',
        'def main(x: R.Tensor((2,), "float32"), n: T.int64 = 3):\n    return x\n',
        'def main(x: R.Tensor((2,), "float32"), y: R.Tensor = R.const(1)):\n    return x\n',
    ],
)
def test_default_values_are_read_past(text: str) -> None:
    parsed = parse("@R.function\n" + text)
    assert [(d.code, d.severity) for d in parsed.diagnostics] == [("PARSE-default", "note")]
    [function] = parsed.modules[0].functions.values()
    assert isinstance(function, ast.Function) and len(function.params) == text.count(
        ": R."
    ) + text.count(": T.")


def test_a_parameter_without_one_comes_first() -> None:
    parsed = parse("@R.function\ndef main(x: R.Tensor = None, y: R.Tensor):\n    return x\n")
    assert [d.code for d in parsed.diagnostics if d.is_error] == ["PARSE"]
