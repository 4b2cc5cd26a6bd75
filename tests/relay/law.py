"""The law of the forms: graph, A-normal form and Relax give the same values, effects and failures.

python -m tests.relay.law --count 100000 --seed 1
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rlx import relay
from rlx.checker.check import check_module
from rlx.grammar.diagnostic import Source
from rlx.grammar.printer import print_node
from rlx.relay.nodes import RelayModule
from rlx.relay.translation import translate
from rlx.semantics.machine import load
from rlx.semantics.outcome import Ended, Outcome
from rlx.semantics.values import Tensor
from tests.relay.generator import program

Seen = tuple[str, Any, list[int]]


def arguments() -> tuple[Any, Any]:
    """The arguments of ``@main``."""
    return np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3), np.array(2, np.int32)


def seen(run: Callable[..., Outcome]) -> Seen:
    """How a run ends, its value or the code of its failure, and its effects."""
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


def forms(module: RelayModule) -> dict[str, Seen]:
    """How each form of a module runs."""
    args = arguments()
    normal = relay.to_anf(module)
    written = relay.parse(str(module))
    assert relay.structural_equal(written, module), "the text reads back as another program"
    made = {"graph": module, "A-normal form": normal, "graph again": relay.to_graph(normal)}
    found = {}
    for name, form in made.items():
        found[name] = seen(partial(relay.run, form, *args))
    found["Relax"] = seen(
        lambda *, packed: load(relay.to_relax(module), packed=packed).run(
            "main", [Tensor(arg) for arg in args]
        )
    )
    return found


def types(module: RelayModule) -> tuple[list[str], list[str]]:
    """The types of the functions as the translation derives them, and as Relax's check does."""
    made = translate(module)
    report = check_module(made.module, Source(""))
    assert report.ok, str(report.errors[0])
    again = {name: report.info[var] for name, var in made.names.items()}
    mine = [print_node(signature) for signature in made.signatures.values()]
    return mine, [print_node(info) for info in again.values()]


def broken(seed: int) -> str:
    """What is wrong with the forms of a program; empty if nothing."""
    module = program(seed)
    found = forms(module)
    first = found["graph"]
    for name, other in found.items():
        if not agree(first, other):
            return f"{name}: {other}\ngraph: {first}\n{module}"
    mine, checked = types(module)
    return "" if mine == checked else f"types: {mine}\nchecked: {checked}\n{module}"


def main() -> int:
    """Try many programs; print the first that breaks the law."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    kinds: dict[str, int] = {}
    for seed in range(options.seed, options.seed + options.count):
        wrong = broken(seed)
        if wrong:
            print(f"seed {seed}: {wrong}")
            return 1
        kind = forms(program(seed))["graph"][0] if options.count <= 1000 else "programs"
        kinds[kind] = kinds.get(kind, 0) + 1
    print(kinds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
