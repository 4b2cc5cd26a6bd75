"""Every run of a PrimFunc with an error TIR11 faults: random loops and guards, with buffers made smaller."""

from __future__ import annotations

import random
import re

import numpy as np

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast, tir
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.semantics.faults import FaultStop, UnsupportedStop
from rlx.semantics.tir import evaluate
from tests.semantics.native.sanitised.nests import Nest
from tests.semantics.native.sanitised.sizes import arguments

_SHAPE = re.compile(r"T\.Buffer\(\((\d+), ")


def test_what_is_reported_fails_in_every_run() -> None:
    reported = 0
    for seed in range(200):
        nest = Nest(seed)
        module = ast.IRModule({ast.GlobalVar("f"): nest.function()})
        text = _smaller(print_module(module, "0.27"), random.Random(seed))
        found = [d for d in check_text(text, "f.rlx").diagnostics if d.code == "TIR11-range"]
        if not found:
            continue
        [func] = parse(text).modules[0].functions.values()
        assert isinstance(func, tir.PrimFunc)
        sizes = {v: 3 for b in func.buffer_map.values() for d in b.shape for v in tir.free_vars(d)}
        try:
            args = arguments(func, sizes, nest.rng, False, False)
        except ValueError:
            continue
        reported += 1
        with np.errstate(all="ignore"):
            try:
                evaluate(func, args, fuel=100_000)
            except FaultStop as fault:
                assert fault.code in ("E-tir-bounds", "E-tir-argument"), (seed, fault)
            except UnsupportedStop:
                continue
            else:
                raise AssertionError(f"seed {seed}: {found[0].message}\n{text}")
    assert reported >= 20


def _smaller(text: str, rng: random.Random) -> str:
    """A text with one buffer smaller by one."""
    found = list(_SHAPE.finditer(text))
    if not found:
        return text
    match = rng.choice(found)
    start, end = match.span(1)
    return text[:start] + str(max(1, int(match[1]) - 1)) + text[end:]
