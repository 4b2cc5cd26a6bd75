"""LAW: whatever an option of an operator is exchanged for, what the checker passes runs as it was derived.

``python -m tests.semantics.machine.other_options COUNT SEED`` tries that many programs of each operator.
"""

from __future__ import annotations

import argparse
import random
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

from rlx.checker.check import check_text
from rlx.generate.programs import FEATURES, Options, random_module
from rlx.generate.reduce.passes import PASSES
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.nodes.rewrite import rebuild
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.print.printer import print_module
from rlx.operators.argument_kinds import WORDS
from rlx.operators.registry import every_name, lookup
from rlx.semantics.run.inputs import inputs
from tests.semantics.machine.packed import PACKED
from tests.semantics.machine.soundness import examine

PLAIN = FEATURES - {"runtime", "devices", "rare"}
(WITHOUT_ANNOTATIONS,) = (each for each in PASSES if each.name == "annotations")


def operators() -> list[str]:
    """The names of all operators."""
    return [name for name in every_name() if lookup(f"relax.{name}") is not None]


def others(name: str, value: Any, pick: random.Random) -> list[Any]:
    """Values that may replace an option's value."""
    if name in WORDS:
        return [word for word in WORDS[name] if word != value]
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 1, value - 1, -value, 0, 1, -1, 2]
        case float():
            return [0.0, -value, 1.5, float("inf"), float("nan"), 1e300]
        case None:
            return [0, 1, -1, True, (0,), ()]
        case str():
            return ["", value[::-1], "float16", "int8"]
        case tuple() | list():
            return [*_lists([*value], pick), None]
    return []


def _lists(value: list[Any], pick: random.Random) -> Iterator[tuple[Any, ...]]:
    if not value or not all(isinstance(each, int) for each in value):
        yield from ((0,), (1,))
        return
    at = pick.randrange(len(value))
    for number in (value[at] + 1, value[at] - 1, 0, -value[at]):
        yield (*value[:at], number, *value[at + 1 :])
    yield from (tuple(value[:-1]), tuple(reversed(value)), (*value, value[0]))


def exchanged(name: str, pick: random.Random) -> str:
    """A program with a call of an operator, of which an option is exchanged or given; empty if there is none."""
    module = random_module(random.Random(pick.random()), Options(1, PLAIN, (name,)))
    # What is written is what was derived of the call as it was.
    module = WITHOUT_ANNOTATIONS.without(module, WITHOUT_ANNOTATIONS.sites(module))
    calls = [call for function in _functions(module) for call in _calls(function, name)]
    options = [(call, key) for call in calls for key in _options(call)]
    if not options:
        return ""
    call, key = pick.choice(options)
    values = others(key, _options(call)[key], pick)
    if not values:
        return ""
    new = replace(call, attrs={**call.attrs, key: pick.choice(values)})

    def change(node: Node) -> Node:
        return new if node == call else node

    return print_module(rebuild(module, change))


def _functions(module: ast.IRModule) -> list[ast.Function]:
    return [*module.relax_functions.values()]


def _calls(function: ast.Function, name: str) -> Iterator[ast.Call]:
    for node in expressions(function):
        called = node.op if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Op) and called.op_name == f"relax.{name}":
            yield node  # type: ignore[misc]


def _options(call: ast.Call) -> dict[str, Any]:
    """The options that a call has, and those that it could have, with their values."""
    assert isinstance(call.op, ast.Op)
    operator = lookup(call.op.op_name)
    assert operator is not None
    left_out = operator.parameters[len(call.args) :]
    simple = (bool, int, float, str, type(None))
    known = {p.name: p.default for p in left_out if isinstance(p.default, simple)}
    return {**known, **call.attrs}


def run(text: str, seed: int) -> int:
    """Run the functions that the checker passes, each step held to what was derived; how many ran."""
    report = check_text(text)
    if not report.ok:
        return 0
    (module,) = report.modules
    ran = 0
    for name, function in module.relax_functions.items():
        if not function.attrs.get("private"):
            try:
                given = tuple(inputs(function, {}, seed).values)
            except ValueError:
                continue
            examine(report, module, name.name_hint, given, PACKED)
            ran += 1
    return ran


def main(argv: Sequence[str] | None = None) -> int:
    """Try programs of all operators; 1 if one breaks the law."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, metavar="COUNT")
    parser.add_argument("seed", type=int, metavar="SEED")
    given = parser.parse_args(argv)
    ran = broken = 0
    for name in operators():
        for seed in range(given.seed, given.seed + given.count):
            text = exchanged(name, random.Random(f"{name} {seed}"))
            try:
                ran += bool(text) and run(text, seed)
            except Exception:  # noqa: BLE001 - whatever it is, it is a mistake of ours
                broken += 1
                print(f"{name}, seed {seed}\n{text}{traceback.format_exc(limit=-3)}", flush=True)
    print(f"{ran} functions ran, {broken} broke the law")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
