"""Loops with steps, and what leaves them: random nests do what Python does with the same text."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.semantics.faults import FaultStop
from rlx.semantics.tir import evaluate

from .programs import prim_func

SIZE = 12


def _nest(draw: random.Random, depth: int, names: tuple[str, ...]) -> Iterator[str]:
    """The lines of a body, which stores to ``o`` and may leave the loop around it."""
    place = " + ".join([*names, str(draw.randrange(3))])
    for _ in range(draw.randint(1, 3)):
        kind = draw.choice(["store", "loop", "leave", "leave"] if names else ["loop"])
        if kind == "loop" and depth:
            start, stop = draw.randrange(-1, 3), draw.randrange(0, 7)
            yield f"for i{depth} in range({start}, {stop}, {draw.choice([1, 2, 3, 5])}):"
            yield from ("    " + line for line in _nest(draw, depth - 1, (*names, f"i{depth}")))
        elif kind == "leave" and names:
            yield f"if ({place}) % {draw.randint(2, 4)} == {draw.randrange(2)}:"
            yield f"    {draw.choice(['break', 'continue'])}"
        yield f"o[({place}) % {SIZE}] = o[({place}) % {SIZE}] * 3 + {draw.randrange(9)}"


def _function(lines: list[str]) -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f'@T.prim_func\ndef f(o: T.Buffer(({SIZE},), "int64")):\n{body}\n'


@pytest.mark.parametrize("seed", range(80))
def test_loops_are_those_of_python(seed: int) -> None:
    lines = list(_nest(random.Random(seed), 3, ()))
    expected = [0] * SIZE
    with np.errstate(over="ignore"):
        numbers = np.zeros(SIZE, np.int64)
        exec("\n".join(lines), {"o": numbers})  # noqa: S102 - our own loops, as Python runs them
        expected = numbers.tolist()
    module = parse(_function(lines)).modules[0]
    for text in (_function(lines), print_module(module, "0.27")):
        (function,) = parse(text).modules[0].functions.values()
        assert isinstance(function, tir.PrimFunc)
        found = np.zeros(SIZE, np.int64)
        evaluate(function, [found])
        assert found.tolist() == expected, text


def test_a_step_below_one_has_no_iterations_to_count() -> None:
    function = prim_func(
        """
        @T.prim_func
        def f(o: T.Buffer((4,), "int64"), n: T.int64):
            for i in T.serial(0, 4, step=n):
                o[i] = 1
        """
    )
    data = np.zeros(4, np.int64)
    evaluate(function, [data, 3])
    assert data.tolist() == [1, 0, 0, 1]
    with pytest.raises(FaultStop) as stop:
        evaluate(function, [data, 0])
    assert stop.value.code == "E-tir-for-step"


def test_leaving_no_loop() -> None:
    function = prim_func(
        """
        @T.prim_func
        def f(o: T.Buffer((4,), "int64")):
            T.continue_loop()
        """
    )
    with pytest.raises(FaultStop) as stop:
        evaluate(function, [np.zeros(4, np.int64)])
    assert stop.value.code == "E-tir-leave-loop"


def test_memory_of_an_iteration_that_is_left_is_free() -> None:
    function = prim_func(
        """
        @T.prim_func
        def f(o: T.Buffer((4,), "int64")):
            for i in range(100):
                with T.sblock("b"):
                    t = T.sblock_alloc_buffer((1000,), "int64")
                    t[0] = 1
                    continue
        """
    )
    evaluate(function, [np.zeros(4, np.int64)], memory=20_000)
