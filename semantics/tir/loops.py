"""Loops of PrimFuncs, and what leaves them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import limits
from rlx.grammar.nodes.visit import evaluated
from rlx.semantics.tir import memory
from rlx.semantics.tir.terms import Evaluate, Frame, located
from rlx.semantics.tir.values import fault, wrapping
from rlx.spec.registry import rule

Execute = Callable[[Frame], None]


class LoopCompiler(Protocol):
    """What loops ask of the compiler of statements: see `statements.py`."""

    loops: dict[tir.PrimExpr, tir.For]
    inside: bool

    def statement(self, stmt: tir.Stmt) -> Execute: ...
    def integral(self, expr: tir.PrimExpr, what: str) -> Evaluate: ...
    def number(self, expr: tir.PrimExpr) -> Evaluate: ...
    def slot(self, node: tir.Var | tir.Buffer) -> int: ...


@rule("E-tir-for", "TIR statement")
def counted(run: LoopCompiler, stmt: Any) -> Execute:
    """Once for each value of the variable, in order, whatever the kind of the loop."""
    if stmt.step is not None:
        return _counted_by(run, stmt)
    low, count = (run.integral(e, "a bound of a loop") for e in (stmt.min, stmt.extent))
    slot, in_type = run.slot(stmt.loop_var), _wrapped(stmt.loop_var)
    run.loops[stmt.loop_var] = stmt
    body = _iteration(run, stmt)

    def execute(frame: Frame) -> None:
        start, times = begin(frame)
        for value in in_type(range(start, start + times)):
            frame[slot] = value
            body(frame)

    def head(frame: Frame) -> tuple[int, int]:
        start, times = low(frame), max(count(frame), 0)
        frame[0].spend(times)
        return start, times

    begin = located(head, stmt.span)
    return _whole(stmt, execute)


def _wrapped(variable: tir.Var) -> Callable[[range], Iterable[int]]:
    """The values of a loop in the type of its variable."""
    smallest, largest = limits(variable.dtype)
    wrap: Callable[[int], Any] = wrapping(variable.dtype)

    def values(found: range) -> Iterable[int]:
        fits = not found or smallest <= found[0] <= found[-1] <= largest
        return found if fits else map(wrap, found)

    return values


def _counted_by(run: LoopCompiler, stmt: Any) -> Execute:
    """A loop with a step of its own."""
    bounds = [run.integral(e, "a bound of a loop") for e in (stmt.min, stmt.extent, stmt.step)]
    slot, in_type = run.slot(stmt.loop_var), _wrapped(stmt.loop_var)
    run.loops[stmt.loop_var] = stmt
    body = _iteration(run, stmt)

    def head(frame: Frame) -> range:
        start, extent, step = (bound(frame) for bound in bounds)
        if step < 1:
            fault("E-tir-for-step", f"the step of a loop is {step}, which is less than 1")
        found = range(start, start + max(extent, 0), step)
        frame[0].spend(len(found))
        return found

    begin = located(head, stmt.span)

    def execute(frame: Frame) -> None:
        for value in in_type(begin(frame)):
            frame[slot] = value
            body(frame)

    return _whole(stmt, execute)


@rule("E-tir-while", "TIR statement")
def conditional(run: LoopCompiler, stmt: Any) -> Execute:
    """As long as the condition holds, which is asked before each iteration."""
    condition = run.number(stmt.condition)
    body = _iteration(run, stmt)

    def again(frame: Frame) -> bool:
        holds = bool(condition(frame))
        if holds:
            frame[0].spend(memory.WHILE)
        return holds

    next_holds = located(again, stmt.span)

    def execute(frame: Frame) -> None:
        while next_holds(frame):
            body(frame)

    return _whole(stmt, execute)


# ------------------------------------------------------------------ leaving


class LoopEnd(Exception):
    """The end of a loop."""


class IterationEnd(Exception):
    """The end of one iteration of a loop."""


LEAVING = {"break_loop": LoopEnd, "continue_loop": IterationEnd}


@rule("E-tir-leave", "TIR statement")
def leave(run: LoopCompiler, stmt: Any) -> Execute:
    """The innermost loop ends, or goes on with its next iteration."""
    word, inside = stmt.value.op, run.inside

    def execute(frame: Frame) -> None:
        if not inside:
            fault("E-tir-leave-loop", f"T.{word}() is outside of every loop")
        raise LEAVING[word]

    return located(execute, stmt.span)


def _iteration(run: LoopCompiler, loop: Any) -> Execute:
    """The body of a loop, which `T.continue_loop()` may leave."""
    around, run.inside = run.inside, True
    body = run.statement(loop.body)
    run.inside = around
    return _until(IterationEnd, body) if _leaves(loop.body, "continue_loop") else body


def _until(end: type[Exception], run: Execute) -> Execute:
    """Run to the end, or until an exception; what was allocated in between is freed."""

    def execute(frame: Frame) -> None:
        room = frame[0].room
        try:
            run(frame)
        except end:
            frame[0].room = room

    return execute


def _whole(loop: Any, execute: Execute) -> Execute:
    """A loop that `T.break_loop()` may end."""
    return _until(LoopEnd, execute) if _leaves(loop.body, "break_loop") else execute


def _leaves(body: tir.Stmt, word: str) -> bool:
    """Whether a body has a call that leaves a loop."""
    values = (stmt.value for stmt in evaluated(body, tir.Evaluate))
    return any(isinstance(value, tir.Call) and value.op == word for value in values)
