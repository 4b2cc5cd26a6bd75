"""The statements of PrimFuncs, and scopes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from rlx.checker.prim_funcs.expressions import (
    dimension,
    indices,
    is_boolean,
    is_wrong,
    number,
    place_lanes,
    unknown_word,
    value,
    wrong_rank,
)
from rlx.checker.prim_funcs.state import PrimFuncCheck, bind, extent_text, is_bound
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.visit import shape_vars_of
from rlx.grammar.read.kept_text import kept_names
from rlx.grammar.read.prim_types import Typed, is_float, scalar, type_text
from rlx.grammar.read.script_vocabulary import is_known
from rlx.solver.prim_exprs import MOST, least_count, lower_count
from rlx.spec.registry import need, rule

_AXES = frozenset(["S", "R", "scan", "opaque"])
_LONG = 100
"""Parts of an extent that is not compared."""


def statement(state: PrimFuncCheck, stmt: tir.Stmt) -> None:
    """Check a statement and what it contains; what it binds stays in scope."""
    outer = state.span
    state.span = getattr(stmt, "span", None) or outer
    _CHECKS[type(stmt)](state, stmt)
    state.span = outer


def scoped(state: PrimFuncCheck, stmt: tir.Stmt) -> None:
    """Check a body: what it binds ends with it."""
    outer = state.open()
    statement(state, stmt)
    state.close(outer)


def _sequence(state: PrimFuncCheck, stmt: Any) -> None:
    for part in stmt.stmts:
        statement(state, part)


# ---------------------------------------------------------------- loops


def _for(state: PrimFuncCheck, stmt: tir.For) -> None:
    for bound, word in ((stmt.extent, "extent"), (stmt.min, "start"), (stmt.step, "step")):
        if bound is not None and not counts(state, bound, word, stmt):
            state.doubtful.add(stmt.loop_var)
    _attributes(state, stmt.attrs)
    outer = state.open()
    state.enter(stmt.loop_var)
    state.loops[stmt.loop_var] = state.depth
    state.scalars.add(stmt.loop_var)
    if stmt.kind in _AT_ONCE and not (
        isinstance(stmt.extent, tir.IntImm) and stmt.extent.value == 1
    ):
        state.at_once[stmt.loop_var] = stmt.kind
    statement(state, stmt.body)
    state.close(outer)


@rule("TIR08", "PrimFunc")
def counts(state: PrimFuncCheck, expr: tir.PrimExpr, word: str, loop: tir.For) -> bool:
    """Whether the start, the extent or the step of a loop is an integer."""
    found = number(state, expr, f"the {word} of a loop")
    if found.dtype is None:  # nor is the type of the loop's variable known
        state.doubtful.add(loop.loop_var)
    if need("TIR08-integer", not is_float(found)):
        return True
    if state.once((loop, "integer")):
        words = f"the {word} of a loop must be an integer, not {found.dtype}"
        state.report("TIR08-integer", words, getattr(expr, "span", None))
    return False


def _while(state: PrimFuncCheck, stmt: tir.While) -> None:
    number(state, stmt.condition, "the condition of a loop")
    scoped(state, stmt.body)


def _if(state: PrimFuncCheck, stmt: tir.IfThenElse) -> None:
    number(state, stmt.condition, "a condition")
    scoped(state, stmt.then_case)
    if stmt.else_case is not None:
        scoped(state, stmt.else_case)


def _with(state: PrimFuncCheck, stmt: tir.With) -> None:
    value(state, stmt.call)
    outer = state.open()
    if stmt.var is not None:
        state.enter(stmt.var)
        state.loops[stmt.var] = state.depth
    statement(state, stmt.body)
    state.close(outer)


# ---------------------------------------------------------------- blocks


def _block(state: PrimFuncCheck, block: tir.Block) -> None:
    outer = state.open()
    spatial = [axis.binding for axis in block.iter_vars if axis.kind == "S"]
    apart = {*tir.free_vars(*spatial)}
    for axis in block.iter_vars:
        _axis(state, axis, apart)
    if block.predicate is not None:
        found = value(state, block.predicate)
        is_boolean(state, block.predicate, found, "the condition of T.where")
    for axis in block.iter_vars:
        bind(state, axis.var, axis.span)
        state.scalars.add(axis.var)
    around, state.block = state.block, block
    inside = bool(block.iter_vars)
    state.depth += inside
    for buffer in block.alloc_buffers:
        _buffer(state, buffer)
        bind(state, buffer, buffer.span)
    # A region may name a buffer that the body matches or declares.
    late = [
        s.buffer for s in _parts(block.body) if isinstance(s, tir.MatchBuffer | tir.AllocBuffer)
    ]
    for region in (*(block.reads or ()), *(block.writes or ())):
        if not (isinstance(region, tir.BufferLoad) and region.buffer in late):
            _region(state, region)
    if block.init is not None:
        scoped(state, block.init)
    statement(state, block.body)
    state.depth -= inside
    state.block = around
    state.close(outer)


def _region(state: PrimFuncCheck, region: tir.PrimExpr) -> None:
    """A region that a block reads or writes: a buffer with indices."""
    found = value(state, region)
    named = isinstance(region, tir.BufferLoad) or (
        isinstance(region, tir.OpaqueExpr) and found.kind == "number"
    )
    where = region_span(region)
    if not need("TIR04-region", named) and state.once(("region", where, state.span)):
        words = f"T.reads and T.writes take regions of buffers, not {type_text(found)}"
        help = "index it" if found.kind == "buffer" else None
        state.report("TIR04-region", words, where, help=help)


def region_span(region: tir.PrimExpr) -> Span | None:
    """The place of a region; a variable's span is that of its binding."""
    return None if isinstance(region, tir.Var) else getattr(region, "span", None)


