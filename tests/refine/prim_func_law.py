"""The law of reading loops: the terms of a PrimFunc give what the PrimFunc leaves in its buffers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import numpy_type
from rlx.grammar.nodes.visit import shape_vars_of
from rlx.refine.loops import Holes, read_loops
from rlx.semantics.faults import Stop
from rlx.semantics.tir import program
from rlx.solver.evaluate import UndefinedError
from rlx.solver.evaluate import evaluate as number
from tests.refine.term_values import MeaninglessError, evaluate

MOST = 600
"""How many elements the buffers of a run may have."""


def size_variables(function: tir.PrimFunc) -> list[tir.Var]:
    """The sizes in the shapes of parameters."""
    found = dict.fromkeys(v for b in function.buffer_map.values() for v in shape_vars_of(b))
    return [var for var in found if var not in function.params]


def _array(rng: np.random.Generator, shape: Sequence[int], kind: Any) -> Any:
    plain = numpy_type(kind)
    assert plain is not None
    if kind.code == "bool":
        return rng.integers(0, 2, shape).astype(plain)
    if kind.is_integer:
        return rng.integers(0, 3, shape).astype(plain)
    return np.asarray(rng.integers(-8, 9, shape) / 4).astype(plain)


def disagreement(
    function: tir.PrimFunc, sizes: Iterable[int], seed: int, holes: Holes | None = None
) -> str | None:
    """The contradiction between a run on random inputs and the terms; None if there is none.

    Parameters
    ----------
    sizes
        From which the sizes of buffers are chosen.
    """
    holes = read_loops(function) if holes is None else holes
    rng = np.random.default_rng(seed)
    at: dict[tir.Var, int] = {var: int(rng.choice(list(sizes))) for var in size_variables(function)}
    arguments: list[Any] = []
    for param in function.params:
        buffer = function.buffer_map.get(param)
        if buffer is None:
            at[param] = int(at.get(param, rng.choice(list(sizes))))
            arguments.append(at[param])
            continue
        try:
            shape = [int(number(dim, at)) for dim in buffer.shape]
        except UndefinedError:
            return None
        if min(shape, default=0) < 0 or np.prod(shape) > MOST:
            return None
        arguments.append(_array(rng, shape, buffer.dtype))
    before = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        program.evaluate(function, arguments, fuel=100_000)
    except Stop as stop:
        if stop.code == "E-tir-bounds" and not holes.needs:
            return f"sizes {list(at.values())}: {stop.message}"
        return None
    positions = [k for k, p in enumerate(function.params) if p in function.buffer_map]
    inputs = dict(zip(holes.inputs, [before[k] for k in positions], strict=True))
    for k in positions:
        found = before[k]
        if k in holes.outputs:
            try:
                found = evaluate(holes.outputs[k], inputs, at)
            except MeaninglessError as error:
                return f"sizes {list(at.values())}: {error}"
        expected = arguments[k]
        if found.shape != expected.shape or found.tobytes() != expected.tobytes():
            alike = found.shape == expected.shape and np.array_equal(
                found.astype(np.float64), expected.astype(np.float64), equal_nan=True
            )
            if not alike:
                return f"sizes {list(at.values())}: {found.tolist()} for {expected.tolist()}"
    return None
