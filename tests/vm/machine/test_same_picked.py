"""What is said of executables, and how they run on the virtual machine, stays what it is: random code, rows of instructions,
functions of the run time with any arguments, legal programs that are built, listings and files with damages.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/vm/machine/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.vm.machine.test_same_picked 4000 300 --room vm` adds inputs: each is JSON.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.generate.campaign.programs import program
from rlx.grammar import ast
from rlx.semantics.machine.message_text import show
from rlx.semantics.run.inputs import inputs
from rlx.semantics.values import Value
from rlx.transform.lowering.passes import PassError
from rlx.vm import Executable, LoadError, RunError, VirtualMachine, build
from rlx.vm.library import LIBRARY
from rlx.vm.saving import from_bytes, to_bytes
from rlx.vm.trace import followed
from tests.hostile.damage import damaged, tokens
from tests.snapshots import assert_picked
from tests.vm import test_random_code, test_same_plans
from tests.vm.agreement import _copies, perturbed
from tests.vm.damage import _given
from tests.vm.damage import damaged as damaged_bytes
from tests.vm.programs import PACKED, by_hand, compiled
from tests.vm.random_code import Maker
from tests.vm.test_same_picked import pool as legal

pytestmark = pytest.mark.filterwarnings("ignore::rlx.vm.builder.UnusedInput")
PARTS = 9
FUEL = 3_000


def pool(pick: random.Random) -> str:
    """A seed of random code, or a text and a seed: JSON."""
    seed = pick.randrange(1 << 30)
    match pick.randrange(8):
        case 0:
            return json.dumps(["code", seed])
        case 1:
            return json.dumps([pick.choice(["problems", "complaints"]), seed])
        case 2:
            return json.dumps(["rows", seed])
        case 3 | 4:
            return json.dumps(["library", pick.choice([*LIBRARY]), seed])
        case 5:
            return json.dumps(["file", pick.choice(["compiled", "by hand"]), seed])
        case 6:
            text = pick.choice(
                [compiled, by_hand, Maker(pick.randrange(1000)).executable]
            )().as_text()
            for _ in range(pick.choice([0, 1, 1, 2])):
                text = damaged(text, tokens(text) or [(0, len(text))], pick)
            return json.dumps(["listing", text, seed])
    text = legal(pick) if pick.randrange(2) else program(seed, "run")[0]
    return json.dumps(["program", text, seed]) if text else ""


def answers(text: str) -> str:
    """What an input gives, as text."""
    what, *rest = json.loads(text)
    return "\n".join(_ANSWERS[what](*rest))


def _library(name: str, seed: int) -> Iterator[str]:
    yield test_random_code.given_anything(name, random.Random(seed))


def _file(name: str, seed: int) -> Iterator[str]:
    """A saved executable with damages, and how its functions end."""
    executable = {"compiled": compiled, "by hand": by_hand}[name]()
    try:
        found = Executable.of(from_bytes(damaged_bytes(to_bytes(executable), random.Random(seed))))
    except LoadError as error:
        yield str(error)
        return
    yield from _listed(found, seed)


def _listing(text: str, seed: int) -> Iterator[str]:
    try:
        found = Executable.from_text(text)
    except LoadError as error:
        yield str(error)
        return
    yield from _listed(found, seed)


def _listed(executable: Executable, seed: int) -> Iterator[str]:
    yield from _described(executable)
    for function in executable.functions:
        yield from _ended(executable, function.name, _given(function))


def _described(executable: Executable) -> Iterator[str]:
    yield executable.as_text()
    yield executable.as_python()
    yield executable.stats()
    yield to_bytes(executable).hex()


def _program(text: str, seed: int) -> Iterator[str]:
    """A program that is built, and how its functions end with arguments that fit and others."""
    choose = random.Random(seed)
    for module in check_text(text).modules:
        try:
            executable = build(module)
        except PassError as error:
            yield str(error)
            continue
        yield from _described(executable)
        for name, function in module.functions.items():
            if isinstance(function, ast.Function) and not function.attrs.get("private"):
                try:
                    given = tuple(inputs(function, {}, seed).values)
                except ValueError as error:
                    yield str(error)
                    continue
                for args in (given, perturbed(given, choose)):
                    yield from _ended(executable, name.name_hint, args)


def _ended(executable: Executable, name: str, given: Sequence[Value]) -> Iterator[str]:
    """How a function ends at once, step by step, and with functions that are watched."""
    printed: list[str] = []

    def machine() -> VirtualMachine:
        return VirtualMachine(executable, PACKED, backend="steps", output=printed.append, fuel=FUEL)

    yield _outcome(lambda: machine().invoke(name, _copies(given)))
    trace = followed(machine(), "<path>", name, _copies(given), 300)
    recorded = trace.recorder
    yield f"{trace.outcome} {recorded.rules} {recorded.beginning} {recorded.steps} {recorded.depths}"
    calls: list[str] = []
    watched = machine()
    watched.set_instrument(
        lambda called, args, result: calls.append(f"{called} {len(args)} {result is None}")
    )
    yield _outcome(lambda: watched.invoke(name, _copies(given)))
    yield f"{calls} {printed}"


def _outcome(run: Callable[[], Value]) -> str:
    try:
        return show(run())
    except RunError as error:
        return f"{error.outcome.__name__} {error} {error.code} {error.place} {error.calls}"
    except (KeyError, TypeError, ValueError) as error:
        return repr(error)


_ANSWERS: dict[str, Callable[..., Iterator[str] | list[str]]] = {
    "code": test_random_code.told,
    "problems": test_random_code.problems_of,
    "complaints": test_random_code.complained,
    "rows": test_same_plans.told,
    "library": _library,
    "file": _file,
    "listing": _listing,
    "program": _program,
}


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_inputs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
