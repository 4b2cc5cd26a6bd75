"""Branches, blocks, casts, calls of functions."""

from __future__ import annotations

import pytest

from rlx.grammar.nodes.dtype import BOOL
from rlx.semantics.machine import Configuration, environment, stack
from rlx.semantics.outcome import CheckFailed, Fault, OutOfFuel
from rlx.semantics.values import Closure, Opaque, Scalar, Tensor, TupleValue, Value
from tests.semantics.machine.running import ended, floats, program, returned, rules_of, run, value

FACTORIAL = """
@R.function
def main(k: R.Prim(value=n)) -> R.Prim("int64"):
    cls = M
    if R.prim_value(n < 1):
        r: R.Prim("int64") = R.prim_value(1)
    else:
        below = cls.main(R.prim_value(n - 1))
        r: R.Prim("int64") = cls.times(k, below)
    return r

@R.function(private=True)
def times(a: R.Prim(value=n), b: R.Prim(value=m)) -> R.Prim("int64"):
    return R.prim_value(n * m)
"""

DOWN = """
@R.function
def main(k: R.Prim(value=n)) -> R.Prim("int64"):
    cls = M
    if R.prim_value(n < 1):
        r: R.Prim("int64") = k
    else:
        r: R.Prim("int64") = cls.main(R.prim_value(n - 1))
    return r
"""


def number(found: Value) -> int | float:
    assert isinstance(found, Scalar)
    return found.value


def test_recursion() -> None:
    assert number(returned(FACTORIAL, 20)) == 2432902008176640000
    assert ended(FACTORIAL, 21).code == "E-prim-overflow"


def test_recursion_as_deep_as_one_likes() -> None:
    assert number(returned(DOWN, 30_000)) == 0


def test_fuel() -> None:
    end = run(DOWN, 1000, fuel=100)
    assert isinstance(end, OutOfFuel) and end.code == "E-fuel-left"
    assert end.configuration.frame.depth > 10


@pytest.mark.parametrize("condition", [Scalar(True, BOOL), Scalar(False, BOOL)])
def test_a_boxed_condition(condition: Scalar) -> None:
    text = '@R.function\ndef main(c: R.Prim("bool"), a: R.Any, b: R.Any) -> R.Any:\n'
    text += "    if c:\n        r = a\n    else:\n        r = b\n    return r"
    assert number(returned(text, condition, 1, 2)) == (1 if condition.value else 2)


def test_a_condition_in_a_tensor() -> None:
    import numpy as np

    text = "@R.function\ndef main(c: R.Any, a: R.Any, b: R.Any) -> R.Any:\n"
    text += "    if c:\n        r = a\n    else:\n        r = b\n    return r"
    assert number(returned(text, np.array(True), 1, 2)) == 1
    for wrong in (np.array([True]), np.array(1), 1, Scalar(1), Opaque([True])):
        end = ended(text, wrong, 1, 2)
        assert (type(end), end.code) == (Fault, "E-if-condition")


def test_the_steps_of_a_branch() -> None:
    """The annotation belongs to the last binding of each branch, so the branch binds its value."""
    assert rules_of(DOWN, 0) == ["E-prim", "E-if", "E-var", "E-seq"]
    assert rules_of(DOWN, 1) == [
        *("E-prim", "E-if", "E-prim", "E-call", "E-prim", "E-if", "E-var", "E-seq"),
        *("E-return", "E-seq"),
    ]


def test_scopes_end() -> None:
    text = """
@R.function
def main(x: R.Prim("bool")) -> R.Any:
    with R.dataflow():
        inner = R.prim_value(1)
        kept = (inner, x)
        R.output(kept)
    if x:
        local = R.prim_value(2)
        r = (local, kept)
    else:
        r = (x, kept)
    return r
"""
    seen: list[set[str]] = []
    for step in program(text).trace("main", [Scalar(True, BOOL)]):
        if isinstance(step, Configuration):
            seen.append({getattr(v, "name_hint", "") for v in environment(step)})
            assert len(list(stack(step))) == step.frame.depth + 1
    assert {"x", "inner"} in seen  # before `kept`
    assert {"x", "kept"} in seen  # behind the block
    assert {"x", "kept", "local"} in seen  # at the end of the branch
    assert seen[-1] == {"x", "kept", "r"}


def test_match_cast_binds() -> None:
    text = """
@R.function
def main(x: R.Any) -> R.Any:
    a, b = T.int64(), T.int64()
    y = R.match_cast(x, R.Tensor((a, a * b, b), "float32"))
    _ = R.match_cast(y, R.Tensor(ndim=3))
    return (y, R.shape([b, a]))
"""
    import numpy as np

    x = Tensor(np.zeros((2, 6, 3), np.float32))
    found = returned(text, x)
    assert isinstance(found, TupleValue)
    assert found.fields[0] is x and found.fields[1].values == (3, 2)  # type: ignore[attr-defined]
    for wrong, code in (
        (np.zeros((2, 5, 3), np.float32), "E-cast-dimension"),
        (np.zeros((2, 6), np.float32), "E-cast-rank"),
        (np.zeros((2, 6, 3), np.int32), "E-cast-dtype"),
        (7, "E-cast-kind"),
    ):
        end = ended(text, wrong)
        assert (type(end), end.rule, end.code) == (CheckFailed, "E-match-cast", code)


