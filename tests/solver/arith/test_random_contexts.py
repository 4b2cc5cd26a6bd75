"""Contexts that change, are copied, and are left again: what another context or an earlier state says never changes."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype
from rlx.solver import Context
from rlx.solver.context import Components, ContextState, Int64State, order
from rlx.solver.question_parser import parse, show

TYPES = ("int64", "int64", "int32", "uint8", "bool", "uint64", "int128", "float32")
LIMITS = (None, None, 0, 0, 1, 2, 5, -3, 300, -(1 << 63), 1 << 40)
TEXTS = ("n < m", "m % 2 == 0 and n >= 1", "k == n*m", "n // k >= 1", "1 < 2", "j <= 4", "m == 3")
VALUES = ("n + 1", "m*k", "7", "k", "n // 2 + n", "j")


class Steps:
    """Contexts under random changes."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.named = {name: tir.Var(name, dtype(self.random.choice(TYPES))) for name in "nmkj"}
        self.contexts = [Context()]
        self.depths = [0]
        self.states: list[tuple[ContextState, str]] = []

    def told(self, state: ContextState) -> str:
        """The contents, each variable with a number of its own."""
        used = (*state.ranges, *state.definitions, *state.definitions.values(), *state.facts)
        numbers: dict[tir.Var, int] = {}
        for expr in used:
            for node in tir.postorder(expr):
                if isinstance(node, tir.Var):
                    numbers.setdefault(node, len(numbers))

        def read(expr: tir.PrimExpr) -> str:
            inside = [numbers[v] for v in tir.postorder(expr) if isinstance(v, tir.Var)]
            return f"{show(expr)} {inside}"

        wide = Int64State(state.ranges, state.facts, state.definitions)
        return "\n".join(
            [
                *(f"{read(var)}: {limits}" for var, limits in state.ranges.items()),
                *(f"{read(var)} = {read(expr)}" for var, expr in state.definitions.items()),
                *(read(fact) for fact in state.facts),
                *(f"{v.name} {state.range_of(v)} {wide.range_of(v)}" for v in self.named.values()),
            ]
        )

    def step(self) -> None:
        at = self.random.randrange(len(self.contexts))
        context, var = self.contexts[at], self.named[self.random.choice("nmkj")]
        match self.random.randrange(9):
            case 0 | 1:
                low, high = self.random.choice(LIMITS), self.random.choice(LIMITS)
                with suppress(ValueError):
                    context.declare(var, low, high)
            case 2:
                with suppress(ValueError):
                    context.declare(var)
            case 3 | 4:
                context.assume(parse(self.random.choice(TEXTS), self.named))
            case 5:
                with suppress(ValueError):  # a bool is not 7
                    context.define(var, parse(self.random.choice(VALUES), self.named))
            case 6:
                context.push()
                self.depths[at] += 1
            case 7 if len(self.contexts) < 4:
                self.contexts.append(context.copy())
                self.depths.append(0)
            case _:
                if self.depths[at]:
                    context.pop()
                    self.depths[at] -= 1
                else:
                    with pytest.raises(IndexError):
                        context.pop()

    def check(self) -> None:
        """All states that were seen say what they said; some of the present ones are noted."""
        for state, text in self.states:
            assert self.told(state) == text
        for context in self.contexts:
            if self.random.random() < 0.6:
                self.states.append((context.state, self.told(context.state)))


@pytest.mark.parametrize("seed", range(40))
def test_what_contexts_say(seed: int) -> None:
    steps = Steps(seed)
    for _ in range(14):
        steps.step()
        steps.check()


@pytest.mark.parametrize("seed", range(25))
def test_facts_by_the_variables_that_they_share(seed: int) -> None:
    """Each fact is in one part; parts share no variable."""
    random = Random(seed)
    named = {f"x{at}": tir.Var(f"x{at}") for at in range(9)}
    texts = [_fact(random) for _ in range(random.randrange(12))]
    facts = [parse(text, named) for text in texts]
    goal = parse(_fact(random), named)
    components = Components(facts)
    used = [v for v in tir.postorder(goal) if isinstance(v, tir.Var)]
    near, far = components.split(used)
    assert sorted(map(id, facts)) == sorted(id(f) for group in (near, *far) for f in group)
    groups = [_variables(group) for group in (near, *far)]
    for at, group in enumerate(groups):
        assert not any(group & other for other in groups[at + 1 :])
    assert not any({*used} & group for group in groups[1:])
    state = ContextState({}, tuple(facts), {})
    variables, ordered = order(goal, near, state)
    assert sorted(map(id, ordered)) == sorted(map(id, near))
    assert {*variables} == {*used} | _variables(near)


def _fact(random: Random) -> str:
    names = random.sample([f"x{at}" for at in range(9)], 2)
    shape = random.choice(("{0} < {1}", "{0} >= 1", "{0} == 2*{1}", "1 < 2", "{0} % 3 == {1}"))
    return shape.format(*names)


def _variables(group: list[tir.PrimExpr]) -> set[tir.Var]:
    return {v for fact in group for v in tir.postorder(fact) if isinstance(v, tir.Var)}
