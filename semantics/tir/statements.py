"""Statements of PrimFuncs, compiled to closures that run in a frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType, limits
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.visit import evaluated
from rlx.semantics.tir import memory, pointers
from rlx.semantics.tir.expression_compiler import ExpressionCompiler, opaque
from rlx.semantics.tir.expressions import COMPILERS, element
from rlx.semantics.tir.memory import BoundBuffer
from rlx.semantics.tir.terms import Evaluate, Frame, converted, located
from rlx.semantics.tir.values import fault, unsupported, vector_element, wrapping
from rlx.spec.registry import rule

# ---------------------------------------------------------------- loops

Execute = Callable[[Frame], None]


@rule("E-tir-for", "TIR statement")
def counted_loop(run: StatementCompiler, stmt: Any) -> Execute:
    """Once for each value of the variable, in order, whatever the kind of the loop."""
    low, count = (run.integral(e, "a bound of a loop") for e in (stmt.min, stmt.extent))
    by = None if stmt.step is None else run.integral(stmt.step, "a bound of a loop")
    slot, in_type = run.slot(stmt.loop_var), _wrapped(stmt.loop_var)
    run.loops[stmt.loop_var] = stmt
    body = _iteration(run, stmt)

    def head(frame: Frame) -> range:
        start, extent, step = low(frame), count(frame), 1 if by is None else by(frame)
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


def _wrapped(variable: tir.Var) -> Callable[[range], Iterable[int]]:
    """The values of a loop in the type of its variable."""
    smallest, largest = limits(variable.dtype)
    wrap: Callable[[int], Any] = wrapping(variable.dtype)

    def values(found: range) -> Iterable[int]:
        fits = not found or smallest <= found[0] <= found[-1] <= largest
        return found if fits else map(wrap, found)

    return values


@rule("E-tir-while", "TIR statement")
def conditional_loop(run: StatementCompiler, stmt: Any) -> Execute:
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
def leave_loop(run: StatementCompiler, stmt: Any) -> Execute:
    """The innermost loop ends, or goes on with its next iteration."""
    word, inside = stmt.value.op, run.inside

    def execute(frame: Frame) -> None:
        if not inside:
            fault("E-tir-leave-loop", f"T.{word}() is outside of every loop")
        raise LEAVING[word]

    return located(execute, stmt.span)


def _iteration(run: StatementCompiler, loop: Any) -> Execute:
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


_WITHOUT_EFFECT = frozenset(["attr", "assume", "evaluate", "static_assert"])


class StatementCompiler(ExpressionCompiler):
    """Compiles the statements of one PrimFunc."""

    def __init__(self) -> None:
        super().__init__(COMPILERS)
        self.loops: dict[tir.PrimExpr, tir.For] = {}
        self.inside = False
        self.result: DataType | None = None

    def statement(self, stmt: tir.Stmt) -> Execute:
        """A statement.

        Raises
        ------
        UnsupportedStop
            For uninterpreted text.
        """
        compiler = _COMPILERS.get(type(stmt), _opaque)
        return located(compiler, getattr(stmt, "span", None))(self, stmt)


def _opaque(run: StatementCompiler, stmt: Any) -> Execute:
    opaque(stmt)
    raise AssertionError


# ------------------------------------------------------------------ straight on


@rule("E-tir-sequence", "TIR statement")
def _sequence(run: StatementCompiler, stmt: Any) -> Execute:
    """One after the other; what they allocate is freed behind the last."""
    parts = [run.statement(part) for part in stmt.stmts]

    def execute(frame: Frame) -> None:
        room = frame[0].room
        for part in parts:
            part(frame)
        frame[0].room = room

    return execute


def _let(run: StatementCompiler, stmt: Any) -> Execute:
    slot, value = run.bind(stmt.var, stmt.value)

    def execute(frame: Frame) -> None:
        frame[slot] = value(frame)

    return located(execute, stmt.span)


def _store(run: StatementCompiler, stmt: Any) -> Execute:
    value = converted(run.compile(stmt.value), vector_element(stmt.buffer.dtype))
    slot, indices = element(run, stmt.buffer, stmt.indices)
    runs, number = [term.run for term in indices], value.run
    if value.vector or any(term.vector for term in indices):
        return located(_store_lanes(slot, runs, number), stmt.span)

    def execute(frame: Frame) -> None:
        memory.store(frame[slot], [r(frame) for r in runs], number(frame))

    return located(execute, stmt.span)


def _store_lanes(slot: int, runs: list[Evaluate], number: Evaluate) -> Execute:
    """Lane by lane, after all lanes of the value are known."""

    def execute(frame: Frame) -> None:
        values, places = number(frame), [r(frame) for r in runs]
        lanes = max(len(v) for v in (values, *places) if isinstance(v, tuple))
        columns = [v if isinstance(v, tuple) else (v,) * lanes for v in (values, *places)]
        for value, *place in zip(*columns, strict=True):
            memory.store(frame[slot], place, value)

    return execute


@rule("E-tir-evaluate", "TIR statement")
def _evaluate(run: StatementCompiler, stmt: Any) -> Execute:
    """The value is computed for what its calls do, and dropped."""
    match stmt.value:
        case tir.Call(op=op) if op in _WITHOUT_EFFECT:
            return _nothing
        case tir.Call(op="ret", args=(given,)):
            return _return(run, given, stmt.span)
        case tir.Call(op=op) if op in LEAVING:
            return leave_loop(run, stmt)
    value = run.number(stmt.value)

    def execute(frame: Frame) -> None:
        value(frame)

    return located(execute, stmt.span)


class FunctionEnd(Exception):
    """The end of a function; the first argument is its value."""


@rule("E-tir-return", "TIR statement")
def _return(run: StatementCompiler, given: tir.PrimExpr, span: Span | None) -> Execute:
    """The function ends with the value, cast to the type of its result."""
    term = run.value(given)
    value = term.run if run.result is None else converted(term, run.result).run

    def execute(frame: Frame) -> None:
        raise FunctionEnd(value(frame))

    return located(execute, span)


def _nothing(frame: Frame) -> None:
    """Do nothing."""


# ------------------------------------------------------------------ branches


@rule("E-tir-if", "TIR statement")
def _if(run: StatementCompiler, stmt: Any) -> Execute:
    """One of two statements, or none."""
    condition = located(run.number(stmt.condition), stmt.span)
    then = run.statement(stmt.then_case)
    otherwise = _nothing if stmt.else_case is None else run.statement(stmt.else_case)

    def execute(frame: Frame) -> None:
        (then if condition(frame) else otherwise)(frame)

    return execute


def _with(run: StatementCompiler, stmt: Any) -> Execute:
    """`T.attr` has no effect on its body; `T.launch_thread` is a loop around it."""
    match stmt.call, stmt.var:
        case tir.Call(op="attr"), _:
            return run.statement(stmt.body)
        case tir.Call(op="launch_thread", args=(_, extent)), tir.Var() as var:
            zero = tir.IntImm(0, var.dtype)
            return counted_loop(
                run, tir.For(var, zero, extent, "thread_binding", stmt.body, {}, stmt.span)
            )
    return _opaque(run, stmt)


@rule("E-tir-assert", "TIR statement")
def _assert(run: StatementCompiler, stmt: Any) -> Execute:
    """A condition that must hold."""
    condition = run.number(stmt.condition)
    said = "".join(stmt.message) or "the condition does not hold"

    def execute(frame: Frame) -> None:
        if not condition(frame):
            fault("E-tir-assert", f"{stmt.kind or 'AssertionError'}: {said}")

    return located(execute, stmt.span)


# ------------------------------------------------------------------ memory


def _allocate(run: StatementCompiler, stmt: Any) -> Execute:
    return allocation(run, stmt.buffer)


def allocation(run: StatementCompiler, buffer: tir.Buffer) -> Execute:
    """The memory of a buffer: fresh, or that of another."""
    dims = [run.integral(dim, "an extent") for dim in buffer.shape]
    if buffer.dtype.lanes > 1:
        dims.append(lanes_of_elements(buffer))
    if buffer.attrs.get("data") is not None:
        return alias(run, buffer, dims)
    slot, name, scalar = run.slot(buffer), buffer.name, vector_element(buffer.dtype)

    def execute(frame: Frame) -> None:
        frame[slot] = frame[0].allocate(name, scalar, [dim(frame) for dim in dims])

    return located(execute, buffer.span)


@rule("E-tir-alias", "TIR statement")
def alias(run: StatementCompiler, buffer: tir.Buffer, dims: list[Evaluate]) -> Execute:
    """A buffer in the memory that a pointer points to."""
    data: Any = buffer.attrs["data"]
    pointer = run.compile(data) if isinstance(data, tir.PrimExpr) else opaque(buffer)
    element_type = vector_element(buffer.dtype)
    if pointer.dtype.code != "handle":
        unsupported("E-tir-opaque", f"the memory of {buffer.name} is not known", buffer.span)
    place, slot, name = pointer.run, run.slot(buffer), buffer.name
    strides, offset = layout(run, buffer)

    def execute(frame: Frame) -> None:
        found = pointers.view(place(frame), element_type)
        by = None if strides is None else [stride(frame) for stride in strides]
        frame[slot] = BoundBuffer(name, found, [dim(frame) for dim in dims], by, offset(frame))

    return located(execute, buffer.span)


@rule("E-tir-region", "TIR statement")
def _match_buffer(run: StatementCompiler, stmt: Any) -> Execute:
    """A buffer for a region of another."""
    buffer, source = stmt.buffer, stmt.source
    if source.buffer not in run.slots or buffer.dtype.lanes > 1:
        opaque(stmt)
    behind = run.slots[source.buffer]
    firsts = [i.start if isinstance(i, tir.Slice) else i for i in source.indices]
    starts = [run.integral(first, "an index") for first in firsts]
    dims = [run.integral(dim, "an extent") for dim in buffer.shape]
    written = buffer.attrs.get("strides") or ()
    names = [(run.slot(s), at - len(written)) for at, s in enumerate(written) if type(s) is tir.Var]
    start = buffer.attrs.get("elem_offset")
    place = run.slot(start) if isinstance(start, tir.Var) else None
    slot, name = run.slot(buffer), buffer.name

    def execute(frame: Frame) -> None:
        of: BoundBuffer = frame[behind]
        first = [begin(frame) for begin in starts]
        offset = of.offset + sum(i * by for i, by in zip(first, of.strides, strict=True))
        shape = [dim(frame) for dim in dims]
        frame[slot] = BoundBuffer(
            name, of.memory, shape, of.strides[len(first) - len(shape) :], offset
        )
        for stride, at in names:
            frame[stride] = of.strides[at]
        if place is not None:
            frame[place] = offset

    return located(execute, stmt.span)


def lanes_of_elements(buffer: tir.Buffer) -> Evaluate:
    """The last axis of a buffer whose elements are vectors: their lanes."""
    lanes = buffer.dtype.lanes
    return lambda frame: lanes


def layout(run: StatementCompiler, buffer: tir.Buffer) -> tuple[list[Evaluate] | None, Evaluate]:
    """The strides of a buffer, if given, and its offset."""
    strides: Any = buffer.attrs.get("strides")
    offset = buffer.attrs.get("elem_offset")
    given = [strides or (), () if offset is None else (offset,)]
    found = [[run.number(n) for n in of if isinstance(n, tir.PrimExpr)] for of in given]
    if buffer.dtype.lanes > 1:
        lanes = buffer.dtype.lanes
        found = [[_times(number, lanes) for number in of] for of in found]
        found[0] += [lambda frame: 1] if strides else []
    start = found[1][0] if found[1] else (lambda frame: 0)
    return found[0] or None, start


def _times(number: Evaluate, factor: int) -> Evaluate:
    return lambda frame: factor * number(frame)


# ------------------------------------------------------------------ blocks


@rule("E-tir-block", "TIR statement")
def _block(run: StatementCompiler, stmt: Any) -> Execute:
    """The axes get their values; if the predicate holds, the block allocates and runs its body."""
    axes = [_axis(run, axis) for axis in stmt.iter_vars]
    predicate = None if stmt.predicate is None else run.number(stmt.predicate)
    allocations = [allocation(run, buffer) for buffer in stmt.alloc_buffers]
    init = _nothing if stmt.init is None else initial(run, stmt)
    body = run.statement(stmt.body)

    def enter(frame: Frame) -> bool:
        for slot, value in axes:
            frame[slot] = value(frame)
        return predicate is None or bool(predicate(frame))

    holds = located(enter, stmt.span)

    def execute(frame: Frame) -> None:
        if not holds(frame):
            return
        room = frame[0].room
        for allocate in allocations:
            allocate(frame)
        init(frame)
        body(frame)
        frame[0].room = room

    return execute


def _axis(run: StatementCompiler, axis: tir.IterVar) -> tuple[int, Evaluate]:
    value = converted(run.compile(axis.binding), axis.var.dtype).run
    return run.slot(axis.var), value


@rule("E-tir-init", "TIR statement")
def initial(run: StatementCompiler, block: tir.Block) -> Execute:
    """`T.init` runs where every reduction axis is at its start."""
    starts = [
        (run.slot(axis.var), _start(run, axis)) for axis in block.iter_vars if axis.kind == "R"
    ]
    assert block.init is not None
    init = run.statement(block.init)

    def execute(frame: Frame) -> None:
        if all(frame[slot] == start(frame) for slot, start in starts):
            init(frame)

    return execute


def _start(run: StatementCompiler, axis: tir.IterVar) -> Evaluate:
    """The start of an axis's domain; `T.axis.remap` leaves it to the loop."""
    if axis.dom is not None:
        return run.number(axis.dom[0])
    loop = run.loops.get(axis.binding)
    return (lambda frame: 0) if loop is None else run.number(loop.min)


_COMPILERS: dict[type, Callable[[StatementCompiler, Any], Execute]] = {
    tir.SeqStmt: _sequence,
    tir.LetStmt: _let,
    tir.BufferStore: _store,
    tir.Evaluate: _evaluate,
    tir.IfThenElse: _if,
    tir.For: counted_loop,
    tir.While: conditional_loop,
    tir.AllocBuffer: _allocate,
    tir.Block: _block,
    tir.With: _with,
    tir.Assert: _assert,
    tir.MatchBuffer: _match_buffer,
}
