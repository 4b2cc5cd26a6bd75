"""How programs end that were picked because each shows another way through the code, what each stage of lowering makes of
them, and the C of their PrimFuncs, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/vm/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.pick tests.vm.test_same_picked 3000` picks other programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rlx.checker.check import check_text
from rlx.generate.campaign.programs import program
from rlx.generate.casts.programs import program as of_casts
from rlx.grammar import ast, tir
from rlx.grammar.ast import IRModule
from rlx.semantics.machine import load
from rlx.transform.lowering.passes import PassError
from rlx.vm.code_generation import generate
from rlx.vm.compilation import STAGES
from tests.hostile import sources, swaps
from tests.hostile.damage import damaged, tokens
from tests.semantics.native.test_same_code import code
from tests.semantics.run.endings import FUEL, endings
from tests.snapshots import assert_picked
from tests.vm.agreement import _copies

PARTS = 20


@cache
def _kept() -> list[str]:
    """Texts that are made once."""
    found = [*sources.written(), *(text for _, text in swaps.texts(2))]
    return [text for text in found if check_text(text).ok]


def pool(random: Random) -> str:
    """A text that is legal: generated, kept, or with a damage that leaves it so; or else an empty one."""
    match random.randrange(5):
        case 0:
            text = program(random.randrange(1 << 30))[0]
        case 1:
            text = of_casts(random)
        case _:
            text = random.choice(_kept())
    for _ in range(random.choice([0, 0, 1, 1, 2])):
        text = damaged(text, tokens(text) or [(0, len(text))], random)
    return text if check_text(text).ok else ""


def answers(text: str) -> str:
    """All that is kept of a text."""
    return f"{runs(text)}\n{native(text)}"


def runs(text: str) -> str:
    """How the functions end, and what the stages make of them."""
    return "\n".join(line for module in check_text(text).modules for line in _runs(module))


def native(text: str) -> str:
    """The C of the PrimFuncs."""
    return "\n".join(
        code(function, True, False, 32)
        for module in check_text(text).modules
        for function in _lowered(module)[-1].functions.values()
        if isinstance(function, tir.PrimFunc)
    )


def _lowered(module: IRModule) -> list[IRModule]:
    """The module and what each stage makes of it, up to one that refuses it."""
    found = [module]
    with suppress(PassError):
        for stage in STAGES:
            found.append(stage()(found[-1]))
    return found


def _runs(module: IRModule) -> Iterator[str]:
    def run(name: str, args: tuple[Any, ...], output: Callable[[str], None]) -> object:
        loaded = load(module, output=output, backend="steps", iterations=FUEL)
        return loaded.run(name, _copies(args), fuel=FUEL)

    entries = [
        (name.name_hint, function)
        for name, function in module.functions.items()
        if isinstance(function, ast.Function) and not function.attrs.get("private")
    ]
    yield from endings(entries, run, Random(0))
    now = module
    try:
        for stage in STAGES:
            now = stage()(now)
            yield str(now)
        made = generate(now)
        yield f"{made.as_text()}\n{made.as_python()}\n{made.stats()}"
    except PassError as error:
        yield str(error)


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_programs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, runs)


@pytest.mark.parametrize("part", range(PARTS))
def test_the_c_of_picked_programs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, native, "picked_code.txt")
