"""The law of the forms: graph, A-normal form and Relax give the same values, effects and failures.

python -m tests.relay.law 100000 1
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rlx import relay
from rlx.checker.check import check_module
from rlx.grammar.diagnostic import Source
from rlx.grammar.print.printer import print_node
from rlx.relay.nodes import RelayModule
from rlx.relay.translation import Translation, translate
from rlx.semantics.machine import load
from rlx.semantics.outcome import Ended, Outcome
from rlx.semantics.values import Tensor, TupleValue, Value
from tests.long_run import long_run
from tests.relay.generator import program

Seen = tuple[str, Any, list[int]]


def arguments() -> tuple[Any, ...]:
    """The arguments of ``@main``."""
    x = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)
    return x, np.array(2, np.int32), (x[::-1].copy(), np.array(1, np.int32))


def seen(run: Callable[..., Outcome]) -> Seen:
    """The end of a run: its value or the code of its failure, and its effects."""
    effects: list[int] = []

    def tick(value: Any, number: int) -> Any:
        effects.append(int(number))
        return value

    found = run(packed={"trace.tick": tick})
    kind = type(found).__name__
    return kind, found.code if isinstance(found, Ended) else found.numpy(), effects


def agree(one: Seen, other: Seen) -> bool:
    """Whether two runs look alike from outside."""
    return one[0] == other[0] and one[2] == other[2] and same(one[1], other[1])


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, to the bit."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, str):
        return bool(one == other)
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)


def value(arg: Any) -> Value:
    """An argument as a value of the machine."""
    if isinstance(arg, tuple):
        return TupleValue(tuple(map(value, arg)))
    return Tensor(arg)


def forms(module: RelayModule, made: Translation | None = None) -> dict[str, Seen]:
    """Run each form of a module."""
    made = made or translate(module)
    args = arguments()
    normal = relay.to_anf(module)
    written = relay.parse(str(module))
    assert relay.structural_equal(written, module), "the text reads back as another program"
    shapes = {"graph": module, "A-normal form": normal, "graph again": relay.to_graph(normal)}
    found = {name: seen(partial(relay.run, form, *args)) for name, form in shapes.items()}
    values = list(map(value, args))
    found["Relax"] = seen(lambda *, packed: load(made.module, packed=packed).run("main", values))
    return found


def types(made: Translation) -> tuple[list[str], list[str]]:
    """The types of the functions as the translation derives them, and as Relax's check does."""
    report = check_module(made.module, Source(""))
    assert report.ok, str(report.errors[0])
    again = {name: report.info[var] for name, var in made.names.items()}
    mine = [print_node(signature) for signature in made.signatures.values()]
    return mine, [print_node(info) for info in again.values()]


def broken(seed: int, kinds: Counter[str]) -> str:
    """The problem with the forms of a program; empty if there is none. `kinds` counts how the runs end."""
    module = program(seed)
    made = translate(module)
    found = forms(module, made)
    first = found["graph"]
    kinds[first[0]] += 1
    for name, other in found.items():
        if not agree(first, other):
            return f"{name}: {other}\ngraph: {first}\n{module}"
    mine, checked = types(made)
    return "" if mine == checked else f"types: {mine}\nchecked: {checked}\n{module}"


if __name__ == "__main__":
    long_run(broken)
