"""The value of each kind of expression."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.grammar.nodes.dtype import BOOL
from rlx.semantics.outcome import Fault, IllFormed
from rlx.semantics.values import (
    Closure,
    Packed,
    PrimFuncValue,
    Scalar,
    Tensor,
    TupleValue,
)
from tests.semantics.machine.running import ended, floats, program, returned, rules_of, value

ANY = "@R.function\ndef main(x: R.Any) -> R.Any:\n    "
SIZED = "@R.function\ndef main(s: R.Shape([n, m])) -> R.Any:\n    "


def test_a_constant_is_a_new_tensor_each_time() -> None:
    text = ANY + 'a = R.const([1, 2], "int32")\n    b = R.const([1, 2], "int32")\n    return (a, b)'
    pair = returned(text, 0)
    assert isinstance(pair, TupleValue)
    a, b = pair.fields
    assert isinstance(a, Tensor) and isinstance(b, Tensor)
    assert a.data is not b.data
    assert a.data.tolist() == b.data.tolist() == [1, 2] and a.dtype == "int32"
    ready = program(text)
    first, second = (ready.run("main", [value(0)]).value for _ in range(2))  # type: ignore[attr-defined]
    assert first.fields[0].data is not second.fields[0].data


def test_values_are_passed_by_reference() -> None:
    x = Tensor(floats(1, 2))
    assert returned(ANY + "y = x\n    return y", x) is x
    pair = returned(ANY + "y = (x, (x,))\n    z = y[1]\n    return (z[0], y[0])", x)
    assert isinstance(pair, TupleValue) and pair.fields == (x, x)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("R.prim_value(n * m - 1)", 5),
        ("R.prim_value(n // m)", 0),
        ("R.prim_value((0 - n) // m)", -1),
        ("R.prim_value((0 - n) % m)", 1),
        ("R.prim_value(T.truncdiv(0 - n, m))", 0),
        ("R.prim_value(T.truncmod(0 - n, m))", -2),
        ("R.prim_value(T.min(n, m))", 2),
        ("R.prim_value(T.max(n, m))", 3),
        ("R.prim_value(n < m)", True),
        ("R.prim_value(n >= m or m == 3)", True),
        ("R.prim_value(not (n != 2 and m <= 3))", True),
        ("R.prim_value(T.if_then_else(n > 5, n // 0, m))", 3),
        ("R.prim_value(n > 5 and n // 0 == 1)", False),
        ("R.prim_value(T.Select(n == 2, n, m))", 2),
        ('R.prim_value(T.Cast("int8", n + 255))', 1),
        ("R.prim_value(T.float32(0.5))", 0.5),
        ("R.prim_value(T.float32(0.1) + T.float32(0.2))", float(np.float32(0.1) + np.float32(0.2))),
    ],
)
def test_scalars(expr: str, expected: object) -> None:
    found = returned(SIZED + f"return {expr}", [2, 3])
    assert isinstance(found, Scalar)
    assert found.value == expected and type(found.value) is type(expected)
    assert (found.dtype is BOOL) == isinstance(expected, bool)


@pytest.mark.parametrize("count", [16, 31, 32, 33, 64, 200])
def test_a_scalar_of_many_operations(count: int) -> None:
    found = returned(SIZED + f"return R.prim_value({' + '.join(['n'] * count)})", [2, 3])
    assert isinstance(found, Scalar) and found.value == 2 * count


def test_sums_as_long_as_one_likes() -> None:
    total = " + ".join(["n"] * 10_000)
    found = returned(SIZED + f"return R.prim_value({total})", [2, 3])
    assert isinstance(found, Scalar) and found.value == 20_000
    end = ended(SIZED + f"return R.prim_value({total} + n // (m - 3))", [2, 3])
    assert end.code == "E-prim-divide"
    end = ended(SIZED + f"return R.prim_value({total} + 9223372036854775807)", [2, 3])
    assert end.code == "E-prim-overflow"


def test_operands_are_evaluated_from_left_to_right() -> None:
    text = SIZED + 'return (R.const(1, "int32"), R.prim_value(n), (R.shape([n]), R.str("x")))'
    assert rules_of(text, [2, 3]) == [
        *("E-constant", "E-prim", "E-shape", "E-string", "E-tuple", "E-tuple"),
    ]
    both = SIZED + "return (R.prim_value(n // (m - 3)), R.prim_value(9223372036854775807 + n))"
    assert ended(both, [2, 3]).code == "E-prim-divide"


def test_a_variable_of_elsewhere() -> None:
    text = """
@R.function
def main(x: R.Any) -> R.Any:
    with R.dataflow():
        a = R.prim_value(1)
        b = R.prim_value(2)
        R.output(b)
    return x
"""
    from rlx.grammar.nodes.node import replace
    from rlx.semantics.machine import load
    from tests.semantics.machine.running import module

    made = module(text)
    ((name, function),) = made.functions.items()
    hidden = function.body.blocks[0].bindings[0].var  # type: ignore[union-attr]
    body = replace(function.body, body=hidden)
    end = load(replace(made, functions={name: replace(function, body=body)})).run(
        "main", [value(1)]
    )
    assert (type(end), end.code) == (IllFormed, "E-var-bound")  # type: ignore[attr-defined]


def test_functions_as_values() -> None:
    text = """
@R.function
def main(x: R.Any) -> R.Any:
    cls = M
    f = R.ExternFunc("outside.f")
    return (cls.main, cls.kernel, f)

@T.prim_func(private=True)
def kernel(x: T.Buffer((4,), "float32")):
    T.evaluate(0)
"""
    found = returned(text, 0, outside__f=lambda: None)
    assert isinstance(found, TupleValue)
    assert [type(f) for f in found.fields] == [Closure, PrimFuncValue, Packed]
    end = ended(text, 0)
    assert (type(end), end.code) == (Fault, "E-extern-registered")
