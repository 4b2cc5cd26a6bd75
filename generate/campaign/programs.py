"""The programs of a campaign: one for each seed, and near misses between them."""

from __future__ import annotations

import random

from rlx.generate.programs.plan import DEFAULT, FEATURES, Options
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.visit import evaluated
from rlx.grammar.print.printer import print_module

UNSPEAKABLE = {
    "runtime": (
        "R.inspect.*, R.device, R.dist.* and R.hint_on_device with a device's name: the parser of"
        " TVM 0.27 has no such words, or asks for objects that a text does not hold"
    ),
    "scalars": (
        "R.Prim(value=...), and prims inside of R.Tuple(...): the parser of TVM 0.27 has no words"
        " for them"
    ),
    "rare": (
        "PrimFuncs with T.Let, powers of integers, vectors, calls of functions from outside and"
        " unknown intrinsics: TVM 0.27 cannot read or compile them"
    ),
}
"""Features of programs that texts of TVM cannot spell, and why: programs against TVM do without."""

AGAINST: dict[str, Options] = {
    "": DEFAULT,
    "tvm": Options(features=FEATURES - frozenset(UNSPEAKABLE)),
}
"""Options of programs, by the implementation that they are put before."""


SIZES = {"run": 3, "passes": 5, "refine": 4}
"""About how many bindings programs have where much is done with each; small ones say more in the
same time.
"""

EVERY = 4
"""One program in so many is a near miss."""


def is_legal(seed: int) -> bool:
    """Whether the program of a seed is legal by construction."""
    return seed % EVERY != EVERY - 1


def program(seed: int, oracle: str = "check", against: str = "") -> tuple[str, set[str]]:
    """The text of a program, and the operators that it uses; near misses for the oracle of legality
    alone.
    """
    module = _module(seed, oracle, _options(oracle, against))
    used = {op.op_name for op in evaluated(module, ast.Op)}
    return print_module(module), used


def _options(oracle: str, against: str) -> Options:
    options = AGAINST[against]
    if oracle not in SIZES:
        return options
    return replace(options, size=SIZES[oracle])


def _module(seed: int, oracle: str, options: Options) -> ast.IRModule:
    from rlx.generate.near import CODES, near_miss
    from rlx.generate.near.modules import FORMS
    from rlx.generate.programs import random_module

    rng = random.Random(seed)
    if oracle != "check" or is_legal(seed):
        return random_module(rng, options)
    codes = [code for code in CODES if code not in FORMS]
    features = options.features - {"nested"}
    return near_miss(rng.choice(codes), rng, Options(2, features, options.operators))
