"""How PrimFuncs run: natively or by the reference evaluator, prepared once each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rlx.grammar import tir
from rlx.grammar.node import fields
from rlx.semantics.faults import OutOfFuelStop, UnsupportedStop
from rlx.semantics.native.write_analysis import fills, loads, returns

if TYPE_CHECKING:
    from rlx.semantics.native import Kernel

Unwritten = dict[int, np.ndarray[Any, Any] | None]

SHORT = 10_000
"""Iterations, and elements of arguments, up to which a function that may leave elements unwritten
is tracked.
"""


class PrimFuncs:
    """The PrimFuncs of a program.

    Attributes
    ----------
    fuel
        What each run may use, natively and by the reference evaluator.
    call
        The functions from outside that they may call.
    returned
        The value that the last run returned, if any.
    notes
        Why some of them do not run natively.
    """

    def __init__(
        self,
        backend: str,
        fuel: int | Mapping[str, int] | None,
        call: Mapping[str, Callable[..., Any]],
    ) -> None:
        self.backend, self.call = backend, call
        self.fuel = fuel if isinstance(fuel, Mapping) else {"native": fuel, "steps": fuel}
        self.notes: list[str] = []
        self.returned: int | float | None = None
        self._runners: dict[tir.PrimFunc, Kernel | None] = {}
        self._writes: dict[tir.PrimFunc, frozenset[int]] = {}
        self._reads: dict[tir.PrimFunc, frozenset[int]] = {}
        self._fills: dict[tir.PrimFunc, frozenset[int]] = {}
        self._long: set[tir.PrimFunc] = set()

    def run(
        self, func: tir.PrimFunc, name: str, args: Sequence[Any], unwritten: Unwritten
    ) -> Unwritten:
        """Run one on arrays and numbers.

        Parameters
        ----------
        unwritten
            The positions of arrays that are not wholly written, each with a byte for each element
            that says whether it was, or None if no element was.

        Returns
        -------
        dict
            The same for the positions of ``unwritten``, as far as elements may still not be
            written.
        """
        runner = self.native(func)
        if runner is None:
            return self._tracked(func, args, unwritten, self.fuel["steps"])
        self.returned = None
        if unwritten and not (
            self.filled(func).issuperset(unwritten)
            and all(a.size for a in args if isinstance(a, np.ndarray))
        ):
            left = self._short(func, args, unwritten)
            if left is not None:
                return left
            self._note(f"{name} runs natively: which elements it leaves unwritten is not known")
        self.returned = runner(args, self.fuel["native"])
        untouched = unwritten.keys() - self.writes(func) if unwritten else ()
        return {k: unwritten[k] for k in untouched}

    def native(self, func: tir.PrimFunc) -> Kernel | None:
        """A function as machine code; None if there is none, or none is wanted."""
        if func not in self._runners:
            self._runners[func] = self._compiled(func)
        return self._runners[func]

    def _compiled(self, func: tir.PrimFunc) -> Kernel | None:
        if self.backend == "steps":
            return None
        from rlx.semantics.native import NoCompiler, compile

        try:
            return compile(func)
        except (NoCompiler, UnsupportedStop) as reason:
            self._note(f"PrimFuncs run by the reference evaluator: {reason}")
            return None

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def _tracked(
        self, func: tir.PrimFunc, args: Sequence[Any], unwritten: Unwritten, fuel: int | None
    ) -> Unwritten:
        """Run by the reference evaluator, which knows what was written."""
        from rlx.semantics.tir import evaluate

        flags = {
            k: np.zeros(args[k].size, np.uint8) if known is None else known.copy()
            for k, known in unwritten.items()
        }
        self.returned = evaluate(func, args, fuel=fuel, call=self.call, unwritten=flags)
        return {
            k: (found if found.any() else None) for k, found in flags.items() if not found.all()
        }

    def _short(
        self, func: tir.PrimFunc, args: Sequence[Any], unwritten: Unwritten
    ) -> Unwritten | None:
        """Run by the reference evaluator if that takes few iterations; else nothing is changed, and
        None.
        """
        limit = self.fuel["native"]
        limit = SHORT if limit is None else min(limit, SHORT)
        if func in self._long or sum(a.size for a in args if isinstance(a, np.ndarray)) > SHORT:
            return None
        written = (arg for k, arg in enumerate(args) if k in self.writes(func))
        before = [(arg, arg.copy()) for arg in written if isinstance(arg, np.ndarray)]
        try:
            return self._tracked(func, args, unwritten, limit)
        except (OutOfFuelStop, UnsupportedStop):
            self._long.add(func)
            for array, content in before:
                array[...] = content
            return None

    def filled(self, func: tir.PrimFunc) -> frozenset[int]:
        """The parameters of which one writes every element before it reads it, if no array is
        empty.
        """
        found = self._fills.get(func)
        if found is None:
            buffers = ((k, func.buffer_map.get(param)) for k, param in enumerate(func.params))
            found = frozenset(k for k, b in buffers if b is not None and fills(func, b))
            if returns(func):
                found = frozenset()
            self._fills[func] = found
        return found

    def only_reads(self, func: tir.PrimFunc) -> frozenset[int]:
        """The positions of the parameters that one reads and never writes to."""
        found = self._reads.get(func)
        if found is None:
            read = {load.buffer for load in loads(func.body)}
            buffers = ((k, func.buffer_map.get(param)) for k, param in enumerate(func.params))
            found = frozenset(k for k, b in buffers if b in read) - self.writes(func)
            self._reads[func] = found
        return found

    def writes(self, func: tir.PrimFunc) -> frozenset[int]:
        """The positions of the parameters that one may write to: every one that is not only
        read.
        """
        found = self._writes.get(func)
        if found is None:
            found = self._writes[func] = _writes(func)
        return found


def _writes(func: tir.PrimFunc) -> frozenset[int]:
    """Positions of parameters whose buffer is stored to, or handed to something that may store."""
    stored: set[tir.Buffer] = set()
    opaque = False
    pending: list[object] = [func.body]
    while pending:
        node = pending.pop()
        if isinstance(node, tir.BufferStore):
            stored.add(node.buffer)
        elif isinstance(node, tir.OpaqueStmt | tir.Evaluate | tir.AllocBuffer | tir.MatchBuffer):
            opaque = (
                opaque
                or not isinstance(node, tir.Evaluate)
                or (isinstance(node.value, tir.Call) and node.value.op != "ret")
            )
        if isinstance(node, tir.Stmt):
            pending.extend(value for _, value in fields(node))
        elif isinstance(node, tuple):
            pending.extend(node)
    every = enumerate(func.params)
    return frozenset(k for k, p in every if opaque or func.buffer_map.get(p) in stored)