def _parts(body: tir.Stmt) -> tuple[tir.Stmt, ...]:
    return body.stmts if isinstance(body, tir.SeqStmt) else (body,)


def _axis(state: PrimFuncCheck, axis: tir.IterVar, apart: Collection[tir.Var]) -> None:
    """Check an iterator of a block; ``apart`` are the variables that spatial iterators depend on."""
    if axis.kind not in _AXES:
        state.report(
            "TIR07-kind",
            f"unknown kind of iterator {axis.kind!r}: expected S, R, scan or opaque",
            axis.span,
        )
    var = axis.binding
    if axis.dom is None and (
        not isinstance(var, tir.Var) or (var in state.scalars and var not in state.loops)
    ):
        words = "T.axis.remap takes loop variables only"
        state.report("TIR07-remap", words, axis.span, help="use T.axis.spatial or T.axis.reduce")
    for bound in axis.dom or ():
        typed = number(state, bound, "the domain of an iterator")
        whole = typed.dtype is None or typed.dtype.is_integer
        if not need("TIR07-integer", whole) and state.once((axis, "integer")):
            words = f"the domain of an iterator must consist of integers, not of {typed.dtype}"
            state.report("TIR07-integer", words, getattr(bound, "span", None) or axis.span)
    found = number(state, axis.binding, "the binding of an iterator")
    if not need("TIR07-integer", not is_float(found)) and state.once((axis, "integer")):
        words = f"an iterator must be bound to an integer, not to {found.dtype}"
        state.report("TIR07-integer", words, axis.span)
    if is_float(found) or found.dtype is None:
        state.doubtful.add(axis.var)
    used = tir.free_vars(axis.binding) if axis.kind == "R" else ()
    loop = next((each for each in used if each in state.at_once and each not in apart), None)
    if not need("TIR07-parallel", loop is None) and state.once((axis, "parallel")):
        assert loop is not None
        words = (
            f"the reduction {axis.var.name!r} runs along the T.{state.at_once[loop]} loop "
            f"{loop.name!r}, whose iterations update the same elements at once"
        )
        help = "use T.serial, or a loop of a spatial iterator"
        state.report("TIR07-parallel", words, axis.span, severity="warning", help=help)


_AT_ONCE = ("parallel", "vectorized")
"""Kinds of loops whose iterations run at once."""


# ---------------------------------------------------------------- buffers


