"""Several bindings that match together: parallel products become one."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import rlx
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import IRModule
from rlx.transform import Match, Pattern, PatternContext, is_op, rewrite_bindings, wildcard

TEXT = """
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"),
        q: R.Tensor((4, 2), "float32"),
        k: R.Tensor((4, 3), "float32"),
        v: R.Tensor((4, 2), "float32"),
    ):
        with R.dataflow():
            a = R.matmul(x, q)
            early = R.nn.relu(a)
            kk = R.multiply(k, R.const(2.0, "float32"))
            b = R.matmul(x, kk)
            c = R.matmul(x, v)
            out = R.add(early, c)
            R.output(out, b)
        return (out, b)
"""
x, weights = wildcard(), [wildcard() for _ in range(3)]
PRODUCTS = [is_op("matmul")(x, w) for w in weights]


def together(*patterns: Pattern) -> PatternContext:
    context = PatternContext()
    for pattern in patterns:
        context.add(pattern)
    return context


def rewritten(module: IRModule, patterns: Sequence[Pattern], make: Any) -> IRModule:
    return rewrite_bindings(together(*patterns), lambda match, values: make(match), module)


def joined(match: Match, count: int = 3) -> dict[Pattern, object]:
    """One product with all weights, and its parts."""
    found = [match[w] for w in weights[:count]]
    infos: list[Any] = [match.builder.struct_info(w) for w in found]
    sizes = [info.shape.values[1].value for info in infos]
    whole = match.builder.emit(rlx.op.matmul(match[x], rlx.op.concat(found, axis=1)))
    parts: dict[Pattern, object] = {}
    start = 0
    for product, size in zip(PRODUCTS, sizes, strict=False):
        end = start + size
        parts[product] = rlx.op.strided_slice(whole, axes=[1], begin=[start], end=[end])
        start = end
    return parts


def run(module: IRModule) -> list[Any]:
    rng = np.random.default_rng(0)
    shapes = {"x": (5, 4), "q": (4, 2), "k": (4, 3), "v": (4, 2)}
    given = {name: rng.normal(size=shape).astype("float32") for name, shape in shapes.items()}
    found = rlx.run(module, inputs=given)
    return [field.tolist() for field in found.numpy()]


def test_parallel_products_become_one() -> None:
    module = rlx.parse(TEXT)
    made = rewritten(module, PRODUCTS, joined)
    assert rlx.check(made).ok
    text = rlx.show(made)
    assert text.count("R.matmul(") == 1 and text.count("R.strided_slice(") == 3
    assert text.index("R.multiply(k") < text.index("R.matmul(") < text.index("R.nn.relu(")
    for one, other in zip(run(module), run(made), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_no_pattern_matches_nothing() -> None:
    with pytest.raises(ValueError, match="the context has no patterns"):
        rewritten(rlx.parse(TEXT), [], lambda match: None)
    with pytest.raises(TypeError, match="expected a PatternContext"):
        rewrite_bindings([], lambda match, values: None, rlx.parse(TEXT))  # type: ignore[arg-type]


def test_what_depends_on_another_is_left() -> None:
    chain = "R.matmul(x, R.multiply(v, R.sum(a)))"
    module = rlx.parse(TEXT.replace("R.matmul(x, v)", chain))
    assert rewritten(module, PRODUCTS, joined) is module


def test_a_value_of_another_shape() -> None:
    module = rlx.parse(TEXT)
    with pytest.raises(rlx.BuildError, match="its uses were checked with the first"):
        rewritten(module, PRODUCTS[:1], lambda match: {PRODUCTS[0]: match[x]})
    assert rewritten(module, PRODUCTS, lambda match: None) is module


def test_a_value_that_is_computed_later() -> None:
    def earlier(match: Match, values: Mapping[ast.Var, ast.Expr]) -> dict[Any, object]:
        return {PRODUCTS[0]: next(var for var in values if var.name_hint == "early")}

    with pytest.raises(rlx.BuildError, match="early is computed from what is replaced"):
        rewrite_bindings(together(PRODUCTS[0]), earlier, rlx.parse(TEXT))


@pytest.mark.parametrize("seed", range(6))
def test_any_order(seed: int) -> None:
    """Products of shared and of other operands, among values computed from them."""
    pick = random.Random(seed)
    bb = rlx.BlockBuilder()
    params = [rlx.Var(f"p{i}", 'R.Tensor((3, 3), "float32")') for i in range(3)]
    with bb.function("main", params):
        with bb.dataflow():
            known = list(params)
            for _ in range(12):
                a, b = pick.choice(known), pick.choice(known)
                make: Any = pick.choice([rlx.op.matmul, rlx.op.matmul, rlx.op.add])
                known.append(bb.emit(rlx.op.multiply(make(a, b), 0.25)))
            out = bb.emit_output(tuple(known[3:]))
        bb.emit_func_output(out)
    made = rewritten(bb.get(), PRODUCTS[:2], lambda m: joined(m, 2))
    assert rlx.check(made).ok
    rng = np.random.default_rng(seed)
    given = {param.name_hint: rng.normal(size=(3, 3)).astype("float32") for param in params}
    one, other = (rlx.run(module, inputs=given).numpy() for module in (bb.get(), made))
    for left, right in zip(one, other, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-5)


def test_the_second_stands_before_the_first() -> None:
    """Twice, so that the search for places begins behind the one that is looked for."""
    info = 'R.Tensor((3, 3), "float32")'
    p, q = rlx.Var("p", info), rlx.Var("q", info)
    bb = rlx.BlockBuilder()
    with bb.function("main", [p, q]):
        with bb.dataflow():
            late = bb.emit(rlx.op.exp(q))
            one, two = bb.emit(rlx.op.abs(p)), bb.emit(rlx.op.abs(q))
            out = bb.emit_output((late, one, two, bb.emit(rlx.op.exp(p))))
        bb.emit_func_output(out)
    exps = [is_op("exp")(x), is_op("abs")(x)]
    made = rewritten(bb.get(), exps, lambda match: {exps[0]: rlx.op.negative(match[x])})
    assert rlx.check(made).ok
    assert rlx.show(made).count("R.negative(") == 2


def test_what_matched_goes_if_nothing_uses_it() -> None:
    scaled = wildcard()
    product = is_op("matmul")(x, is_op("multiply")(scaled, wildcard()))
    module = rlx.parse(TEXT)
    made = rewritten(module, [product], lambda m: {product: rlx.op.matmul(m[x], m[scaled])})
    assert "R.multiply" in rlx.show(module) and "R.multiply" not in rlx.show(made)
