"""The error that rounding may cause in a value, computed from the binding and its inputs.

The binding is computed again in float64, and beside each element a bound of its error
(:mod:`rlx.comparison.error_bounds`). The bound holds for every order of adding up, in the type of the
result or a finer one. For a whole program such a bound is far too large, because errors multiply from
layer to layer: there the results of all kernels are moved at random within their own bounds, several
times, and what that changes is an estimate.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any
from weakref import finalize

import numpy as np

from rlx.comparison.cut import CutOut
from rlx.comparison.error_bounds import NoBoundError, with_errors
from rlx.comparison.follow import BoundVariable, always, followed
from rlx.comparison.own import own
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Record
from rlx.semantics.faults import Stop
from rlx.semantics.outcome import Returned
from rlx.semantics.values import (
    MANY,
    PrimFuncValue,
    Scalar,
    ShapeValue,
    Tensor,
    TupleValue,
    Value,
    rebuilt,
    values_inside,
)

Array = np.ndarray[Any, Any]

RUNS = 6
"""Runs with moved values, from which an estimate is made."""

DEVIATIONS = 4.0
"""Standard deviations of these runs that the estimate allows: an element may by chance change little
in all of them.
"""

SURE = 2.0
"""Units in the last place that are always accepted where an operator rounds at all."""

Kernels = dict[tuple[int, frozenset[int]], Callable[..., Any]]

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


class RoundingBounds(Record):
    """The values that a binding may have on these inputs.

    Attributes
    ----------
    exact
        The value in float64; None where it cannot be computed.
    allowed
        How far each element may be from it.
    proved
        Whether that is a bound for every order of adding up; an estimate otherwise.
    """

    exact: list[Array] | None
    allowed: list[Array]
    proved: bool = True


NOTHING = RoundingBounds(None, [], proved=False)
"""The bounds of a binding that cannot be computed in float64."""


def bounds(cut: CutOut, eps: float, *, whole: bool = False) -> RoundingBounds:
    """Compute a binding in float64, and how far rounding may take it.

    Parameters
    ----------
    eps
        The relative distance of two neighbours of the type that the result has.
    whole
        Whether this is a program of many bindings, of which an estimate is made.
    """
    from rlx.transform.legalization import legalize

    size = size_of(cut.inputs.values())
    try:
        legal = legalize(cut.module)
        exact, allowed = _shadowed(legal, cut, eps)
        collect(size)
        if not whole and all(_is_bounded(*each) for each in zip(exact, allowed, strict=True)):
            return RoundingBounds(exact, allowed)
        kernels: Kernels = {}
        moved: list[list[Array]] = []
        for seed in range(RUNS):
            random = np.random.default_rng(seed)
            moved.append(_shadowed(legal, cut, eps, random, kernels)[0])
            collect(size)
        return RoundingBounds(exact, _deviations(exact, moved), proved=False)
    except (NoBoundError, Stop):
        return _by_inputs(cut, eps)


def _is_bounded(exact: Array, allowed: Array) -> bool:
    return exact.dtype.kind in "biu" or not bool((np.isfinite(exact) & np.isinf(allowed)).any())


def _deviations(exact: list[Array], moved: list[list[Array]]) -> list[Array]:
    squares = [np.zeros(array.shape) for array in exact]
    for run in moved:
        for square, one, other in zip(squares, exact, run, strict=True):
            if one.shape == other.shape:
                with np.errstate(all="ignore"):
                    apart = other.astype(np.float64) - one.astype(np.float64)
                square += np.where(np.isfinite(apart), apart, 0.0) ** 2
    return [DEVIATIONS * np.sqrt(square / len(moved)) for square in squares]


def _by_inputs(cut: CutOut, eps: float) -> RoundingBounds:
    """An estimate for operators that are no kernels: how much the result changes with inputs that
    are moved by a unit.
    """
    from rlx.api import show

    wide = _read(_NARROWER.sub("float64", show(cut.module)))
    inputs = [rebuilt(value, _wide) for value in cut.inputs.values()]
    exact = None if wide is None else _run(wide, cut.entry, inputs)
    if wide is None or exact is None:
        return NOTHING
    moved = []
    for seed in range(RUNS):
        random = np.random.default_rng(seed)
        given = [rebuilt(value, partial(_nudged, eps=4 * eps, random=random)) for value in inputs]
        moved.append(_run(wide, cut.entry, given) or exact)
    return RoundingBounds(exact, _deviations(exact, moved), proved=False)


def _nudged(value: Value, eps: float, random: np.random.Generator) -> Value:
    if not isinstance(value, Tensor) or value.data.dtype != np.float64:
        return value
    return Tensor(value.data * (1 + eps * random.uniform(-1, 1, value.data.shape)))


# ------------------------------------------------------------ a run with its shadow


class _Shadow(Record):
    """The value of an array of a run in float64, and how far they may be apart."""

    wide: Array
    error: Array


def _shadowed(
    module: ast.IRModule,
    cut: CutOut,
    eps: float,
    random: np.random.Generator | None = None,
    kernels: Kernels | None = None,
) -> tuple[list[Array], list[Array]]:
    """The arrays that a run returns, in float64, and how far rounding may take them.

    Parameters
    ----------
    random
        Moves the result of each kernel by what its own rounding typically is; None leaves it.
    kernels
        Those of earlier runs, by the ids of their functions and the operands without errors.

    Raises
    ------
    NoBoundError
        If it is not known what a binding does to an error.
    """
    from rlx.semantics.machine import load

    program = load(module, output=lambda line: None, iterations=ITERATIONS)
    shadows = _Shadows(eps, random, {} if kernels is None else kernels)
    args = own(module, list(cut.inputs.values()))
    for each in followed(program, cut.entry, args, forget=always):
        if isinstance(each, BoundVariable):
            shadows.bind(each)
            continue
        if not isinstance(each, Returned):
            raise NoBoundError("the run does not end")
        found = [shadows.of(array) for array in arrays(each.value)]
        return [one.wide for one in found], [one.error for one in found]
    raise AssertionError("a run ends with its outcome")


class _Shadows:
    """The shadows of the arrays of a run. The parameters are those of :func:`_shadowed`."""

    def __init__(self, eps: float, random: np.random.Generator | None, kernels: Kernels) -> None:
        self._eps, self._random, self._kernels = eps, random, kernels
        self._known: dict[tuple[int, tuple[int, ...]], _Shadow] = {}

    def of(self, array: Array) -> _Shadow:
        """The shadow of an array; of an input it is exact."""
        found = self._known.get(_place(array))
        if found is not None:
            return found
        kind = array.dtype if array.dtype.kind in "biu" else np.float64
        return _Shadow(array.astype(kind), np.zeros(array.shape))

    def bind(self, bound: BoundVariable) -> None:
        """Compute the shadows of the arrays that a binding made."""
        if not isinstance(bound.expr, ast.Call):
            return
        name = bound.expr.op_name
        if name == "relax.call_tir":
            self._call(bound)
        elif name == "relax.call_tir_inplace":
            raise NoBoundError("a call that overwrites its operands")
        elif name.startswith("relax.") and any(
            array.dtype.kind not in "biu" and _place(array) not in self._known
            for array in distinct(bound.value)
        ):
            raise NoBoundError(f"{name} is no kernel")

    def _call(self, bound: BoundVariable) -> None:
        callee, args, *numbers = bound.operands
        assert isinstance(callee, PrimFuncValue)
        made = distinct(bound.value)
        fields = args.fields if isinstance(args, TupleValue) else ()
        every = [*fields, *_scalars(numbers)]
        taken = [each.data if isinstance(each, Tensor) else each for each in every]
        taken[len(fields) : len(fields)] = made
        given: list[Any] = []
        kept: list[tuple[Array, _Shadow]] = []
        exact: set[int] = set()
        for number, each in enumerate(taken):
            if not isinstance(each, np.ndarray):
                given.append(getattr(each, "value", each))
                continue
            new = any(each is array for array in made)
            if not new and _place(each) not in self._known:
                given.append(each)  # weights, which are large
                exact.add(number)
                continue
            one = self.of(each)
            error = one.error if self._random is None else np.zeros(one.error.shape)
            one = _Shadow(np.zeros_like(one.wide), np.zeros(each.shape)) if new else one
            given += [one.wide, one.error if new else error]
            if new:
                kept.append((each, one))
        unsure = np.zeros(1)
        self._kernel(callee.func, exact)([*given, unsure])
        if unsure[0]:
            raise NoBoundError("a branch depends on rounding")
        for array, one in kept:
            self._keep(array, one)

    def _kernel(self, function: tir.PrimFunc, exact: set[int]) -> Callable[..., Any]:
        """A PrimFunc that computes errors, too, but for those of some operands."""
        key = id(function), frozenset(exact)
        if key not in self._kernels:
            typical = self._random is not None
            bounded = with_errors(function, self._eps / 2, exact=exact, typical=typical)
            self._kernels[key] = _kernel(bounded)
        return self._kernels[key]

    def _keep(self, array: Array, one: _Shadow) -> None:
        """Remember a shadow as long as its array lives."""
        wide, error = one.wide, one.error
        if self._random is not None and wide.dtype == np.float64:
            move = np.asarray(self._random.uniform(-1, 1, wide.shape))
            error[~np.isfinite(error)] = 0.0
            move *= error
            wide += move
            error = np.zeros(wide.shape)  # which takes no memory until it is written to
        place = _place(array)
        finalize(_owner(array), self._known.pop, place, None)
        self._known[place] = _Shadow(wide, error)


def _owner(array: Array) -> Array:
    """The array that has the memory of another one."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _place(array: Array) -> tuple[int, tuple[int, ...]]:
    return array.__array_interface__["data"][0], array.shape


def _scalars(values: list[Value]) -> list[Any]:
    found: list[Any] = []
    for each in values:
        if isinstance(each, ShapeValue):
            found += each.values
        elif isinstance(each, TupleValue):
            found += _scalars(list(each.fields))
        else:
            found.append(each.value if isinstance(each, Scalar) else each)
    return found


def _kernel(function: tir.PrimFunc) -> Callable[..., Any]:
    """The function as machine code, or as the evaluator runs it."""
    from rlx.semantics.native import NoCompiler, compile
    from rlx.semantics.tir import evaluate

    try:
        return compile(function)
    except (NoCompiler, Stop):
        return lambda args: evaluate(function, args)


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
    del program, outcome
    collect(size_of(inputs))
    return found


def size_of(values: Iterable[Value]) -> int:
    """The bytes of the arrays in some values."""
    return sum(array.nbytes for value in values for array in distinct(value))


def collect(size: int) -> None:
    """Give back the memory of runs that have ended, where they took so many bytes. Frames refer to
    each other, and the command collects them seldom.
    """
    if size > LARGE:
        gc.collect()


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
