"""Runs with and without the redundant checks end alike, and no redundant check ever fails."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.checker.check import check_text
from rlx.checker.dynamic_checks import analyse
from rlx.generate import modules
from rlx.grammar.nodes import ast
from rlx.semantics.machine import load
from rlx.semantics.outcome import CheckFailed, Ended, Outcome, Returned
from rlx.semantics.values import Tensor, TupleValue, Value
from rlx.solver.order import free_shape_vars
from rlx.transform.dynamic_checks import eliminate
from tests.values import alike

from .programs import CLEAN, report
from .test_truth import Point, Unmakeable, confirm, judgements, make

RULES = {"cast": "E-match-cast", "return": "E-return"}
RUNS = 4


def same_end(one: Outcome, other: Outcome) -> bool:
    """Whether two runs end alike: with the same value, or for the same reason."""
    match one, other:
        case Returned(value=a), Returned(value=b):
            return alike(a, b)
        case Ended(code=a), Ended(code=b):
            return type(one) is type(other) and a == b
    return False


def arguments(function: ast.Function, choose: random.Random) -> list[Value]:
    """Values that a function's entry accepts, or sometimes does not."""
    infos = [p.struct_info_annotation or ast.ObjectStructInfo() for p in function.params]
    point: Point = {v: choose.randint(0, 4) for info in infos for v in free_shape_vars(info)}
    values = [make(info, info, point, choose) for info in infos]
    return [_filled(value, choose) for value in values]


def _filled(value: Value, choose: random.Random) -> Value:
    """A tensor with numbers in it."""
    if not isinstance(value, Tensor):
        return value
    numbers = np.random.default_rng(choose.randint(0, 999)).integers(0, 3, value.shape)
    return Tensor(np.asarray(numbers).astype(value.dtype), value.device)


def compare(module: ast.IRModule, choose: random.Random) -> int:
    """Run every function on random arguments, with and without; how many runs there were."""
    checks = analyse(module)
    proved = {
        rule: all(c.status == "redundant" for c in checks if c.kind == kind)
        for kind, rule in RULES.items()
    }
    before, after = load(module), load(eliminate(module))
    runs = 0
    for gv, function in module.relax_functions.items():
        if "global_symbol" not in function.attrs:
            continue
        for _ in range(RUNS):
            try:
                one = arguments(function, choose)
            except Unmakeable:
                continue
            other = [copied(value) for value in one]
            first = before.run(gv.name_hint, one, fuel=20_000)
            second = after.run(gv.name_hint, other, fuel=20_000)
            assert same_end(first, second), (gv.name_hint, first, second)
            if isinstance(first, CheckFailed):
                assert not proved.get(first.rule, False), first
            runs += 1
    return runs


def copied(value: Value) -> Value:
    match value:
        case Tensor():
            return Tensor(value.data.copy(), value.device)
        case TupleValue(fields=fields):
            return TupleValue(tuple(map(copied, fields)))
    return value


@pytest.mark.parametrize("name", CLEAN)
def test_runs_of_programs(name: str) -> None:
    choose = random.Random(name)
    for module in report(name).modules:
        compare(module, choose)


@settings(max_examples=10, deadline=None)
@given(modules(), st.randoms(use_true_random=False))
def test_runs_of_generated_modules(module: ast.IRModule, choose: random.Random) -> None:
    for case in judgements(module):
        confirm(case, choose)
    once = eliminate(module)
    assert eliminate(once) is once
    compare(module, choose)


def test_a_cast_that_should_have_stayed_is_found_out() -> None:
    """The comparison can fail: a module without a cast that does fail runs on."""
    text = (
        "@R.function\n"
        'def main(x: R.Tensor(("n", 4), "float32")):\n'
        '    y = R.match_cast(x, R.Tensor((9, 4), "float32"))\n'
        "    return y\n"
    )
    (module,) = check_text(text).modules
    (other,) = check_text(
        text.replace("(9, 4)", "(n, 4)").replace(":\n", ":\n    n = T.int64()\n", 1)
    ).modules
    value = Tensor(np.zeros((2, 4), "float32"))
    ends = [load(m).run("main", [value], fuel=100) for m in (module, other)]
    assert isinstance(ends[0], CheckFailed)
    assert ends[0].rule == RULES["cast"]
    assert not same_end(*ends)
