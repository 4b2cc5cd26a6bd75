"""Statements of PrimFuncs as C code, and their fuel.

An outermost loop is a *nest*. It may be emitted twice: once with the checks hoisted to a condition
before it, and once with every check in its place, for the case that the condition is false.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import Span
from rlx.semantics.native import c_types, emit_reduction, hoisting, splitting
from rlx.semantics.native.allocation import allocate, element, release
from rlx.semantics.native.c_types import refuse
from rlx.semantics.native.conversions import converted
from rlx.semantics.native.expressions import guard, integral, value_of
from rlx.semantics.native.hoisting import bind_axis, loop_range
from rlx.semantics.native.indices import poly_of, usable
from rlx.semantics.native.ranges import literal
from rlx.semantics.native.recognise_reduction import recognise
from rlx.semantics.native.state import Generation, Payment
from rlx.semantics.native.write_analysis import loads
from rlx.semantics.native.write_analysis import statements as inside
from rlx.semantics.tir.memory import WHILE
from rlx.solver.poly import Polynomial

Steps = Generator[tir.Stmt, None, None]


def emit(state: Generation, root: tir.Stmt) -> None:
    """Emit a statement and everything in it, without recursion."""
    stack: list[Steps] = [_visit(state, root)]
    while stack:
        try:
            child = next(stack[-1])
        except StopIteration:
            stack.pop()
        else:
            stack.append(_visit(state, child))


def _visit(state: Generation, stmt: tir.Stmt) -> Steps:
    found = _VISITORS.get(type(stmt))
    if found is None:
        refuse(type(stmt).__name__, getattr(stmt, "span", None))
    return found(state, stmt)


# ------------------------------------------------------------------ nests


def _nest(state: Generation, stmt: tir.Stmt) -> None:
    """A loop or block outside of every loop: with hoisted checks, or with all of them."""
    scope = state.scope
    scope.loops, scope.facts = {}, ()
    state.polys, state.invented = {}, set()
    state.divisions, state.wholes = {}, []
    state.conditions, state.symbols = {}, set()
    state.fast = True
    spend(state, stmt)
    state.flags, state.leaving = {}, {}
    state.deferring = not any(isinstance(part, tir.While) for part in inside(stmt))
    with state.out.captured() as hoisted:
        emit(state, stmt)
    hoisted[:0] = [f"int32_t {flag} = 0;" for flag in state.flags.values()]
    hoisted[:0] = [f"{kind} {flag} = 0;" for kind, flag in state.leaving.items()]
    hoisted += [f"if (RLX_RARE({flag})) return 2;" for flag in state.leaving.values()]
    hoisted += [f"if ({flag}) RLX_STOP({site}, 0, 0);" for site, flag in state.flags.items()]
    conditions = state.entry_conditions()
    state.fast = state.deferring = False
    if not conditions:
        state.out.lines += hoisted
        return
    with state.out.block(f"if ({conditions})"):
        state.out.lines += hoisted
    with state.out.block("else"):
        state.nested += 1
        emit(state, stmt)
        state.nested -= 1


def _for(state: Generation, loop: tir.For) -> Steps:
    if loop.step is not None:
        refuse("loop with a step", loop.span)
    if not state.fast and not state.nested:
        _nest(state, loop)
        return
    if state.fast and state.disjoint:
        reduction = recognise(state, loop)
        if reduction is not None:
            emit_reduction.emit(state, reduction, emit)
            return
        hoisting.plan(state, loop)
    spend_here(state, loop)
    by = splitting.divisor(state, loop) if state.fast else None
    if by is not None:
        yield from _split(state, loop, by)
        return
    name = state.out.fresh("i")
    begin, end = loop_range(state, loop, name)
    # One whose end may wrap has as many iterations as its extent says all the same.
    goes_on = f"{name} {'<' if loop.loop_var in state.sums else '!='} {end}"
    with state.out.block(f"for (int64_t {name} = {begin}; {goes_on}; ++{name})"):
        early = hoisting.emit(state, loop) if state.fast else set()
        yield loop.body
        state.leave(early)


def _split(state: Generation, loop: tir.For, by: int) -> Steps:
    outer, inner = splitting.bind(state, loop, by)
    assert isinstance(loop.extent, tir.IntImm)
    count = loop.extent.value // by
    with state.out.block(f"for (int64_t {outer} = 0; {outer} < {count}; ++{outer})"):
        if by not in splitting.SHORT:
            with state.out.block(f"for (int64_t {inner} = 0; {inner} < {by}; ++{inner})"):
                yield loop.body
            return
        for step in range(by):
            with state.out.block(""):
                state.out.put(f"const int64_t {inner} = {step};")
                yield loop.body


def _while(state: Generation, stmt: tir.While) -> Steps:
    with state.out.block("for (;;)"):
        condition = value_of(state, stmt.condition)
        state.out.put(f"if (!{condition.text}) break;")
        spend_one(state, stmt.span)
        known = state.assume(stmt.condition, True)
        yield stmt.body
        state.forget(known)


def _if(state: Generation, stmt: tir.IfThenElse) -> Steps:
    condition = guard(state, stmt.condition, loads(stmt))
    state.out.put(f"if ({condition.text}) {{")
    known = state.assume(stmt.condition, True)
    yield stmt.then_case
    state.forget(known)
    if stmt.else_case is not None:
        state.out.put("} else {")
        known = state.assume(stmt.condition, False)
        yield stmt.else_case
        state.forget(known)
    state.out.put("}")


# ------------------------------------------------------------------ blocks


def _block(state: Generation, block: tir.Block) -> Steps:
    if block.iter_vars and not state.fast and not state.nested:
        _nest(state, block)
        return
    state.out.put("{")
    for axis in block.iter_vars:
        bind_axis(state, axis)
    known = None
    if block.predicate is not None:
        state.out.put(f"if ({guard(state, block.predicate, loads(block.body)).text}) {{")
        known = state.assume(block.predicate, True)
    marks = [allocate(state, buffer, block) for buffer in block.alloc_buffers]
    if block.init is not None:
        state.out.put(f"if ({_at_start(state, block)}) {{")
        yield block.init
        state.out.put("}")
    yield block.body
    for mark in reversed(marks):
        if mark is not None:
            release(state, mark)
    if known is not None:
        state.forget(known)
        state.out.put("}")
    state.out.put("}")


def _at_start(state: Generation, block: tir.Block) -> str:
    """The condition that all reduction axes stand at their first value."""
    tests = []
    for axis in block.iter_vars:
        if axis.kind != "R":
            continue
        value = state.names[axis.var].text
        if axis.dom is not None:
            first = value_of(state, axis.dom[0]).text
        elif isinstance(axis.binding, tir.Var) and axis.binding in state.lows:
            first = state.lows[axis.binding]
        else:
            refuse("reduction axis without a domain", axis.span)
        tests.append(f"({value} == {first})")
    return " & ".join(tests) or "1"


# ------------------------------------------------------------------ the rest


def _seq(state: Generation, stmt: tir.SeqStmt) -> Steps:
    state.out.put("{")
    marks = []
    for part in stmt.stmts:
        if isinstance(part, tir.AllocBuffer):
            marks.append(allocate(state, part.buffer, stmt))
        else:
            yield part
    for mark in reversed(marks):
        if mark is not None:
            release(state, mark)
    state.out.put("}")


def _store(state: Generation, stmt: tir.BufferStore) -> Steps:
    dtype = stmt.buffer.dtype
    value = converted(state, value_of(state, stmt.value), dtype)
    kept = state.kept.get(stmt.buffer)
    if kept is not None:
        state.out.put(f"{kept} = {value.text};")
        return
    where = element(state, stmt)
    state.out.put(f"{where} = {value.stored or c_types.saved(dtype, value.text)};")
    return
    yield


def _let(state: Generation, stmt: tir.LetStmt) -> Steps:
    known = state.poly(stmt.value)
    value = converted(state, value_of(state, stmt.value), stmt.var.dtype)
    if not state.fast and not state.nested and stmt.var.dtype.is_integer:
        name = state.out.fresh("n")
        state.out.put(f"const int64_t {name} = (int64_t){value.text};")
        state.symbol(stmt.var, name, natural=False)
        state.names[stmt.var] = value
        return
    state.names[stmt.var] = value
    if known is not None and not usable(state, known, stmt.var.dtype):
        known = None
    state.bind_sum(stmt.var, known)
    return
    yield


def _assert(state: Generation, stmt: tir.Assert) -> Steps:
    condition = value_of(state, stmt.condition)
    said = "".join(stmt.message) or "the condition does not hold"
    site = state.out.site("E-tir-assert", f"{stmt.kind or 'AssertionError'}: {said}", stmt.span)
    state.out.stop_if(f"!{condition.text}", site)
    return
    yield


def _alloc(state: Generation, stmt: tir.AllocBuffer) -> Steps:
    allocate(state, stmt.buffer, stmt)
    return
    yield


def _evaluate(state: Generation, stmt: tir.Evaluate) -> Steps:
    value = stmt.value
    if isinstance(value, tir.Call) and value.op == "ret" and len(value.args) == 1:
        _return(state, value.args[0])
    else:
        value_of(state, value)
    return
    yield


def _return(state: Generation, given: tir.PrimExpr) -> None:
    """Leave with the value as 64 bits in a field of its own."""
    found = converted(state, value_of(state, given), state.result)
    bits = f"rlx_bits64((double){found.text})" if state.result.is_float else found.text
    state.out.put(f"v[12] = (int64_t){bits};")
    state.out.put("v[13] = 1;")
    state.out.put("return 0;")


_VISITORS: dict[type, Callable[[Generation, Any], Steps]] = {
    tir.SeqStmt: _seq,
    tir.For: _for,
    tir.While: _while,
    tir.IfThenElse: _if,
    tir.Block: _block,
    tir.BufferStore: _store,
    tir.LetStmt: _let,
    tir.Assert: _assert,
    tir.AllocBuffer: _alloc,
    tir.Evaluate: _evaluate,
}


def spend(state: Generation, nest: tir.Stmt) -> None:
    """Pay for the loops of a nest whose number of iterations is known at its start."""
    total = Polynomial({})
    state.paid = set()
    stack: list[tuple[tir.Stmt, Polynomial]] = [(nest, Polynomial.of(1))]
    while stack:
        stmt, times = stack.pop()
        match stmt:
            case tir.For():
                extent = _extent(state, stmt)
                if extent is not None and len(times.terms) <= 4:
                    times = times * extent
                    total += times
                    state.paid.add(stmt)
                    stack.append((stmt.body, times))
            case tir.SeqStmt():
                stack += [(part, times) for part in stmt.stmts]
            case tir.Block(predicate=None):
                stack.append((stmt.body, times))
    if total.terms:
        pay(state, total, getattr(nest, "span", None))


def _extent(state: Generation, loop: tir.For) -> Polynomial | None:
    extent = poly_of(state, loop.extent)
    if extent is None or extent.variables() - state.scope.natural:
        return None
    return extent if all(c > 0 for c in extent.terms.values()) else None


_EXACT = 1 << 53
"""The integers below it are floats of 64 bits."""


def pay(state: Generation, amount: Polynomial, span: Span | None) -> None:
    """Pay a number of units that is a sum over symbols."""
    site = _site(state, span)
    if amount.value is not None and amount.value < _EXACT:
        line = f"RLX_PAY({literal(amount.value)}, {site});"
    else:
        text = " + ".join(
            "*".join([f"{float(c)!r}", *(f"(double){name}" for name in m)])
            for m, c in amount.terms.items()
        )
        line = f"RLX_SPEND({text}, {site});"
    state.out.put(line)
    state.payments[line] = Payment(amount, site)


def spend_here(state: Generation, loop: tir.For) -> None:
    """Pay for a loop at its start, unless the nest has paid for it."""
    if loop in state.paid:
        return
    count = integral(state, loop.extent, "bound of a loop")
    state.out.put(
        f"if ({count.text} > 0) RLX_SPEND((double){count.text}, {_site(state, loop.span)});"
    )


def spend_one(state: Generation, span: Span | None) -> None:
    """Pay for one iteration of a `while` loop."""
    state.out.put(f"if (RLX_RARE((RLX_FUEL -= {WHILE}) < 0)) RLX_STOP({_site(state, span)}, 0, 0);")


def _site(state: Generation, span: Span | None) -> int:
    return state.out.site("E-tir-fuel", "the loop exceeds the budget of iterations", span)
