"""Programs that are the same, however they are written."""

from __future__ import annotations

import pytest

import rlx
from rlx.grammar.nodes import ast
from rlx.transform import assert_structural_equal, structural_equal

HEAD = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32"), c: R.Tensor((), "bool")):
"""


def program(body: str) -> rlx.IRModule:
    """A module whose function has these statements."""
    return rlx.parse(HEAD + "".join(f"        {line}\n" for line in body.strip().splitlines()))


SAME = {
    "names": ("a = R.abs(x)\nreturn a", "b = R.abs(x)\nreturn b"),
    "annotations": (
        "a = R.abs(x)\nreturn a",
        'a: R.Tensor((1, 4, 8, 8), "float32") = R.abs(x)\nreturn a',
    ),
    "nested calls": ("a = R.abs(R.exp(x))\nreturn a", "b = R.exp(x)\na = R.abs(b)\nreturn a"),
    "keywords": (
        "a = R.sum(x, [0], True)\nreturn a",
        "a = R.sum(x, keepdims=True, axis=0)\nreturn a",
    ),
    "defaults": ("a = R.nn.softmax(x)\nreturn a", "a = R.nn.softmax(x, axis=-1)\nreturn a"),
    "windows": (
        "a = R.nn.conv2d(x, w, strides=2, padding=1)\nreturn a",
        'a = R.nn.conv2d(x, w, [2, 2], [1, 1, 1, 1], data_layout="NCHW", out_layout="NCHW")\nreturn a',
    ),
    "a length": (
        "a = R.reshape(x, R.shape([4, -1]))\nreturn a",
        "a = R.reshape(x, R.shape([4, 64]))\nreturn a",
    ),
    "dimensions": (
        "n = T.int64()\na = R.match_cast(x, R.Tensor((1, n + n, 8, n + 2 - 1)))\nreturn a",
        "m = T.int64()\na = R.match_cast(x, R.Tensor((1, m * 2, 8, 1 + m)))\nreturn a",
    ),
    "constants": (
        "a = R.add(x, R.const(1, 'float32'))\nreturn a",
        "a = R.add(x, R.const(1.0))\nreturn a",
    ),
    "copies at the ends of branches": (
        "if c:\n    a = R.abs(x)\nelse:\n    a = R.exp(x)\nreturn a",
        "if c:\n    p = R.abs(x)\n    a = p\nelse:\n    a = R.exp(x)\nreturn a",
    ),
}
DIFFERENT = {
    "operands": ("a = R.add(x, w)\nreturn a", "a = R.add(w, x)\nreturn a"),
    "attributes": ("a = R.sum(x, 0)\nreturn a", "a = R.sum(x, 1)\nreturn a"),
    "sections and places": ("a = R.split(x, 1)\nreturn a", "a = R.split(x, [1])\nreturn a"),
    "repeats": ("a = R.tile(x, 2)\nreturn a", "a = R.tile(x, [2, 2])\nreturn a"),
    "paddings": (
        "a = R.nn.conv2d(x, w, padding=[1, 2])\nreturn a",
        "a = R.nn.conv2d(x, w, padding=[1, 2, 2, 1])\nreturn a",
    ),
    "values": ("a = R.add(x, R.const(1.0))\nreturn a", "a = R.add(x, R.const(2.0))\nreturn a"),
    "less precise annotations": ("a = R.abs(x)\nreturn a", "a: R.Tensor = R.abs(x)\nreturn a"),
    "blocks": (
        "a = R.abs(x)\nreturn a",
        "with R.dataflow():\n    a = R.abs(x)\n    R.output(a)\nreturn a",
    ),
    "unused values": ("a = R.abs(x)\nreturn a", "b = R.exp(x)\na = R.abs(x)\nreturn a"),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_programs_that_are_the_same(one: str, other: str) -> None:
    assert_structural_equal(program(one), program(other))
    assert structural_equal(program(other)["main"], program(one)["main"])


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_programs_that_are_not(one: str, other: str) -> None:
    assert not structural_equal(program(other), program(one))
    with pytest.raises(AssertionError, match=r" (is|are) not "):
        assert_structural_equal(program(one)["main"], program(other)["main"])


def test_parts_of_programs() -> None:
    x, y = rlx.Var("x", 'R.Tensor(("n",), "float32")'), rlx.Var("x", 'R.Tensor(("n",), "float32")')
    assert structural_equal(rlx.op.sum(x, 0), rlx.op.sum(x, axis=[0], keepdims=False))
    assert not structural_equal(rlx.op.sum(x, 0), rlx.op.sum(y, 0))
    assert x.struct_info is not None and y.struct_info is not None
    assert structural_equal(x.struct_info, y.struct_info)


def test_what_can_be_compared() -> None:
    module = program("return x")
    with pytest.raises(
        rlx.MisuseError, match="expected a module, a function or a part of one, found str"
    ):
        structural_equal(module, "x")  # type: ignore[arg-type]
    with pytest.raises(rlx.MisuseError, match="two modules, or two functions"):
        structural_equal(module, module["main"])


def test_parts_of_functions_are_compared_too() -> None:
    """Blocks and bindings; variables that are not bound are paired on request."""
    x, y = rlx.Var("x", ["n", 4], "float32"), rlx.Var("y", ["n", 4], "float32")

    def block(name: str, of: ast.Var) -> ast.BindingBlock:
        var = rlx.Var(name)
        first = ast.VarBinding(var, rlx.op.add(of, of))
        return ast.BindingBlock((first, ast.VarBinding(rlx.Var("r"), rlx.op.exp(var))))

    assert structural_equal(block("a", x), block("b", x))
    assert not structural_equal(block("a", x), block("a", y))
    assert structural_equal(block("a", x), block("a", y), map_free_vars=True)
    assert structural_equal(block("a", x).bindings[0], block("b", x).bindings[0])
    assert not structural_equal(rlx.op.add(x, x), rlx.op.add(x, y), map_free_vars=True)
