"""How PrimFuncs run: natively or by the reference evaluator, prepared once each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from rlx.grammar import tir
from rlx.grammar.node import fields
from rlx.semantics.faults import Unsupported

Runner = Callable[..., None]


class PrimFuncs:
    """The PrimFuncs of a program.

    Attributes
    ----------
    fuel
        What each run may use, natively and by the reference evaluator.
    call
        The functions from outside that they may call.
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
        self._runners: dict[tir.PrimFunc, Runner] = {}
        self._writes: dict[tir.PrimFunc, frozenset[int]] = {}

    def run(self, func: tir.PrimFunc, args: Sequence[Any], unwritten: Collection[int]) -> None:
        """Run one on arrays and numbers; ``unwritten`` are the positions of arrays without content."""
        runner = self._runners.get(func)
        if runner is None:
            runner = self._runners[func] = self._runner(func)
        runner(args, unwritten=unwritten)

    def _runner(self, func: tir.PrimFunc) -> Runner:
        from rlx.semantics.tir import evaluate

        def interpreted(args: Sequence[Any], unwritten: Collection[int]) -> None:
            evaluate(func, args, fuel=self.fuel["steps"], call=self.call, unwritten=unwritten)

        if self.backend == "steps":
            return interpreted
        from rlx.semantics.native import NoCompiler, compile

        try:
            return partial(compile(func), fuel=self.fuel["native"])
        except (NoCompiler, Unsupported) as reason:
            note = f"PrimFuncs run by the reference evaluator: {reason}"
            if note not in self.notes:
                self.notes.append(note)
            return interpreted

    def writes(self, func: tir.PrimFunc) -> frozenset[int]:
        """The positions of the parameters that one may write to: every one that is not only read."""
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
                opaque or not isinstance(node, tir.Evaluate) or isinstance(node.value, tir.Call)
            )
        if isinstance(node, tir.Stmt):
            pending.extend(value for _, value in fields(node))
        elif isinstance(node, tuple):
            pending.extend(node)
    every = enumerate(func.params)
    return frozenset(k for k, p in every if opaque or func.buffer_map.get(p) in stored)
