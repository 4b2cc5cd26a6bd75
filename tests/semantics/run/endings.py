"""How the functions of a program end, with what fits their parameters and with what may not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any

from rlx.grammar.ast import Function
from rlx.semantics.outcome import Returned
from rlx.semantics.run.inputs import inputs
from tests.values import brief
from tests.vm.agreement import perturbed

FUEL = 2_000

Run = Callable[[str, tuple[Any, ...], Callable[[str], None]], Any]
"""The outcome of a function by its name, of these arguments; what it prints is handed on."""


def endings(functions: Iterable[tuple[str, Function]], run: Run, random: Random) -> Iterator[str]:
    """Each outcome in short, and what was printed before."""
    for name, function in functions:
        try:
            fitting = tuple(inputs(function, {}, 3).values)
        except ValueError as error:
            yield str(error)
            continue
        for args in (fitting, perturbed(fitting, random)):
            printed: list[str] = []
            found = run(name, args, printed.append)
            yield brief(found.value) if isinstance(found, Returned) else str(found)
            yield from printed
