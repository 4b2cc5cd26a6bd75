"""Results of programs on inputs of several sizes, compared value by value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import TupleStructInfo
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Node, Record, replace
from rlx.grammar.nodes.rewrite import rebuild
from rlx.semantics.outcome import Ended, Fault, Outcome, OutOfFuel, Returned, Unsupported
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value

SIZES = (3, 1, 0)
"""The numbers that shape variables get."""

FUEL = 200_000
ITERATIONS = 10_000
"""The most iterations of loops in a PrimFunc: a third of a second. Without an answer by then nothing
is compared.
"""

TOLERANCE: dict[str, float] = {
    "float64": 1e-9,
    "float32": 1e-4,
    "float16": 5e-2,
    "bfloat16": 2e-1,
}
"""Relative, and absolute for numbers around 1; other floats are compared for a half of their
range.
"""


class Meaning(Record):
    """The result of one function on one set of inputs.

    Attributes
    ----------
    function, size
        Which function, and the number of its shape variables.
    given
        The arguments, one set of which nothing writes into.
    outcome
        How the run ended.
    params
        The parameters.
    """

    function: str
    size: int
    given: Sequence[Value]
    outcome: Outcome
    params: tuple[ast.Var, ...] = ()

    def takes_the_same(self, params: Sequence[ast.Var]) -> bool:
        """Whether parameters have the same names, in the same order, and the same types; a device
        is no part of a type here, since it changes no value.
        """
        if [var.name_hint for var in self.params] != [var.name_hint for var in params]:
            return False
        one, other = (TupleStructInfo(tuple(map(_type, each))) for each in (self.params, params))
        return structural_equal(one, other, map_free_vars=True)


def _type(param: ast.Var) -> ast.StructInfo:
    def change(node: Node) -> Node:
        return replace(node, vdevice=None) if isinstance(node, ast.TensorStructInfo) else node

    made: ast.StructInfo = rebuild(param.struct_info_annotation or ast.ObjectStructInfo(), change)
    return made


class ComparedMeanings(Record):
    """The result of comparing the runs of two programs.

    Attributes
    ----------
    difference
        The first difference; None if there is none.
    compared
        How many runs were compared.
    skipped
        Why functions were not compared, each reason once.
    ended
        How a run ended without a value, by function.
    """

    difference: RunDifference | None
    compared: int
    skipped: tuple[str, ...]
    ended: Mapping[str, str]


class RunDifference(Record):
    """The difference between two runs.

    Attributes
    ----------
    said
        In words.
    size
        The number of the shape variables.
    """

    said: str
    size: int


def meanings(
    text: str, seed: int, earlier: Sequence[Meaning] = (), sizes: Sequence[int] = SIZES
) -> list[Meaning]:
    """The results of the entries of a program, for each of the numbers that shape variables get.

    Parameters
    ----------
    earlier
        Runs of the program that a pass made this one of: their arguments are taken again. What is
        made up depends on names and annotations, which a pass may change.
    """
    from rlx.generate.campaign.peer import PACKED
    from rlx.grammar.read.parser import parse
    from rlx.semantics.machine import load

    module, *_ = parse(text).modules
    program = load(
        module, packed=PACKED, backend="steps", iterations=ITERATIONS
    )  # inputs are too small to compile for
    known = {(m.function, m.size): m for m in earlier}
    found = []
    for name, function in module.relax_functions.items():
        if "global_symbol" in function.attrs:
            for size in sizes:
                one, params = known.get((name.name_hint, size)), function.params
                if one is not None and one.takes_the_same(params):
                    given: Sequence[Value] | None = one.given
                else:
                    given = arguments(function, size, seed)
                if given is not None:
                    outcome = program.run(name.name_hint, deepcopy(given), fuel=FUEL)
                    found.append(Meaning(name.name_hint, size, given, outcome, params))
    return found


def arguments(function: ast.Function, size: int, seed: int) -> Sequence[Value] | None:
    """Arguments for a function; None where none can be made up."""
    from rlx.semantics.run.inputs import InputError, inputs

    given = {var.name: str(size) for var in function.shape_vars}
    try:
        return inputs(function, given, seed).values
    except InputError:
        return None


def differ(before: Sequence[Meaning], after: Sequence[Meaning]) -> RunDifference | None:
    """The first difference between what two programs return; see :func:`compared`."""
    return compared(before, after).difference


def compared(before: Sequence[Meaning], after: Sequence[Meaning]) -> ComparedMeanings:
    """Compare the results of two programs, run by run.

    Functions are compared only if they have the same parameters. A run that ended without a value
    may end in any way afterwards (inside of dataflow blocks checks may go).
    """
    found = {(m.function, m.size): m for m in after}
    skipped: dict[str, None] = {}
    without: dict[str, str] = {}
    count = 0
    for one in before:
        other = found.get((one.function, one.size))
        if other is None:
            skipped[f"there is no {one.function} any more"] = None
            continue
        if not other.takes_the_same(one.params):
            skipped[f"{one.function} has other parameters"] = None
            continue
        ended = _without_value(one.outcome, other.outcome)
        if ended is not None:
            without.setdefault(one.function, ended.message)
            continue
        difference = _difference(one, other.outcome)
        if difference is not None:
            return ComparedMeanings(difference, count, (*skipped,), without)
        count += 1
    return ComparedMeanings(None, count, (*skipped,), without)


def _without_value(one: Outcome, other: Outcome) -> Ended | None:
    """The run that ended without a value, where that says nothing about the other."""
    if isinstance(one, Ended):
        return one
    if isinstance(other, (Unsupported, OutOfFuel)) or _elsewhere(other) or out_of_memory(other):
        assert isinstance(other, Ended)
        return other
    return None


def _difference(one: Meaning, other: Outcome) -> RunDifference | None:
    where = f"{one.function} with size {one.size}"
    if not isinstance(other, Returned):
        assert isinstance(other, Ended)
        kind = type(other).__name__
        said = f"{where}: returned a value before, now {kind} {other.code}: {other.message}"
        return RunDifference(said, one.size)
    assert isinstance(one.outcome, Returned)
    unequal = compare(one.outcome.value, other.value)
    return RunDifference(f"{where}: {unequal}", one.size) if unequal else None


def _elsewhere(outcome: Outcome) -> bool:
    """Whether a run ended at a packed function of TVM's, which is not ours to run."""
    return isinstance(outcome, Fault) and outcome.code == "E-extern-registered"


