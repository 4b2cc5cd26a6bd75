"""Configurations stay what they were: looking back, going back, going on from an old one."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.semantics.machine import Configuration, environment
from rlx.semantics.outcome import Outcome, Returned
from rlx.semantics.store import Store
from rlx.semantics.values import Tensor, TupleValue
from tests.semantics.machine.running import double, floats, module, program, value

MUTATING = """
@R.function(pure=False)
def main(x: R.Any) -> R.Any:
    a = R.call_packed("double", x)
    b = R.call_packed("double", a)
    c = R.const([5], "int32")
    d = R.call_packed("double", c)
    return (b, d)
"""


def steps(text: str, *args: Any, **packed: Any) -> list[Configuration | Outcome]:
    return list(program(text, **packed).trace("main", [value(arg) for arg in args]))


def test_old_configurations_show_the_memory_of_then() -> None:
    x = Tensor(floats(1, 2))
    seen = []
    for step in program(MUTATING, double=double).trace("main", [x]):
        if isinstance(step, Configuration):
            seen.append((step, x.data.tolist()))
    assert [content[0] for _, content in seen] == [1, 1, 2, 2, 4, 4, 4, 4, 4]
    store = seen[0][0].version.store
    for step, content in [*reversed(seen), *seen, *seen[::2]]:
        store.show(step.version)
        assert x.data.tolist() == content
    store.show(seen[-1][0].version)


def test_going_on_from_an_old_configuration_gives_the_same() -> None:
    x = Tensor(floats(1, 2))
    ready = program(MUTATING, double=double)
    first = list(ready.trace("main", [x]))
    result = first[-1]
    assert isinstance(result, Returned)
    for start in first[:-1]:
        assert isinstance(start, Configuration)
        now: Configuration | Outcome = start
        rules = []
        while isinstance(now, Configuration):
            rules.append(now.rule)
            now = ready.step(now)
        assert isinstance(now, Returned) and isinstance(now.value, TupleValue)
        assert rules == [s.rule for s in first[first.index(start) : -1]]  # type: ignore[union-attr]
        assert now.value.fields[0] is x
        assert x.data.tolist() == [4, 8]
        assert now.value.fields[1].data.tolist() == [10]  # type: ignore[attr-defined]


def test_futures_do_not_see_each_other() -> None:
    text = """
@R.function
def main(x: R.Any) -> R.Any:
    a = R.const([1], "int32")
    b = R.const([2], "int32")
    return (a, b)
"""
    ready = program(text)
    first = ready.start("main", [value(0)])
    assert isinstance(first, Configuration)
    one = ready.step(first)
    other = ready.step(first)
    assert isinstance(one, Configuration) and isinstance(other, Configuration)
    a, b = (
        {v.name_hint: held for v, held in environment(c).items()}["a"]  # type: ignore[union-attr]
        for c in (one, other)
    )
    assert a is not b
    after = ready.step(one)
    assert isinstance(after, Configuration)
    assert {v.name_hint: held for v, held in environment(after).items()}["a"] is a  # type: ignore[union-attr]
    assert len(environment(one)) == 2


def test_pure_programs_leave_the_store_as_it_is() -> None:
    text = """
@R.function
def main(x: R.Tensor((n,), "float32")) -> R.Any:
    cls = M
    y = R.call_pure_packed("f", x, sinfo_args=(R.Any,))
    z = R.add(x, x)
    return (y, z)
"""
    made = steps(text, floats(1, 2), f=lambda x: x + 1)
    assert isinstance(made[-1], Returned)
    versions = {id(step.version) for step in made if isinstance(step, Configuration)}
    assert len(versions) == 1


def test_a_fault_in_the_middle_of_a_change_can_be_looked_behind() -> None:
    def half(x: Any) -> Any:
        x[0] = 9
        raise ValueError("half way")

    x = Tensor(floats(1, 2))
    made = steps(
        '@R.function(pure=False)\ndef main(x: R.Any) -> R.Any:\n    return R.call_packed("f", x)',
        x,
        f=half,
    )
    assert x.data.tolist() == [9, 2]
    first = made[0]
    assert isinstance(first, Configuration)
    first.version.store.show(first.version)
    assert x.data.tolist() == [1, 2]


def test_aliases_go_back_together() -> None:
    whole = np.arange(4, dtype=np.float32)
    left, both = Tensor(whole[:3]), Tensor(whole)
    text = """
@R.function(pure=False)
def main(a: R.Any, b: R.Any) -> R.Any:
    return R.call_packed("f", a, b)
"""

    def change(a: Any, b: Any) -> Any:
        a += 1
        b += 1
        return a

    made = steps(text, left, both, f=change)
    after = whole.tolist()
    assert after == [2, 3, 4, 4]
    first, last = made[0], made[-2]
    assert isinstance(first, Configuration) and isinstance(last, Configuration)
    for _ in range(2):
        first.version.store.show(first.version)
        assert whole.tolist() == [0, 1, 2, 3]
        first.version.store.show(last.version)
        assert whole.tolist() == after


def test_a_module_that_is_normal_already_is_run_as_it_is() -> None:
    made = module("@R.function\ndef main(x: R.Any) -> R.Any:\n    y = x\n    return y")
    from rlx.semantics.machine import load

    assert load(made).module is made


def test_a_tensor_without_elements_holds_all_that_it_can() -> None:
    store = Store(None, keeping=True)
    for shape, blank in (((0,), False), ((2, 0), False), ((1,), True), ((), True)):
        tensor = Tensor(np.zeros(shape, "float32"))
        store.blanked(tensor)
        assert (id(tensor) in store.blank) is blank
        store.filled(tensor)
        assert id(tensor) not in store.blank
