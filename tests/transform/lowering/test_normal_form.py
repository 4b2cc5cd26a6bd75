"""Every stage of lowering gives functions in normal form, which later stages do not look at again."""

from __future__ import annotations

import gc
import weakref

import pytest

from rlx.checker.normalize import is_in_normal_form, normalize
from rlx.generate.campaign.programs import is_legal, program
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.grammar.read.parser import parse
from rlx.transform.lowering.shapes import VMShapeLower
from rlx.vm.compilation import STAGES

SEEDS = [seed for seed in range(700, 730) if is_legal(seed)]


def bodies(module: ast.IRModule) -> list[ast.SeqExpr]:
    functions = module.relax_functions.values()
    assert all(map(is_in_normal_form, functions))
    return [f.body for f in functions if isinstance(f.body, ast.SeqExpr)]


@pytest.mark.parametrize("seed", SEEDS)
def test_each_stage_gives_normal_form(seed: int) -> None:
    module = parse(program(seed)[0]).modules[0]
    for stage in STAGES:
        module = stage()(module)
        bodies(module)


def test_a_function_that_looks_like_a_normal_one_is_looked_at_anew() -> None:
    """The cache keeps bodies: another body made from one is checked anew."""
    text = "@R.function\ndef main(x: R.Tensor((4,))):\n    y = R.add(x, x)\n    return y\n"
    module = normalize(parse(text).modules[0])
    (gv,) = module.functions
    function = module.functions[gv]
    assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
    nested = ast.Call(ast.op("relax.add"), (function.body.body, function.body.body))
    damaged = replace(function, body=replace(function.body, body=nested))
    assert not is_in_normal_form(damaged)
    (mended,) = normalize(replace(module, functions={gv: damaged})).functions.values()
    assert isinstance(mended, ast.Function) and is_in_normal_form(mended)


def test_what_was_lowered_is_freed_without_looking_for_cycles() -> None:
    module = parse(program(SEEDS[0])[0]).modules[0]
    for stage in STAGES[: STAGES.index(VMShapeLower)]:
        module = stage()(module)
    held = [weakref.ref(body) for body in bodies(module)]
    assert held
    gc.disable()
    try:
        module = VMShapeLower()(module)
        assert not any(ref() is not None for ref in held)
    finally:
        gc.enable()