def _buffer(state: PrimFuncCheck, buffer: tir.Buffer) -> None:
    """Check the declaration of a buffer; plain variables in strides and offsets are bound by it."""
    for extent in buffer.shape:
        dimension(state, extent)
    elements(state, buffer)
    own = {v for v in shape_vars_of(buffer) if v not in buffer.shape}
    for name, given in buffer.attrs.items():
        if name in ("strides", "elem_offset"):
            for var in own - state.in_scope:
                state.enter(var)
        _attributes(state, {name: given})
    data = buffer.attrs.get("data")
    if isinstance(data, tir.PrimExpr) and value(state, data).kind == "buffer":
        words = "`data` takes the memory of a buffer, not the buffer itself"
        state.report("TIR04-number", words, data.span, help=f"write `{data.text}.data`")  # type: ignore[attr-defined]


@rule("TIR16", "PrimFunc")
def elements(state: PrimFuncCheck, buffer: tir.Buffer) -> None:
    """A buffer has at most as many elements as an int64 can count."""
    least = least_count(buffer.shape)
    if not need("TIR16-count", least <= MOST) and state.once((buffer, "count")):
        words = f"the buffer {buffer.name!r} would have at least {lower_count(least)} elements"
        help = f"no buffer has more than 2**63 - 1 elements, that is {MOST:,}"
        state.report("TIR16-count", words, buffer.span, help=help)


def _attributes(state: PrimFuncCheck, attrs: Any) -> None:
    for given in attrs.values():
        for each in given if isinstance(given, tuple | list) else (given,):
            if isinstance(each, tir.PrimExpr):
                value(state, each)


def _allocate(state: PrimFuncCheck, stmt: tir.AllocBuffer) -> None:
    _buffer(state, stmt.buffer)
    bind(state, stmt.buffer, stmt.buffer.span)


@rule("TIR14", "PrimFunc")
def fits(state: PrimFuncCheck, stmt: tir.MatchBuffer) -> None:
    """A buffer has the shape of the region that it is matched to; axes of one element in front may
    be left out.
    """
    given, one = stmt.source.indices, tir.IntImm(1)
    wanted = (*[one] * (len(given) - len(stmt.buffer.shape)), *stmt.buffer.shape)
    if not len(wanted) == len(given) == len(stmt.source.buffer.shape):
        return
    whole = stmt.source.buffer.shape
    for axis, (index, dim) in enumerate(zip(given, wanted, strict=True)):
        match index:
            case tir.Slice():
                extent: tir.PrimExpr = tir.Sub(index.stop, index.start)
            case tir.OpaqueExpr(text=":"):
                extent = whole[axis]
            case tir.OpaqueExpr():
                continue
            case _:
                extent = one
        if _apart(extent, dim):
            state.report(
                "TIR14-shape",
                f"axis {axis} of the region has {extent_text(extent)} elements, but {stmt.buffer.name!r}"
                f" has {extent_text(dim)}",
                stmt.source.span or stmt.span,
            )
            return


def _apart(a: tir.PrimExpr, b: tir.PrimExpr) -> bool:
    """Whether two extents differ, whatever their variables are."""
    if isinstance(a, tir.IntImm) and isinstance(b, tir.IntImm):
        return a.value != b.value
    if tir.larger_than(_LONG, tir.Sub(a, b)):
        return False
    from rlx.solver.prover import Prover

    difference = Prover().simplify(tir.Sub(a, b))
    return isinstance(difference, tir.IntImm) and difference.value != 0


def _match(state: PrimFuncCheck, stmt: tir.MatchBuffer) -> None:
    said = len(state.diagnostics)
    value(state, stmt.source)
    if not state.diagnostics[said:]:
        fits(state, stmt)
    for var in shape_vars_of(stmt.buffer):
        if var not in state.in_scope and not state.excused(var.name):
            state.enter(var)
    _buffer(state, stmt.buffer)
    bind(state, stmt.buffer, stmt.buffer.span)


def _store(state: PrimFuncCheck, stmt: tir.BufferStore) -> None:
    buffer, said = stmt.buffer, len(state.diagnostics)
    at = [value(state, index) for index in stmt.indices]
    indices(state, stmt.indices, at)
    found = number(state, stmt.value, "a stored value")
    if not is_bound(state, buffer, stmt.span):
        return
    if state.rank(buffer) not in (None, len(at)):
        wrong_rank(state, buffer, len(at), stmt.span)
    elif not state.diagnostics[said:]:
        keeps_the_type(state, stmt, at, found)


