"""Shapes across functions: the documents' programs, before and after."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import numpy as np
import pytest

import rlx
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.equal import first_difference
from rlx.transform.shapes.deduce import deduce_shapes
from rlx.transform.shapes.outline import outline
from rlx.transform.shapes.propagate import propagate_shapes


def module(text: str) -> IRModule:
    lines = "\n".join(f"    {line}" if line else "" for line in text.strip().splitlines())
    return rlx.parse(f"@I.ir_module\nclass Module:\n{lines}\n")


def same(found: IRModule, text: str) -> None:
    assert first_difference(found, module(text)) is None, rlx.show(found)
    assert rlx.check(found).ok


BEFORE = """
@R.function
def main(x: R.Tensor, y: R.Tensor(("m", "n"), "float32")) -> R.Tensor(("m", "n"), "float32"):
    m = T.int64()
    n = T.int64()
    with R.dataflow():
        lv0: R.Tensor = R.log(x)
        gv0: R.Tensor((m, n), "float32") = R.add(lv0, y)
        R.output(gv0)
    return gv0
"""
AFTER = BEFORE.replace("x: R.Tensor,", 'x: R.Tensor(("m", "n"), "float32"),').replace(
    "lv0: R.Tensor =", 'lv0: R.Tensor((m, n), "float32") ='
)


def test_the_documents_before_becomes_after() -> None:
    same(deduce_shapes(module(BEFORE)), AFTER)


def test_what_may_broadcast_is_not_deduced() -> None:
    found = deduce_shapes(module(BEFORE), broadcast=True)
    same(
        found,
        AFTER.replace('R.Tensor(("m", "n"), "float32"), y', 'R.Tensor("float32"), y').replace(
            'lv0: R.Tensor((m, n), "float32")', 'lv0: R.Tensor("float32")'
        ),
    )


def test_other_values_are_cast() -> None:
    text = """
@R.function
def main(y: R.Tensor((4, 2), "float32")) -> R.Tensor((4, 2), "float32"):
    a: R.Object = R.call_pure_packed("f", y, sinfo_args=R.Tensor("float32"))
    t: R.Tensor("float32") = R.call_pure_packed("f", y, sinfo_args=R.Tensor("float32"))
    u = R.exp(t)
    v: R.Tensor((4, 2), "float32") = R.ewise_fma(u, y, y)
    return v
"""
    shown = rlx.show(deduce_shapes(module(text)))
    assert (
        't1: R.Tensor((4, 2), dtype="float32") = R.match_cast(t, R.Tensor((4, 2), dtype="float32"))'
        in shown
    )
    assert "u = R.exp(t1)" in shown


def test_signatures_say_what_bodies_yield() -> None:
    text = """
@R.function
def main(a: R.Tensor(("n", 4), "float32")) -> R.Tensor("float32", ndim=2):
    n = T.int64()
    cls = Module
    b: R.Tensor("float32", ndim=2) = cls.inner(a)
    return b
