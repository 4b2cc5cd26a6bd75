"""Near misses: programs that break exactly one rule, to measure whether the checker names it."""

from __future__ import annotations

import random
from functools import partial

from rlx.generate.near.kernels import BREAKS, broken_kernel
from rlx.generate.near.modules import FORMS, MODULES
from rlx.generate.near.steps import BROKEN, STEPS, broken_call
from rlx.generate.programs.module import build
from rlx.generate.programs.plan import FEATURES, Options, random_plan
from rlx.grammar.nodes.ast import IRModule

__all__ = ["CODES", "near_miss"]

CODES = (*STEPS, *BROKEN, *BREAKS, *MODULES, *FORMS)
"""The premises that can be made to fail."""

PLAIN = Options(6, FEATURES - {"nested"})


def near_miss(code: str, rng: random.Random, options: Options = PLAIN) -> IRModule:
    """A well-formed program, but for one premise.

    Parameters
    ----------
    code
        One of :data:`CODES`. For one of normal form (``NF…``) the rest of the module is in normal
        form.
    options
        What the program may contain; features of normal form only.

    Raises
    ------
    KeyError
        If nothing breaks that premise.
    """
    plan = random_plan(rng, options)
    if code in MODULES:
        return MODULES[code](build(plan, options))
    if code in FORMS:
        return FORMS[code](build(plan, options))
    if code in BREAKS:
        return broken_kernel(code, build(plan, options), rng)
    step = STEPS.get(code) or partial(broken_call, code)
    if code not in STEPS and code not in BROKEN:
        raise KeyError(code)
    return build(plan, options, (rng.randrange(len(plan.functions[-1].steps) + 1), step))
