"""Calls beside legal ones stay what they are: one number is 0, -1 or one more, one flag is the other, one operand has another rank.

What the rule says of such a call, and what it gives if nothing is wrong. `RLX_UPDATE_SNAPSHOTS=1 pytest
tests/operators/evaluate/test_same_neighbours.py` writes the digests anew, and sums in which the last bits do not matter.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlx.grammar import ast, tir
from rlx.operators import lookup
from rlx.operators.evaluation import OperatorFault
from tests.operators.context import Recorder
from tests.operators.evaluate.awkward import CASES
from tests.operators.evaluate.concrete import POINTS, Concrete, Unknown
from tests.operators.evaluate.test_same_values import arrays, summed

SNAPSHOT = Path(__file__).parent / "snapshots" / "neighbours.json"
EACH = 8
"""Neighbours of each case."""

NAMES = sorted({case[0] for case in CASES})


def numbers(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to the numbers and flags in a call's arguments."""
    match value:
        case bool() | int() | tir.IntImm():
            return [path]
        case tuple() | list():
            return [way for at, item in enumerate(value) for way in numbers(item, (*path, at))]
        case dict():
            return [way for key, item in value.items() for way in numbers(item, (*path, key))]
        case ast.ShapeExpr(values=dims):
            return numbers(dims, (*path, "dims"))
        case ast.PrimValue(value=inner):
            return numbers(inner, (*path, "value"))
    return []


def changed(value: Any, path: tuple[Any, ...], pick: random.Random) -> Any:
    """The same with another number at the end of a way."""
    if not path:
        if isinstance(value, bool):
            return not value
        old = value.value if isinstance(value, tir.IntImm) else value
        new = pick.choice([n for n in (0, -1, 1, old + 1, old - 1, 2) if n != old])
        return tir.IntImm(new) if isinstance(value, tir.IntImm) else new
    step, *rest = path
    if isinstance(value, dict):
        return {**value, step: changed(value[step], tuple(rest), pick)}
    if isinstance(value, ast.ShapeExpr):
        return ast.ShapeExpr(changed(value.values, tuple(rest), pick))
    if isinstance(value, ast.PrimValue):
        return ast.PrimValue(changed(value.value, tuple(rest), pick))
    items = [*value]
    items[step] = changed(items[step], tuple(rest), pick)
    return type(value)(items)


def reshaped(call: Concrete, pick: random.Random) -> None:
    """Give one operand a new leading axis, or take an axis or an element away."""
    variables = [var for var in call.values if isinstance(var, ast.Var)]
    if not variables:
        return
    var = pick.choice(variables)
    array = np.asarray(call.values[var])
    match pick.randrange(4):
        case 0:
            array = array[None]
        case 1 if array.ndim:
            array = array[0] if array.shape[0] else array.reshape(array.shape[1:][:0])
        case 2 if array.ndim:
            array = array[..., 1:]
        case _ if array.ndim:
            array = np.repeat(array, 2, pick.randrange(array.ndim))
    info = var.struct_info_annotation
    assert isinstance(info, ast.TensorStructInfo)
    shape = ast.ShapeExpr(tuple(map(tir.IntImm, array.shape)))
    other = ast.Var(var.name_hint, ast.TensorStructInfo(shape, info.dtype, array.ndim))
    name, args, attrs = call.case
    call.values = {other if key is var else key: call.values[key] for key in call.values}
    call.values[other] = array
    call.case = (name, _exchanged(args, var, other), _exchanged(attrs, var, other))


def _exchanged(value: Any, old: ast.Expr, new: ast.Expr) -> Any:
    if value is old:
        return new
    if isinstance(value, tuple | list):
        return type(value)(_exchanged(item, old, new) for item in value)
    if isinstance(value, dict):
        return {key: _exchanged(item, old, new) for key, item in value.items()}
    return value


def outcome(name: str) -> tuple[str, list[float]]:
    """What is said of the neighbours of an operator's legal calls, and sums over what they give."""
    operator = lookup(f"relax.{name}")
    assert operator is not None
    lines: list[str] = []
    total = np.zeros(5)
    for at, case in enumerate(case for case in CASES if case[0] == name):
        for again in range(EACH):
            pick = random.Random(f"{name} {at} {again}")
            try:
                call = Concrete(case, POINTS[again % 2])
            except Unknown:
                continue
            _, args, attrs = call.case
            ways = numbers((args, attrs))
            if ways and again % 4 < 3:
                call.case = (name, *changed((args, attrs), pick.choice(ways), pick))
            else:
                reshaped(call, pick)
            recorder = Recorder()
            lines += [str(call.case[2]), str(operator.derive(call.call, recorder))]
            lines += map(str, recorder.reports)
            if not operator.can_evaluate or any(s == "error" for _, s, _ in recorder.reports):
                continue
            try:
                value = call.evaluate()
            except OperatorFault as fault:
                lines.append(f"{fault.code} {fault}")
                continue
            for array in arrays(value):
                lines.append(f"{array.dtype}{array.shape}")
                total += summed(array) * (1 + again)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:20]
    return digest, [round(float(number), 4) for number in total]


def kept() -> dict[str, Any]:
    return dict(json.loads(SNAPSHOT.read_text("utf-8")))


@pytest.mark.parametrize("name", NAMES)
def test_neighbours_are_as_they_were(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        digest, total = outcome(name)
    if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
        entries = {**(kept() if SNAPSHOT.exists() else {}), name: [digest, total]}
        lines = [f"{json.dumps(key)}: {json.dumps(entries[key])}" for key in sorted(entries)]
        SNAPSHOT.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    expected, sums = kept()[name]
    assert digest == expected
    np.testing.assert_allclose(total, sums, rtol=1e-4, atol=1e-2)
