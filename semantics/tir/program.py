"""The entry to the evaluator of PrimFuncs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.visit import shape_vars_of
from rlx.semantics.tir.arguments import Values, bind
from rlx.semantics.tir.memory import SharedFuel, TirRun
from rlx.semantics.tir.statements import Execute, FunctionEnd, StatementCompiler
from rlx.semantics.tir.values import Number, fault
from rlx.spec.registry import rule

Argument = np.ndarray[Any, Any] | int | float

MEMORY_LIMIT = 4 << 30
"""Bytes that a call may allocate at a time."""


_NESTING = 12_000
"""Python's recursion limit: a few calls for each nesting level of a text."""


@contextmanager
def deep() -> Iterator[None]:
    """Raise Python's recursion limit to the nesting depth of texts."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _NESTING))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class TirProgram:
    """A PrimFunc, compiled to closures once; :meth:`run` runs it on arguments.

    Raises
    ------
    UnsupportedStop
        For constructs that cannot be evaluated.
    """

    def __init__(self, func: tir.PrimFunc) -> None:
        self.func = func
        compiler = StatementCompiler()
        compiler.result = func.ret_type
        for param in func.params:
            compiler.slot(param)
        for buffer in func.buffer_map.values():
            compiler.slot(buffer)
            for var in shape_vars_of(buffer):
                compiler.slot(var)
        with deep():
            self.body: Execute = compiler.statement(func.body)
        self.slots = compiler.slots

    @rule("E-tir", "TIR statement")
    def run(
        self,
        args: Sequence[Argument],
        *,
        fuel: int | SharedFuel | None = None,
        call: Mapping[str, Callable[..., Any]] = {},
        unwritten: Collection[int] = (),
        memory: int = MEMORY_LIMIT,
    ) -> Number | None:
        """Run on arguments; see :func:`evaluate`."""
        values: Values = bind(self.func, args, unwritten)
        frame: list[Any] = [None] * (len(self.slots) + 1)
        limits = TirRun(fuel.left if isinstance(fuel, SharedFuel) else fuel, memory, call)
        frame[0] = limits
        for node, value in values.items():
            frame[self.slots[node]] = value
        try:
            with deep():
                self.body(frame)
        except FunctionEnd as end:
            found: Number = end.args[0]
            return found
        finally:
            if isinstance(fuel, SharedFuel):
                fuel.left = limits.fuel
        if self.func.ret_type is not None:
            no_value(self.func)
        return None


def no_value(func: tir.PrimFunc) -> NoReturn:
    """The fault for a function that ends without its result."""
    words = f"the function ends without returning a value of type {func.ret_type}"
    fault("E-tir-return-value", words)


def evaluate(
    func: tir.PrimFunc,
    args: Sequence[Argument],
    *,
    fuel: int | SharedFuel | None = None,
    call: Mapping[str, Callable[..., Any]] = {},
    unwritten: Collection[int] = (),
    memory: int = MEMORY_LIMIT,
) -> Number | None:
    """Run a PrimFunc and return its value, if any. It writes to its array arguments.

    Parameters
    ----------
    func
        The function.
    args
        Its arguments in order: an array for a buffer, a number for a scalar. Trailing scalars may
        be omitted if the shapes of arrays determine them.
    fuel
        Units of fuel for iterations of loops (E-tir-fuel), perhaps shared with other runs; None for
        no limit.
    call
        The external functions that it may call, by name.
    unwritten
        Positions of arrays that hold nothing yet: what is read from them must have been written
        before. In a mapping, with a byte for each element, in row-major order, that says whether it
        was written; the bytes are kept up to date.
    memory
        Bytes that may be allocated at a time.

    Raises
    ------
    FaultStop
        `E-tir-argument`, `E-tir-bounds`, `E-tir-unwritten`, `E-tir-divide`, `E-tir-cast-range`,
        `E-tir-shift-amount`, `E-tir-power-exponent`, `E-tir-allocate`, `E-tir-assert`
    OutOfFuelStop
        `E-tir-fuel`
    UnsupportedStop
        `E-tir-opaque`, `E-tir-intrinsic-unknown`, `E-tir-type`, `E-tir-call-unregistered`, …
    """
    return compiled(func).run(args, fuel=fuel, call=call, unwritten=unwritten, memory=memory)


@lru_cache(maxsize=256)
def compiled(func: tir.PrimFunc) -> TirProgram:
    """The program of a PrimFunc, kept for the next call."""
    return TirProgram(func)
