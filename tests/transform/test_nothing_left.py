"""LAW: what is done is done: a second time, a pass or a stage of lowering gives the module that it was given."""

from __future__ import annotations

import pytest

from rlx.generate.campaign.programs import is_legal, program
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.read.parser import parse
from rlx.transform import lambda_lifting, passes
from rlx.transform.dynamic_checks import eliminate
from rlx.transform.legalization import legalize
from rlx.vm.compilation import STAGES

SEEDS = [seed for seed in range(300, 316) if is_legal(seed)]
PASSES = (
    *(passes.common_subexpressions, passes.dead_code, passes.fold_shapes, passes.fuse_matmul_add),
    *(lambda_lifting, eliminate, legalize),
)
SAME_MODULE = {"Normalize", "ToNonDataflow", "LambdaLift", "VMMemoryLower"}
SAME_FUNCTIONS = {"RemovePurityChecking"}


def generated(seed: int) -> IRModule:
    (module,) = parse(program(seed)[0]).modules
    return module


@pytest.mark.parametrize("seed", SEEDS)
def test_a_pass_is_done_when_it_ran(seed: int) -> None:
    module = generated(seed)
    for each in PASSES:
        changed = each(module)
        assert each(changed) is changed, each


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stage_is_done_when_it_ran(seed: int) -> None:
    now = generated(seed)
    for stage in STAGES:
        now = stage()(now)
        again = stage()(now)
        if stage.__name__ in SAME_MODULE:
            assert again is now, stage
        if stage.__name__ in SAME_FUNCTIONS:
            assert all(again.functions[gv] is each for gv, each in now.functions.items()), stage
