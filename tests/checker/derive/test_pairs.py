"""Minimal pairs: two programs that differ in one thing, of which one is refused, warned of, or known better."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast
from rlx.grammar.print.printer import show


def codes(text: str) -> list[str]:
    """Severity and code of each diagnostic."""
    return [f"{d.severity} {d.code}" for d in check_text(text, "pairs.rlx").diagnostics]


def shown(text: str, name: str) -> str:
    """The struct info of the last variable of that name."""
    report = check_text(text, "pairs.rlx")
    found = [
        info
        for node, info in report.info.items()
        if isinstance(node, ast.Var) and node.name_hint == name
    ]
    return show(found[-1])


def function(params: str, body: str, head: str = "@R.function") -> str:
    """A function that returns ``y``."""
    lines = "\n".join("    " + line for line in body.splitlines())
    return f"{head}\ndef main({params}):\n{lines}\n    return y\n"


@pytest.mark.parametrize(
    ("params", "body", "expected"),
    [
        ('x: R.Tensor[_, "f32"]', "y = R.match_shape(x, (n, m))", "Tensor((n, m), float32)"),
        (
            'x: R.Tensor[_, "f32"]',
            "a = R.exp(x)\ny = R.match_shape(a, (n, m))",
            "Tensor((n, m), float32)",
        ),
        ("x: R.Tensor", "s = R.shape_of(x)\ny = R.match_shape(s, (n, m))", "Shape((n, m))"),
        ("x: R.Tensor", "y = R.match_shape(x.shape, (n, m))", "Shape((n, m))"),
        (
            "t: R.Tuple(R.Shape, R.Tensor)",
            "a = t[0]\ny = R.match_shape(a, (n, m))",
            "Shape((n, m))",
        ),
        ("t: R.Tuple(R.Shape, R.Tensor)", "y = R.match_shape(t[1], (n, m))", "Tensor((n, m))"),
        ("o: R.Object", "y: R.Shape = R.match_shape(o, (n, m))", "Shape"),
        ("o: R.Object", "y = R.match_shape(o, (n, m))", "Tensor((n, m))"),
    ],
)
def test_a_match_of_shapes_is_decided_by_the_value(params: str, body: str, expected: str) -> None:
    text = function(params, body)
    assert codes(text) == []
    assert shown(text, "y") == expected


def test_a_match_of_shapes_keeps_the_element_type() -> None:
    body = 'y: R.Tensor[(n,), "int8"] = R.match_shape(x, (n,))'
    assert codes(function('x: R.Tensor[_, "f32"]', body)) == ["error D11-cast-annotation"]
    assert codes(function("x: R.Tensor[_, _]", body)) == []


def test_each_unknown_dimension_is_another() -> None:
    text = function("x: R.Tensor[(_, _)], z: R.Tensor[(_, 4)]", "y = R.exp(z)")
    report = check_text(text, "pairs.rlx")
    (function_,) = report.modules[0].functions.values()
    assert isinstance(function_, ast.Function)
    assert len(function_.shape_vars) == 3
    call = text + (
        '@R.function\ndef other(a: R.Tensor((2, 3), "float32"), b: R.Tensor((5, 4), "float32")):\n'
        "    c = main(a, b)\n    return c\n"
    )
    assert codes(call) == []
    assert codes(call.replace("(5, 4)", "(5, 5)")) == ["error D14-argument"]


def test_an_unknown_dimension_outside_of_a_signature_is_a_rank() -> None:
    text = function('x: R.Tensor[(n, 4), "f32"]', 'y: R.Tensor[(_, _), "f32"] = R.exp(x)')
    assert codes(text) == []
    assert shown(text, "y") == "Tensor(float32, ndim=2)"
    assert codes(text.replace("(_, _)", "(_,)")) == ["error D11-annotation"]


SHADOWED = """
@R.function
def main(x: R.Tensor((), "float32")) -> R.Tensor({shape}, "float32"):
    with R.dataflow():
        x = R.reshape(x, (1,))
        y = R.sin(x)
        R.output({outputs})
    return x