def out_of_memory(outcome: Outcome) -> bool:
    """Whether the limit of memory ended a run, which says nothing about the program."""
    return isinstance(outcome, Fault) and outcome.code in ("E-alloc-size", "E-result-memory-there")


def how(difference: str) -> str:
    """The kind of a difference, without the values."""
    found = _ENDED.search(difference)
    if found is not None:
        return f"{found[1]} {found[2]}"
    return "another type of value" if _TYPE.search(difference) else "another value"


def ruling(difference: str) -> str:
    """The rule that says who is right: the one that ended the run, or that of the values of
    operators.
    """
    found = _ENDED.search(difference)
    return found[2] if found is not None else "E-evaluate"


_ENDED = re.compile(r"now ([A-Z]\w+) ([A-Z][\w-]+):")
_TYPE = re.compile(r"\w+\([\d, ]*\) became|a \w+ became a ")


def compare(one: Value, other: Value) -> str:
    """The difference between two values; empty if they agree within :data:`TOLERANCE`."""
    match one, other:
        case TupleValue(fields=left), TupleValue(fields=right) if len(left) == len(right):
            parts = (compare(a, b) for a, b in zip(left, right, strict=True))
            return next((f"field {at}: {p}" for at, p in enumerate(parts) if p), "")
        case Tensor(data=left), Tensor(data=right):
            return arrays_differ(left, right)
        case Scalar(value=left), Scalar(value=right):
            return "" if left == right else f"{left} became {right}"
        case ShapeValue(values=left), ShapeValue(values=right):
            return "" if tuple(left) == tuple(right) else f"{left} became {right}"
        case Tensor() | TupleValue() | Scalar() | ShapeValue(), _:
            return f"a {type(one).__name__} became a {type(other).__name__}"
    return ""


def arrays_differ(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> str:
    """The difference between two arrays; empty if they agree."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return f"{left.dtype}{left.shape} became {right.dtype}{right.shape}"
    wrong = unequal_elements(left, right)
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    count = f"{int(wrong.sum())} of {wrong.size} elements of {left.dtype}"
    return f"{count}, at {at}: {left[at]} became {right[at]}"


def unequal_elements(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> Any:
    """The elements in which two arrays of one shape and element type disagree, as an array of
    Booleans.
    """
    if left.dtype.kind in "biu":
        return left != right
    bound = TOLERANCE.get(str(left.dtype), 0.5)
    a, b = left.astype(np.float64), right.astype(np.float64)
    return ~np.isclose(a, b, rtol=bound, atol=bound, equal_nan=True)
