"""The rounding error that a value may have, computed from the binding and its inputs.

The binding is computed again in float64 on the same inputs, with what the rules give and with the
results of its scalar operations moved by one unit in the last place of the original type, up, down
and in a pattern. What that changes is what rounding may change, for sums as long as these, and
near the poles and jumps where these inputs are.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from rlx.comparison.cut import CutOut
from rlx.comparison.own import own
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64, dtype
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.rewrite import rebuild
from rlx.semantics.outcome import Returned
from rlx.semantics.values import MANY, Tensor, TupleValue, Value, rebuilt, values_inside

Array = np.ndarray[Any, Any]

FLOAT64 = dtype("float64")
UNIFORM = (1, -1)
MIXED = (3, 5, 7, 11, 13, 17)
"""The patterns in which operations are moved: all in one direction, and each in one of its own."""

DEVIATIONS = 2.0
"""So many standard deviations of the mixed runs count as what they change: an element may by chance
change little in all of them."""

SLACK = 4.0
"""Times that what moves in the runs may be exceeded: functions such as exp are off by up to four
units, and sums may be added up in another order."""

SURE = 2.0
"""Units in the last place that are always accepted where an operator rounds at all."""

LARGE = 1 << 20
"""Bytes of inputs whose memory is given back after each run."""

ITERATIONS = {"native": 2_000_000_000, "steps": 2_000_000}
FUEL = 100_000

_NARROWER = re.compile(r"\b(float32|float16|bfloat16|float[468]_\w+)\b")


def unit(array: Array) -> float:
    """The distance of 1 from the next number of an array's element type; 0 of whole numbers."""
    if array.dtype.kind in "biu":
        return 0.0
    return float(_about(array).eps)


def _about(array: Array) -> Any:
    from ml_dtypes import finfo

    return finfo(array.dtype)  # type: ignore[no-untyped-call]


def spacing(array: Array) -> Array:
    """The unit in the last place of each element."""
    about = _about(array)
    wide = np.abs(array.astype(np.float64))
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.where(np.isfinite(wide), wide, 1.0))
        found = np.ldexp(float(about.eps), exponent - 1)
    least = float(about.smallest_subnormal)
    units: Array = np.maximum(found, least)
    return units


class RoundingBounds:
    """What a binding may give, on these inputs.

    Attributes
    ----------
    exact
        The value in float64; None where it cannot be computed.
    spread
        How far the moved runs are from it.
    """

    def __init__(self, exact: list[Array] | None, spread: list[Array]) -> None:
        self.exact, self.spread = exact, spread


def bounds(cut: CutOut, eps: float) -> RoundingBounds:
    """Compute a binding in float64.

    Parameters
    ----------
    eps
        The relative distance of two neighbours of the type that the result has.
    """
    from rlx.api import show
    from rlx.transform.legalization import legalize

    wide = _read(_NARROWER.sub("float64", show(cut.module)))
    inputs = [rebuilt(value, _wide) for value in cut.inputs.values()]
    exact = None if wide is None else _run(wide, cut.entry, inputs)
    if wide is None or exact is None:
        return RoundingBounds(None, [])
    most = [np.zeros(array.shape) for array in exact]
    squares = [np.zeros(array.shape) for array in exact]
    for pattern, moved in _moved(legalize(wide), cut.entry, inputs, eps):
        for at, (one, other) in enumerate(zip(exact, moved, strict=True)):
            if one.shape == other.shape:
                with np.errstate(all="ignore"):
                    apart = np.abs(other.astype(np.float64) - one.astype(np.float64))
                apart = np.where(np.isfinite(apart), apart, 0.0)
                if pattern in UNIFORM:
                    most[at] = np.maximum(most[at], apart)
                else:
                    squares[at] += apart * apart
    spread = [
        np.maximum(one, DEVIATIONS * np.sqrt(square / len(MIXED)))
        for one, square in zip(most, squares, strict=True)
    ]
    return RoundingBounds(exact, spread)


def _moved(
    module: ast.IRModule, entry: str, inputs: list[Value], eps: float
) -> Iterator[tuple[int, list[Array]]]:
    """The results of the module with moved operations, and with moved inputs where an operator is
    computed as a whole, each with its pattern.
    """
    for pattern in (*UNIFORM, *MIXED):
        module_now = ast.IRModule(
            {
                var: _perturbed(f, eps, pattern) if isinstance(f, tir.PrimFunc) else f
                for var, f in module.functions.items()
            },
            name="Module",
        )
        given = (
            [rebuilt(value, partial(_nudged, eps=eps, pattern=pattern)) for value in inputs]
            if _is_whole(module)
            else inputs
        )
        found = _run(module_now, entry, given)
        if found is not None:
            yield pattern, found


def _is_whole(module: ast.IRModule) -> bool:
    """Whether an operator is left that is not a kernel."""
    return not any(isinstance(f, tir.PrimFunc) for f in module.functions.values())