"""


@pytest.mark.parametrize(
    ("shape", "outputs", "expected"),
    [
        ("()", "y", []),
        ("(1,)", "y", ["error D15-result"]),
        ("(1,)", "x", []),
        ("()", "x", ["error D15-result"]),
    ],
)
def test_a_dataflow_variable_hides_a_name_to_the_end_of_its_block(
    shape: str, outputs: str, expected: list[str]
) -> None:
    assert codes(SHADOWED.format(shape=shape, outputs=outputs)) == expected


PURE = """
@R.function
def main(t: R.Tensor((4,), "float32"), o: {given}) -> R.Object:
    g = R.match_cast(o, {target})
    with R.dataflow():
        y = g(t)
        R.output(y)
    return y
"""


@pytest.mark.parametrize(
    ("given", "target", "expected"),
    [
        ("R.Object", "R.Callable(ret=R.Object, purity=True)", ["error D14-impure"]),
        ("R.Object", "R.Callable((R.Object,), R.Object, True)", []),
        (
            "R.Callable(ret=R.Object, purity=True)",
            "R.Callable(ret=R.Object, purity=True)",
            [],
        ),
        (
            "R.Callable(ret=R.Object, purity=False)",
            "R.Callable(ret=R.Object, purity=True)",
            ["error D14-impure"],
        ),
    ],
)
def test_a_cast_makes_no_packed_function_pure(given: str, target: str, expected: list[str]) -> None:
    found = codes(PURE.format(given=given, target=target))
    assert [c for c in found if c.startswith("error")] == expected


X = 'x: R.Tensor((4,), "float32")'


@pytest.mark.parametrize(
    ("params", "body", "expected"),
    [
        (f'{X}, z: R.Tensor((4,), "int8")', "y = R.less(x, z)", []),
        (f'{X}, z: R.Tensor((4,), "int8")', "y = R.add(x, z)", ["error OBL-agree-dtype"]),
        (f"{X}, {X}", "y = x", ["error PARSE"]),
        ("f: R.Callable((R.Object,), R.Object)", "y = f", []),
        ('f: R.Callable((R.Object,), R.Object, True, "default")', "y = f", ["error WF17-both"]),
        ("p: T.float32", "y = p", []),
        ("p: T.float32x4", "y = p", ["error WF20-lanes"]),
        ('p: R.Prim("bool")', "y = p", []),
        ('p: R.Prim("handle")', "y = p", ["error WF19-dtype"]),
        ("", "y = R.prim_value(T.broadcast(T.int32(1), 4))", ["error WF18-lanes"]),
        ('p: R.Tensor((4,), "void")', "y = p", []),
        ('p: R.Tensor((4,), "handle")', "y = p", ["error WF20-handle"]),
        ("", 'y = R.zeros((4,), "float32x4")', ["error D14-argument"]),
        ("", 'y = R.zeros((4,), "handle")', ["error D14-argument"]),
        ('x: R.Tensor((4,), "float8_e4m3fn")', "y = x", []),
        ('x: R.Tensor((4,), "float8")', "y = x", ["error WF20-bits"]),
        ('x: R.Tensor((4,), "bfloat16")', "y = x", []),
        ('x: R.Tensor((4,), "bfloat32")', "y = x", ["error WF20-bits"]),
        ('x: R.Tensor((4,), "uint1")', "y = x", []),
        (X, "y = R.exp(x, sinfo_args=R.Object)", ["error D14-argument"]),
    ],
)
def test_types_and_parameters(params: str, body: str, expected: list[str]) -> None:
    assert codes(function(params, body)) == expected


def test_a_module_without_an_entry_is_warned_of() -> None:
    lines = function(X, "y = x", "@R.function(private=True)").splitlines()
    text = "\n".join(["@I.ir_module", "class M:", *("    " + line for line in lines), ""])
    assert codes(text) == ["warning WF12-entry"]
    assert codes(text.replace("(private=True)", "")) == []