@R.function(private=True)
def inner(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor("float32", ndim=2):
    n = T.int64()
    m = T.int64()
    y: R.Tensor("float32", ndim=2) = R.permute_dims(x)
    return y
"""
    same(
        propagate_shapes(module(text)),
        text.replace('b: R.Tensor("float32", ndim=2)', 'b: R.Tensor((4, n), "float32")')
        .replace('y: R.Tensor("float32", ndim=2)', 'y: R.Tensor((m, n), "float32")')
        .replace(
            'x: R.Tensor(("n", "m"), "float32")) -> R.Tensor("float32", ndim=2)',
            'x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("m", "n"), "float32")',
        )
        .replace(
            'a: R.Tensor(("n", 4), "float32")) -> R.Tensor("float32", ndim=2)',
            'a: R.Tensor(("n", 4), "float32")) -> R.Tensor((4, "n"), "float32")',
        ),
    )


WIDE = """
@R.function
def main(a: R.Tensor(("n", 4), "float32")):
    n = T.int64()
    cls = Module
    b = cls.wide(a)
    return b
@R.function(private=True)
def wide(x: R.Tensor("float32", ndim=2)) -> R.Tensor("float32", ndim=2):
    y = R.add(x, x)
    z = R.permute_dims(y)
    return z
"""


def test_by_substitution() -> None:
    found = propagate_shapes(module(WIDE))
    same(
        found,
        WIDE.replace(
            "return b\n", 'c = R.match_cast(b, R.Tensor((4, n), "float32"))\n    return c\n'
        ).replace("c = R", 'c: R.Tensor((4, n), "float32") = R'),
    )
    assert propagate_shapes(found) is not None
    outcome = rlx.run(found, "main", {"n": 3})
    assert outcome.ok and outcome.numpy().shape == (4, 3)


def test_what_a_body_makes_is_said_in_sizes_of_the_caller() -> None:
    text = """
@R.function
def main(a: R.Tensor(("m",), "float32"), c: R.Tensor(("k", 4), "float32")):
    cls = Module
    b = cls.below(a, c)
    return b
@R.function(private=True)
def below(x: R.Tensor(("n",), "float32"), w: R.Tensor("float32", ndim=2)) -> R.Tensor("float32", ndim=2):
    n = T.int64()
    z = R.zeros(R.shape([n, 4]), "float32")
    y = R.concat([w, z], axis=0)
    return y
"""
    shown = rlx.show(propagate_shapes(module(text)))
    assert 'R.match_cast(b, R.Tensor((k + m, 4), dtype="float32"))' in shown, shown


def test_results_of_dataflow_blocks_are_cast_in_them() -> None:
    """Variables that leave the block still leave it."""
    text = WIDE.replace(
        "    b = cls.wide(a)\n    return b\n",
        "    with R.dataflow():\n        a1 = cls.wide(a)\n        b = cls.wide(a)\n"
        "        R.output(b)\n    return b\n",
    )
    block = rlx.show(propagate_shapes(module(text))).partition("def main")[2].splitlines()
    lines = [
        line.strip() for line in block if "cls.wide" in line or "R.output" in line or "cast" in line
    ]
    assert [line.partition(":")[0].partition(" =")[0] for line in lines] == [
        *("a1", "a11", "b", "b1", "R.output(b, b1)"),
    ]


def test_by_a_shape_function() -> None:
    text = """
@R.function
def main(a: R.Tensor(("n", 4), "float32")):
    n = T.int64()
    cls = Module
    d = cls.opaque(a)
    return d
@R.function(private=True)
def opaque(x: R.Tensor("float32", ndim=2)) -> R.Tensor("float32", ndim=1):
    s0: R.Shape(ndim=2) = R.shape_of(x)
    s: R.Shape(ndim=1) = R.call_pure_packed("myshape_func", s0, sinfo_args=R.Shape(ndim=1))
    y: R.Tensor(s, "float32") = R.call_dps_packed("g", (x,), out_sinfo=R.Tensor(s, "float32"))
    return y
"""
    found = propagate_shapes(module(text))
    assert rlx.check(found).ok
    assert [gv.name_hint for gv in found.functions] == ["main", "opaque", "opaque_shape"]
    shown = rlx.show(found)
    assert "shape: R.Shape(ndim=1) = cls.opaque_shape(gv)" in shown
    assert 'R.match_cast(d, R.Tensor(shape, dtype="float32"))' in shown


def test_a_shape_that_needs_the_elements_stays_unknown() -> None:
    text = """
@R.function
def main(a: R.Tensor(("n",), "int64")):
    n = T.int64()
    cls = Module
    d = cls.opaque(a)
    return d
@R.function(private=True)
def opaque(x: R.Tensor("int64", ndim=1)) -> R.Tensor("float32"):
    s: R.Shape(ndim=1) = R.call_pure_packed("of_data", x, sinfo_args=R.Shape(ndim=1))
    y: R.Tensor(s, "float32") = R.call_dps_packed("g", (x,), out_sinfo=R.Tensor(s, "float32"))
    return y
"""
    assert [gv.name_hint for gv in propagate_shapes(module(text)).functions] == ["main", "opaque"]


def test_outlined_functions_keep_shapes() -> None:
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", 'R.Tensor(("n", "m"), "float32")')
    with bb.function("main", [x]):
        flat = bb.emit(rlx.op.reshape(x, (rlx.dim("n * m"),)), "flat")

        def compute(flat: ast.Var) -> ast.Expr:
            return rlx.op.nn.relu(flat)

        call = outline(bb, "inner", [flat], compute, known=bb.struct_info(flat))
        bb.emit_func_output(bb.emit(call))
    shown = rlx.show(bb.get())
    assert 'flat: R.Tensor(("n * m",), dtype="float32"), sizes: R.Shape([n, m])' in shown
    assert "match_cast" not in shown
    assert rlx.check(bb.get()).ok


@pytest.mark.parametrize("transform", [propagate_shapes, deduce_shapes])
def test_nothing_to_find_gives_the_same_module(transform: object) -> None:
    text = '@R.function\ndef main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):\n    return x'
    known = module(text)
    assert transform(known) is known  # type: ignore[operator]


def test_operands_by_keyword_say_the_same() -> None:
    text = BEFORE.replace("R.log(x)", "R.exp(x)")
    named = text.replace("R.exp(x)", "R.exp(x=x)").replace("R.add(lv0, y)", "R.add(x2=y, x1=lv0)")
    one, other = (deduce_shapes(module(each), broadcast=True) for each in (text, named))
    assert [str(gv) for gv in one.functions] == [str(gv) for gv in other.functions]
    for before, after in zip(one.functions.values(), other.functions.values(), strict=True):
        assert isinstance(before, ast.Function) and isinstance(after, ast.Function)
        infos = [str(param.struct_info_annotation) for param in before.params]
        assert infos == [str(param.struct_info_annotation) for param in after.params]
        assert "(m, n)" in infos[0] or "Tensor((m, n)" in rlx.show(one)


def test_a_shape_of_dimensions_that_casts_bind() -> None:
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor("float32", ndim=2), y: R.Tensor):
        z = Module.joined(x, y)
        return z
    @R.function(private=True)
    def joined(a: R.Tensor("float32", ndim=2), b: R.Tensor):
        n, m, k = T.int64(), T.int64(), T.int64()
        c = R.match_cast(a, R.Tensor((n, m), "float32"))
        d = R.match_cast(b, R.Tensor((k, m), "float32"))
        e = R.concat((c, d), axis=0)
        f = R.nn.relu(e)
        return f
""")
    made = propagate_shapes(module)
    text = rlx.show(made)
    assert "return R.shape([n + k, m])" in text
    assert 'R.match_cast(z, R.Tensor(shape, dtype="float32"))' in text
    given = {"x": np.ones((2, 3), "float32"), "y": np.ones((4, 3), "float32")}
    found = rlx.run(made, inputs=given)
    assert found.numpy().shape == (6, 3)
    assert rlx.show(propagate_shapes(made)) == text


SETTLED = {
    "an annotation in a branch says the same as its value": """
        @R.function
        def main(x: R.Tensor((n,), "float32")) -> R.Tensor((4,), "float32"):
            if R.prim_value(n == 4):
                y: R.Tensor((4,), "float32") = x
            else:
                y: R.Tensor((4,), "float32") = R.zeros(R.shape([4]), "float32")
            return y
        """,
    "the shape of a result is known, its element type is not": """
        @I.ir_module
        class Module:
            @R.function
            def main(x: R.Tensor((4,))):
                return Module.f(x)

            @R.function(private=True)
            def f(x: R.Tensor((4,))) -> R.Tensor((4,)):
                return R.add(x, x)
        """,
}


@pytest.mark.parametrize("pass_", [deduce_shapes, propagate_shapes])
@pytest.mark.parametrize("text", SETTLED.values(), ids=SETTLED)
def test_a_second_run_changes_nothing(pass_: Callable[[IRModule], IRModule], text: str) -> None:
    once = pass_(rlx.parse(dedent(text)))
    assert first_difference(pass_(once), once) is None
    assert rlx.check(once).ok
