"""Runs step by step, with each configuration, of programs that were picked because each shows a mistake which the others do
not.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/semantics/machine/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.semantics.machine.test_same_picked 3000 300 --room semantics/machine` picks more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rlx.checker.check import check_text
from rlx.commands.step import lines as told
from rlx.grammar import ast
from rlx.grammar.ast import IRModule
from rlx.grammar.diagnostic import Source
from rlx.semantics.machine import Configuration, MachineProgram, environment, load, stack
from rlx.semantics.outcome import Ended, Outcome, Returned
from rlx.semantics.run.inputs import inputs
from rlx.semantics.run.json_values import json_value
from rlx.semantics.run.trace import Trace, TraceRecorder
from rlx.semantics.run.value_text import annotation, block, line, outcome_line
from rlx.semantics.values import Value
from tests.semantics.machine.random_runs import outside
from tests.semantics.machine.random_runs import run as pool
from tests.snapshots import assert_picked
from tests.vm.agreement import _copies, perturbed

__all__ = ["pool"]

PARTS = 40
STEPS, SHOWN, FUEL = 200, 25, 600
"""Steps that are recorded, configurations that are shown, and steps of a run."""


def answers(text: str) -> str:
    """All that is said while the functions of a text run."""
    head, _, below = text.partition("\n")
    asked = json.loads(head[2:]) if head.startswith("# {") else {}
    report = check_text(below if asked else text)
    found = [line for module in report.modules for line in _of_module(module, asked, report.source)]
    return _LONG.sub(lambda number: f"{float(number[0]):.2e}", _ADDRESS.sub("", "\n".join(found)))


_LONG = re.compile(r"\d+\.\d{3,}(e[-+]\d+)?")
"""The last bits of what a function of the C library gives differ between processors."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def _of_module(module: IRModule, asked: dict[str, Any], source: Source) -> Iterator[str]:
    functions = {
        name.name_hint: function
        for name, function in module.functions.items()
        if isinstance(function, ast.Function)
    }
    for name, function in functions.items():
        yield f"{name} takes {annotation(function)}"
        try:
            made = inputs(function, _fitting(function, asked.get("given", {})), 3)
        except ValueError as error:
            yield f"{type(error).__name__}: {error}"
            continue
        yield f"{made.sizes} {made.made_up} {[line(value) for value in made.values]}"
        for args in (made.values, perturbed(made.values, Random(0))):
            yield from _of_call(module, name, args, asked, source)


def _fitting(function: ast.Function, given: Mapping[str, object]) -> dict[str, object]:
    """What is given to this function: the others may have other parameters."""
    names = {param.name_hint for param in function.params}
    names |= {var.name for var in function.shape_vars} | {"nobody"}
    return {name: value for name, value in given.items() if name in names}


def _of_call(
    module: IRModule, name: str, args: tuple[Value, ...], asked: dict[str, Any], source: Source
) -> Iterator[str]:
    printed: list[str] = []
    packed = {key: outside(kind) for key, kind in asked.get("packed", {}).items()}
    limit = asked.get("iterations", 2_000)

    def loaded() -> MachineProgram:
        made = load(module, packed=packed, backend="steps", output=printed.append, iterations=limit)
        made.notes  # noqa: B018 - they can be asked for at any time
        return made

    yield from _recorded(loaded(), name, _copies(args), source)
    yield from printed
    printed.clear()
    running = loaded()
    ended = running.run(name, _copies(args), fuel=asked.get("fuel", FUEL))
    yield from _ending(ended)
    yield from (*printed, *running.notes)


def _recorded(
    running: MachineProgram, name: str, args: list[Value], source: Source
) -> Iterator[str]:
    """The steps as they are printed, their records, and the first configurations."""
    recorder = TraceRecorder()
    seen: list[Configuration] = []
    after: Outcome | None = None
    for now in islice(running.trace(name, args), STEPS):
        if isinstance(now, Configuration):
            if not seen:
                recorder.start(now)
            else:
                recorder.step(seen[-1], now)
            if len(seen) < SHOWN:
                yield from _configuration(now)
            seen.append(now)
        else:
            after = now
            if seen:
                recorder.step(seen[-1], now)
    trace = Trace(source, name, recorder, after)
    yield from told(trace)
    record = trace.record()
    yield json.dumps([record[key] for key in ("start", "steps", "outcome")])
    if len(seen) > 3:
        # An old configuration is as it was, whatever was written since.
        yield from _configuration(seen[len(seen) // 2])
        again = running.step(seen[len(seen) // 2])
        yield from _configuration(again) if isinstance(again, Configuration) else _ending(again)


def _configuration(now: Configuration) -> Iterator[str]:
    where = [(at.rule, at.span, repr(at), frame.depth) for frame, at in stack(now)]
    yield f"{where} after {now.rule}"
    for var, value in environment(now).items():
        name = var.name_hint if isinstance(var, ast.Var) else var.name
        yield f"  {name} = {line(value)}"


def _ending(ended: Outcome) -> Iterator[str]:
    yield outcome_line(ended)
    if isinstance(ended, Returned):
        yield block(ended.value)
        yield json.dumps(json_value(ended.value))
        yield str(ended)
    if isinstance(ended, Ended):
        yield f"{ended} {ended.rule} {ended.span} {ended.origin} {ended.considered}"
        yield str([line(value) for value in ended.values])


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_runs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