def _nudged(value: Value, eps: float, pattern: int) -> Value:
    if not isinstance(value, Tensor) or value.data.dtype != np.float64:
        return value
    if abs(pattern) == 1:
        return Tensor(value.data * (1 + pattern * eps))
    random = np.random.default_rng(pattern)
    return Tensor(value.data * (1 + eps * random.uniform(-1, 1, value.data.shape)))


def _perturbed(function: tir.PrimFunc, eps: float, pattern: int) -> tir.PrimFunc:
    """A kernel whose every operation on float64 is off by up to one unit of another type."""
    made: tir.PrimFunc = rebuild(
        function,
        lambda node: (
            replace(node, value=_Moved(node, eps, pattern).expr(node.value))
            if isinstance(node, tir.BufferStore)
            else node
        ),
    )
    return made


class _Moved:
    """Moves the operations in the value of one store."""

    def __init__(self, store: tir.BufferStore, eps: float, pattern: int) -> None:
        free = {var for each in (*store.indices, store.value) for var in tir.free_vars(each)}
        self.vars = sorted((v for v in free if v.dtype.is_integer), key=lambda v: v.name)
        self.eps, self.pattern, self.site = eps, pattern, 0

    def expr(self, node: tir.PrimExpr) -> tir.PrimExpr:
        rebuilt: tir.PrimExpr = node.map_children(self._child, lambda var: var)
        rounds = isinstance(node, tir.Add | tir.Sub | tir.Mul | tir.Div | tir.Call)
        if not rounds or not _is_wide(node) or _chooses(node):
            return rebuilt
        self.site += 1
        return tir.Mul(rebuilt, self._factor())

    def _child(self, node: Any) -> Any:
        return self.expr(node) if isinstance(node, tir.PrimExpr) else node

    def _factor(self) -> tir.PrimExpr:
        one = tir.FloatImm(1.0, FLOAT64)
        if abs(self.pattern) == 1:
            return tir.FloatImm(1.0 + self.pattern * self.eps, FLOAT64)
        # squares modulo a prime do not follow the loops
        mixed: tir.PrimExpr = tir.IntImm(self.site * 389 + self.pattern * 53, INT64)
        for place, var in enumerate(self.vars):
            index = var if var.dtype == INT64 else tir.Cast(INT64, var)
            factor = tir.IntImm(101 + self.pattern * 37 + place * 211, INT64)
            mixed = tir.Add(mixed, tir.Mul(index, factor))
        square = tir.FloorMod(tir.Mul(mixed, mixed), tir.IntImm(10007, INT64))
        step = tir.Sub(tir.FloorMod(square, tir.IntImm(3, INT64)), tir.IntImm(1, INT64))
        return tir.Add(one, tir.Mul(tir.Cast(FLOAT64, step), tir.FloatImm(self.eps, FLOAT64)))


def _chooses(node: tir.PrimExpr) -> bool:
    return isinstance(node, tir.Call) and node.op.endswith("if_then_else")


def _is_wide(node: tir.PrimExpr) -> bool:
    """Whether a value is of float64."""
    if _chooses(node):
        assert isinstance(node, tir.Call)
        return any(map(_is_wide, node.args[1:]))
    if isinstance(node, tir.Binary) and not isinstance(node, tir.Comparison | tir.And | tir.Or):
        return _is_wide(node.a) or _is_wide(node.b)
    return tir.type_of(node) == FLOAT64


def _read(text: str) -> ast.IRModule | None:
    from rlx.checker.check import check_text

    report = check_text(text)
    return report.modules[0] if report.ok and report.modules else None


def _run(module: ast.IRModule, entry: str, inputs: list[Value]) -> list[Array] | None:
    from rlx.semantics.machine import load

    program = load(module, output=lambda line: None, iterations=ITERATIONS)
    with np.errstate(all="ignore"):
        outcome = program.run(entry, own(module, inputs), fuel=FUEL)
    found = arrays(outcome.value) if isinstance(outcome, Returned) else None
    if sum(array.nbytes for value in inputs for array in distinct(value)) > LARGE:
        del program, outcome
        gc.collect()  # frames refer to each other, and the command collects them seldom
    return found


def arrays(value: Value | None) -> list[Array]:
    """The arrays in a value, in order; of a tuple with very many, the first so many."""
    return list(islice(_arrays(value), MANY))


def distinct(value: Value) -> list[Array]:
    """The arrays in a value, those of a tuple that occurs in several places once."""
    return [part.data for part in values_inside([value]) if isinstance(part, Tensor)]


def _arrays(value: Value | None) -> Iterator[Array]:
    if isinstance(value, Tensor):
        yield value.data
    elif isinstance(value, TupleValue):
        for field in value.fields:
            yield from _arrays(field)


def _wide(value: Value) -> Value:
    if isinstance(value, Tensor) and unit(value.data) > unit(np.zeros((), np.float64)):
        return Tensor(value.data.astype(np.float64))
    return value
