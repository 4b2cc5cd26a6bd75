"""Run programs, and compare how runs end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rlx.generate.programs import FEATURES
from rlx.grammar.nodes import ast
from rlx.semantics.machine import load
from rlx.semantics.machine.numpy_conversion import to_plain, typed
from rlx.semantics.outcome import Outcome, Returned
from tests.semantics.machine.packed import PACKED

RUNNABLE = FEATURES - {"runtime"}
"""Features of programs that run without devices, clusters and memory of their own."""


def entry(module: ast.IRModule) -> ast.Function:
    """The function that is entered."""
    found = module["main"]
    assert isinstance(found, ast.Function)
    return found


def run(module: ast.IRModule, inputs: Sequence[Any], backend: str = "steps") -> Outcome:
    """Run the entry on copies of the inputs."""
    infos = [p.struct_info_annotation for p in entry(module).params]
    copies = [x.copy() if isinstance(x, np.ndarray) else x for x in inputs]
    values = [typed(x, info) for x, info in zip(copies, infos, strict=True)]
    program = load(module, packed=PACKED, backend=backend, output=lambda _: None)
    return program.run("main", values, fuel=30_000)


def same(one: Outcome, other: Outcome, exact: bool = True) -> bool:
    """Whether two runs end alike: with equal values, or for the same reason."""
    if isinstance(one, Returned) and isinstance(other, Returned):
        return _equal(to_plain(one.value), to_plain(other.value), exact)
    return type(one) is type(other) and getattr(one, "code", "") == getattr(other, "code", "")


def _equal(a: Any, b: Any, exact: bool) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if exact or a.dtype.kind in "biu":
            return a.tobytes() == b.tobytes()
        wide = (a.astype(np.float64), b.astype(np.float64))
        return bool(np.allclose(*wide, rtol=1e-2, atol=1e-2, equal_nan=True))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(_equal(x, y, exact) for x, y in zip(a, b, strict=True))
    if type(a) is not type(b):
        return False
    if isinstance(a, float) and math.isnan(a):
        return math.isnan(b)
    return (
        bool(a == b) if isinstance(a, (bool, int, float, str)) else True
    )  # functions are not compared
