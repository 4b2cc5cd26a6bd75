"""A premise counts as covered only if a test says its code: being hit by chance is not being tested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rlx.solver.order import bind
from rlx.spec.blocks import SHOWN_BY_TESTS
from rlx.spec.coverage import RuleCounts
from rlx.spec.registry import Observer, judged, need, observing, refuted
from tests.solver.order.build import prover, shape, tensor, var

ROOT = Path(__file__).parents[2]
TEXTS = [
    path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "tests").rglob("*"))
    if path.suffix in (".py", ".md") and path != Path(__file__)
]


@pytest.mark.parametrize("code", SHOWN_BY_TESTS)
def test_what_no_program_shows_stands_in_a_test(code: str) -> None:
    """Every other premise has a bad program beside its rule, which `tests/spec/test_examples.py` runs."""
    places = f'"{code}"', f" {code}", f"[{code}]"
    assert any(place in text for place in places for text in TEXTS)


def test_values_of_one_variable_agree() -> None:
    n = var("n")
    params = (tensor((n,)), shape((n,)))
    assert bind(params, (tensor((4,)), shape((4,))), (n,), prover()).conflicts == ()
    (conflict,) = bind(params, (tensor((4,)), shape((5,))), (n,), prover()).conflicts
    assert conflict.var is n
    assert conflict.relation is not None and conflict.relation.kind == "never"


@judged("rule", "D12")
def _judge(value: int) -> int:
    if not need("D12-tuple", value % 2 == 0):
        refuted("D12-tuple")
    return value + 1


class Told(Observer):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def begins(self, kind: str, name: str, function: Any, given: Any, named: Any) -> object:
        self.told.append((kind, name, given))
        return name

    def ends(self, begun: Any, result: object, completed: bool) -> None:
        self.told.append((begun, result, completed))

    def holds(self, label: str) -> None:
        self.told.append(f"{label} holds")

    def fails(self, label: str, diagnostic: object) -> None:
        self.told.append(f"{label} fails")


def test_an_observer_is_told_of_judgements_and_premises() -> None:
    observer = Told()
    with observing(observer):
        assert (_judge(1), _judge(2)) == (2, 3)
    _judge(3)
    assert observer.told == [
        ("rule", "D12", (1,)),
        "D12-tuple fails",
        ("D12", 2, True),
        ("rule", "D12", (2,)),
        "D12-tuple holds",
        ("D12", 3, True),
    ]


def test_a_rule_that_raises_ends_too() -> None:
    observer = Told()
    with pytest.raises(TypeError), observing(observer):
        _judge("x")  # type: ignore[arg-type]
    assert observer.told == [("rule", "D12", ("x",)), ("D12", None, False)]


def test_several_observe_at_once() -> None:
    outer, inner = RuleCounts(), RuleCounts()
    with observing(outer):
        _judge(1)
        with observing(inner):
            _judge(2)
    assert (outer.applied["D12"], outer.held["D12"], outer.failed) == (2, 1, {"D12-tuple": 1})
    assert (inner.applied["D12"], inner.held["D12"], inner.failed) == (1, 1, {})


@pytest.mark.parametrize("given", [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), (1, 2, 3, 4, 5)])
def test_a_rule_may_have_any_arguments(given: tuple[int, ...]) -> None:
    def many(*args: int) -> int:
        return sum(args)

    def exact(a: int, b: int, c: int, d: int) -> int:
        return a + b + c + d

    def optional(*, a: int = 1) -> int:
        return a

    for function in (
        (many, optional) if not given else (many, exact) if len(given) == 4 else (many,)
    ):
        counted = judged("rule", "X1")(function)
        counts = RuleCounts()
        assert counted(*given) == function(*given)
        with observing(counts):
            assert counted(*given) == function(*given)
        assert counts.applied == {"X1": 1}