def test_arguments_are_checked_together() -> None:
    text = "@R.function\ndef main(x: R.Tensor((n * m,)), y: R.Tensor((n, m))) -> R.Shape([m, n]):\n"
    text += "    return R.shape([m, n])"
    import numpy as np

    assert returned(text, np.zeros(6), np.zeros((2, 3))).values == (3, 2)  # type: ignore[attr-defined]
    end = ended(text, np.zeros(5), np.zeros((2, 3)))
    assert (type(end), end.rule, end.code) == (CheckFailed, "E-call", "E-cast-dimension")
    assert "argument 0" in end.message


def test_a_shape_held_by_a_variable() -> None:
    text = """
@R.function
def main(s: R.Shape(ndim=2), x: R.Any) -> R.Any:
    y = R.match_cast(x, R.Tensor(s))
    return y
"""
    import numpy as np

    assert returned(text, [2, 3], np.zeros((2, 3))).shape == (2, 3)  # type: ignore[attr-defined]
    assert ended(text, [2, 3], np.zeros((3, 2))).code == "E-cast-dimension"


CLOSURES = """
@R.function
def main(x: R.Any, s: R.Shape([n])) -> R.Any:
    a = (x, x)
    @R.function
    def inner(y: R.Any) -> R.Any:
        k = R.prim_value(n * 2)
        return (a, y, k)
    @R.function
    def count(z: R.Prim("int64"), t: R.Prim(value=m)) -> R.Prim("int64"):
        if R.prim_value(m < 1):
            r: R.Prim("int64") = z
        else:
            r: R.Prim("int64") = count(R.prim_value(m), R.prim_value(m - 1))
        return r
    b = inner(x)
    c = count(R.prim_value(7), R.prim_value(3))
    return (b, c, inner)
"""


def test_closures_capture_by_reference() -> None:
    x = Tensor(floats(1))
    found = returned(CLOSURES, x, [5])
    assert isinstance(found, TupleValue)
    b, c, inner = found.fields
    assert isinstance(b, TupleValue) and isinstance(inner, Closure)
    assert b.fields[0].fields == (x, x) and b.fields[1] is x  # type: ignore[attr-defined]
    assert number(b.fields[2]) == 10
    assert number(c) == 1
    assert 5 in inner.captured


def test_a_closure_captures_what_its_annotations_mention() -> None:
    text = """
@R.function
def main(s: R.Shape(ndim=2), x: R.Any) -> R.Any:
    @R.function
    def inner(y: R.Any) -> R.Any:
        z = R.match_cast(y, R.Tensor(s))
        return z
    return inner(x)
"""
    import numpy as np

    assert returned(text, [2, 3], np.zeros((2, 3))).shape == (2, 3)  # type: ignore[attr-defined]
    assert ended(text, [2, 3], np.zeros((3, 2))).code == "E-cast-dimension"


def test_a_call_needs_a_function() -> None:
    end = ended("@R.function\ndef main(f: R.Any) -> R.Any:\n    return f(f)", 3)
    assert (type(end), end.code) == (Fault, "E-call-callee")
    assert [rule for rule, _ in end.considered] == ["E-call", "E-call-packed", "E-call-prim-func"]
    end = ended(
        "@R.function\ndef main(x: R.Any) -> R.Any:\n    cls = M\n    return cls.main(x, x)", 3
    )
    assert (type(end), end.code) == (Fault, "E-call-arity")
    assert ended(DOWN).code == "E-call-arity"


def test_where_the_object_at_fault_was_made() -> None:
    text = """
@R.function
def main(x: R.Any) -> R.Any:
    cls = M
    made = (x, x)
    return cls.inner(made)

@R.function(private=True)
def inner(y: R.Any) -> R.Any:
    return y[5]
"""
    from tests.semantics.machine.running import module

    made = module(text)
    end = ended(text, 1)
    binding = next(iter(made.functions.values())).body.blocks[0].bindings[0]  # type: ignore[union-attr]
    assert end.origin == (binding.value_span or binding.span)
    assert end.span is not None and end.span[0] > end.origin[0]  # type: ignore[index]


def test_runs_are_determined() -> None:
    ready = program(FACTORIAL)
    one, two = (
        [step.rule for step in ready.trace("main", [value(6)]) if isinstance(step, Configuration)]
        for _ in range(2)
    )
    assert one == two
    with pytest.raises(KeyError):
        ready.run("nowhere", [])
    for limit in (1, 3):
        assert len(list(ready.trace("main", [value(6)], limit))) == limit
