"""Programs from plans, and plans from random numbers."""

from __future__ import annotations

import random

from rlx.generate.programs.module import build
from rlx.generate.programs.plan import DEFAULT, FEATURES, ModulePlan, Options, random_plan
from rlx.grammar.nodes.ast import IRModule

__all__ = ["DEFAULT", "FEATURES", "ModulePlan", "Options", "build", "random_module", "random_plan"]


def random_module(rng: random.Random, options: Options = DEFAULT) -> IRModule:
    """A well-formed module: the checker finds neither errors nor warnings in it."""
    return build(random_plan(rng, options), options)