@rule("TIR05", "PrimFunc")
def keeps_the_type(
    state: PrimFuncCheck, stmt: tir.BufferStore, at: Sequence[Typed], found: Typed
) -> None:
    """A stored value has the element type of its buffer, and the lanes of its place."""
    buffer = stmt.buffer
    wanted = scalar(buffer.dtype)
    known = found.dtype is not None and wanted.dtype is not None
    if known and not need("TIR05-type", found.dtype == wanted.dtype):
        state.report(
            "TIR05-type",
            f"a value of type {found.dtype} is stored in {buffer.name!r}, which holds"
            f" {buffer.dtype}",
            stmt.span,
            severity="warning",
            help=f'the value is converted; to say so, write `T.Cast("{buffer.dtype}", …)`',
        )
    lanes = place_lanes(buffer, stmt.indices, at)
    if not need("TIR05-lanes", lanes is None or found.lanes in (None, lanes)):
        words = f"{found.lanes} numbers are stored to {lanes} elements of {buffer.name!r}"
        state.report("TIR05-lanes", words, stmt.span)


# ---------------------------------------------------------------- others


def _let(state: PrimFuncCheck, stmt: tir.LetStmt) -> None:
    found = value(state, stmt.value)
    if found.dtype is None:
        state.doubtful.add(stmt.var)
    else:
        has_its_type(state, stmt, found)
        if stmt.var.dtype.code != "handle":
            state.fixed.add(stmt.var)
    bind(state, stmt.var, stmt.span)


@rule("TIR10", "PrimFunc")
def has_its_type(state: PrimFuncCheck, stmt: tir.LetStmt, found: Typed) -> None:
    """The value of a variable that is bound for good has the type of the variable."""
    wanted = scalar(stmt.var.dtype)
    if wanted.dtype is not None and found.kind == "number" and found.dtype != wanted.dtype:
        state.doubtful.add(stmt.var)
        state.report(
            "TIR10-type",
            f"a value of type {found.dtype} is bound to {stmt.var.name!r}, whose type is"
            f" {stmt.var.dtype}",
            stmt.span,
            help=f'write `T.Cast("{stmt.var.dtype}", …)`, or change the annotation',
        )


def _evaluate(state: PrimFuncCheck, stmt: tir.Evaluate) -> None:
    kind = value(state, stmt.value).kind
    if isinstance(stmt.value, tir.BufferLoad) and any(map(tir.is_slice, stmt.value.indices)):
        kind = "region"
    if kind in ("buffer", "region"):
        state.report("TIR04-number", f"T.evaluate takes a number, not a {kind}", stmt.span)


def _assert(state: PrimFuncCheck, stmt: tir.Assert) -> None:
    found = value(state, stmt.condition)
    is_boolean(state, stmt.condition, found, "the condition of an assert")


def _opaque(state: PrimFuncCheck, stmt: tir.OpaqueStmt) -> None:
    """Check text that is not understood: the words after `T.` exist, and assignments are to
    buffers.
    """
    if is_wrong(state, stmt.text, stmt.span, is_statement=True):
        return
    for part in stmt.known:
        value(state, part)
    start, text = 0, stmt.text
    if state.source is not None and stmt.span is not None:
        start, text = stmt.span[0], state.source[slice(*stmt.span)]
    for found in kept_names(text):
        match found.name.split("."):
            case ["T", "axis", kind, *_]:
                word = f"axis.{kind}"
            case ["T", word, *_]:
                pass
            case _:
                continue
        if not is_known(word):
            at = start + found.span[0]
            known = state.source is not None
            unknown_word(state, word, (at, at + len(f"T.{word}")) if known else stmt.span)


_CHECKS: dict[type, Callable[[PrimFuncCheck, Any], None]] = {
    tir.SeqStmt: _sequence,
    tir.For: _for,
    tir.While: _while,
    tir.IfThenElse: _if,
    tir.With: _with,
    tir.Block: _block,
    tir.AllocBuffer: _allocate,
    tir.MatchBuffer: _match,
    tir.BufferStore: _store,
    tir.LetStmt: _let,
    tir.Evaluate: _evaluate,
    tir.Assert: _assert,
    tir.OpaqueStmt: _opaque,
}
