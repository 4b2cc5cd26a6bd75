"""D09 and D10: branches, sequences, what outlives them."""

from __future__ import annotations

import pytest

from rlx.grammar.nodes import ast

from .programs import main

BRANCHES = """
if c:
    y = R.exp(x)
else:
    y = {other}
return y
"""


def branches(condition: str, other: str = "x", x: str = 'R.Tensor((4,), "float32")') -> str:
    return f"(x: {x}, c: {condition})" + "|" + BRANCHES.format(other=other)


@pytest.mark.parametrize("value", ["n", "n + 1", "2.5"])
def test_a_boolean_with_a_value_of_another_type_is_no_fact(value: str) -> None:
    """A value that is no condition is an error of the annotation (WF22); the branches know nothing of it."""
    derived = main(
        *branches(f'R.Prim("bool", {value})', x='R.Tensor(("n",), "float32")').split("|")
    )
    assert derived.codes == []


@pytest.mark.parametrize("condition", ['R.Tensor((), "bool")', 'R.Prim("bool")'])
def test_a_boolean_is_a_condition(condition: str) -> None:
    derived = main(*branches(condition).split("|"))
    assert derived.codes == []
    assert derived.shown("y") == "Tensor((4,), float32)"


@pytest.mark.parametrize(
    "condition",
    [
        'R.Tensor((), "float32")',
        'R.Tensor((1,), "bool")',
        "R.Tensor(ndim=1)",
        'R.Prim("int64")',
        'R.Prim("uint1")',
        "R.Shape([1])",
        'R.Tuple(R.Tensor((), "bool"))',
    ],
)
def test_something_else_is_no_condition(condition: str) -> None:
    derived = main(*branches(condition).split("|"))
    assert derived.codes == ["error D09-condition"]
    assert derived.at(derived.only) == "c"


@pytest.mark.parametrize(
    "written", ["0", "-1", "1.5", "n", "n + 1", "(n, n)", "[1]", "x", "R.const(1)", "T.uint8(1)"]
)
def test_what_is_written_may_be_no_condition(written: str) -> None:
    signature, body = branches('R.Prim("bool"), n: R.Prim("int64")').split("|")
    derived = main(signature, body.replace("if c:", f"if {written}:"))
    assert derived.codes == ["error D09-condition"]
    assert derived.at(derived.only) == written


@pytest.mark.parametrize(
    "condition", ["R.Object", "R.Tensor", 'R.Tensor(dtype="bool")', "R.Tensor(ndim=0)"]
)
def test_something_that_may_be_a_condition(condition: str) -> None:
    derived = main(*branches(condition).split("|"))
    assert derived.codes == ["warning D09-condition"]
    assert derived.only.help == 'check it at run time: R.match_cast(c, R.Tensor((), dtype="bool"))'


@pytest.mark.parametrize(
    ("other", "shown"),
    [
        ("x", "Tensor((4,), float32)"),
        ("R.reshape(x, R.shape([2, 2]))", "Tensor(float32)"),
        ('R.astype(x, dtype="int32")', "Tensor((4,))"),
        ("R.concat((x, x), axis=0)", "Tensor(float32, ndim=1)"),
        ("R.shape([4])", "Object"),
    ],
)
def test_a_branch_is_the_least_upper_bound(other: str, shown: str) -> None:
    derived = main(*branches('R.Tensor((), "bool")', other).split("|"))
    assert derived.shown("y") == shown


def test_a_condition_on_shapes_is_known_in_its_branches() -> None:
    derived = main(
        '(x: R.Tensor(("n",), "float32"))',
        """
        if R.prim_value(n == 4):
            a: R.Tensor((4,), "float32") = x
            y = a
        else:
            y = R.zeros(R.shape([4]), dtype="float32")
        return y
        """,
    )
    assert derived.codes == []


def test_what_a_branch_binds_ends_with_it() -> None:
    derived = main(
        '(x: R.Tensor(dtype="float32"), c: R.Tensor((), "bool"))',
        """
        if c:
            k = T.int64()
            a = R.match_cast(x, R.Tensor((k,), "float32"))
            y = a
        else:
            k = T.int64()
            b = R.match_cast(x, R.Tensor((k,), "float32"))
            y = b
        return y
        """,
    )
    assert derived.codes == []
    assert derived.shown("a") == "Tensor((k,), float32)"
    assert derived.shown("y") == "Tensor(float32, ndim=1)"


def test_a_shape_variable_ends_with_the_function_that_casts() -> None:
    derived = main(
        '(x: R.Tensor(("n", 4), "float32"), s: R.Shape(ndim=1))',
        """
        k = T.int64()
        t = R.match_cast(s, R.Shape([k]))
        p = R.prim_value(k + n)
        return (x, t, p)
        """,
    )
    assert derived.codes == []
    result = "Tuple(Tensor((n, 4), float32), Shape(ndim=1), Prim(int64))"
    assert derived.shown("main").endswith(f"-> {result})")


def test_a_parameter_that_holds_a_shape_does_not_leak() -> None:
    derived = main(
        '(s: R.Shape(ndim=2), x: R.Tensor(s, "float32"))',
        "return x",
    )
    assert derived.shown("main").endswith("-> Tensor((s[0], s[1]), float32))")


def test_a_variable_that_holds_a_shape_ends_with_its_branch() -> None:
    branch = (
        's: R.Shape(ndim=2) = R.shape_of(x)\n    y = R.match_cast(x, R.Tensor(s, dtype="float32"))'
    )
    derived = main(
        '(x: R.Tensor(dtype="float32", ndim=2), c: R.Tensor((), "bool"))',
        f"if c:\n    {branch}\nelse:\n    y = x\nreturn y",
    )
    assert derived.codes == []
    assert derived.shown("y") == "Tensor(float32, ndim=2)"
    (branches,) = (e for e in derived.derivation.info if isinstance(e, ast.If))
    info = derived.derivation.info[branches.true_branch]
    assert isinstance(info, ast.TensorStructInfo)
    assert info.shape is None
