"""Watching a module on its way through passes reports new errors and values that change."""

from __future__ import annotations

import pytest

from rlx.tvm.watch import ILLEGAL, INPUT, MEANING, Watch

GOOD = """\
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    a = R.exp(x)
    b = R.add(a, x)
    return b
"""
SAME = GOOD.replace("R.add(a, x)", "R.add(x, a)")
OTHER = GOOD.replace("R.add", "R.subtract")
WRONG = GOOD.replace("R.add(a, x)", "R.add(a, z)")
MOVED = WRONG.replace("    a = R.exp(x)\n", "    w = R.exp(x)\n    a = R.exp(w)\n")
WORSE = MOVED.replace("return b", "return c")


def test_what_was_wrong_before_is_said_once() -> None:
    watch = Watch()
    problem = watch.before(WRONG)
    assert problem is not None and watch.problems == [problem]
    assert (problem.pass_name, problem.kind) == (INPUT, ILLEGAL)
    assert (problem.before, problem.after) == (WRONG, "")
    assert str(problem).startswith(f"{INPUT}: ") and "'z'" in problem.message
    assert watch.before(WORSE) is None
    assert watch.after("Move", MOVED) is None
    worse = watch.after("Worse", WORSE)
    assert worse is not None and "'c'" in worse.message
    assert (worse.before, worse.after, worse.kind) == (MOVED, WORSE, ILLEGAL)
    assert watch.problems == [problem, worse] and watch.seen == ["Move", "Worse"]


@pytest.mark.parametrize("sizes", [(), (3, 1)])
def test_a_pass_that_makes_errors(sizes: tuple[int, ...]) -> None:
    watch = Watch(sizes)
    assert watch.before(GOOD) is None and watch.after("Same", GOOD) is None
    problem = watch.after("Break", WRONG)
    assert problem is not None and (problem.pass_name, problem.kind) == ("Break", ILLEGAL)
    assert watch.after("Outer", WRONG) is None  # a pass around it is not to blame
    assert watch.after("Mend", GOOD) is None
    assert [p.pass_name for p in watch.problems] == ["Break"]
    assert watch.seen == ["Same", "Break", "Outer", "Mend"]


def test_a_pass_that_changes_values() -> None:
    watch = Watch((3, 1))
    assert watch.before(GOOD) is None and watch.after("Swap", SAME) is None
    problem = watch.after("Other", OTHER)
    assert problem is not None and (problem.pass_name, problem.kind) == ("Other", MEANING)
    assert (problem.before, problem.after) == (SAME, OTHER)
    assert (
        watch.after("Rest", OTHER.replace("b = ", "c = ").replace("return b", "return c")) is None
    )
    blind = Watch()
    assert blind.before(GOOD) is None and blind.after("Other", OTHER) is None
