"""Code for loops around one reduction, with the accumulator in registers.

There are three forms, all only for arguments that do not overlap and independent result elements:

* *columns*: an axis of the result along which every operand is contiguous becomes the vector; a
  tile of
  results is held in registers over the whole reduction. The order of operations is the program's.
* *rows*: the innermost axis of the reduction is contiguous and becomes the vector; there are as
  many partial
  results as lanes, so sums are reordered.
* *single*: the accumulator is a variable. The order of operations is the program's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from rlx.grammar.nodes import tir
from rlx.semantics.native import c_types
from rlx.semantics.native.emit_rows import emit_row
from rlx.semantics.native.expressions import value_of
from rlx.semantics.native.ranges import literal
from rlx.semantics.native.recognise_reduction import Axis, LoopReduction
from rlx.semantics.native.reduction_parts import (
    in_order,
    keeping,
    loops,
    save,
    scope,
    start,
    update,
)
from rlx.semantics.native.state import Generation

COLUMNS_ALONE = 8
COLUMNS_SHARED = 2
"""The numbers of vectors in a tile, without and with several results that share operands."""
_NARROW = 40
Emit = Callable[[Generation, tir.Stmt], None]
"""Emits a statement and everything in it."""


def emit(state: Generation, found: LoopReduction, emit_statement: Emit) -> None:
    """Emit a loop nest that was recognised as a reduction."""
    runs = [f"({axis.end} > {axis.begin})" for axis in found.reduce if axis.count is None]
    with scope(state, f"if ({' & '.join(runs)})" if runs else ""):
        _shape(state, found, emit_statement)


def _shape(state: Generation, found: LoopReduction, emit_statement: Emit) -> None:
    column = found.column()
    if column is None:
        if found.row():
            with loops(state, found.spatial):
                emit_row(state, found)
        else:
            _singles(state, found, found.spatial, emit_statement)
        return
    shared = found.sharing(column)
    outer = [axis for axis in found.spatial if axis not in (column, shared)]
    width = _width(column, found.dtype, shared)
    with loops(state, outer):
        if column.count is not None:
            _columns(state, found, column, width, shared)
            return
        with scope(state, f"if ({column.end} - {column.begin} >= {width})"):
            _columns(state, found, column, width, shared)
        with scope(state, "else"):
            spatial = [axis for axis in (shared, column) if axis is not None]
            _singles(state, found, spatial, emit_statement)


def _width(column: Axis, dtype: str, shared: Axis | None) -> str:
    """The number of columns in a tile, as C: at least one, and never more than a known number of
    columns.

    Where the number of columns is not known, a tile may only be used for as many at least.
    """
    if column.count is not None and column.count <= _NARROW:
        return literal(column.count)
    vectors = COLUMNS_ALONE if shared is None else COLUMNS_SHARED
    lanes = f"RLX_LANES({vectors}, {dtype})"
    return lanes if column.count is None else f"RLX_MIN({lanes}, {literal(column.count)})"


# ------------------------------------------------------------------ columns


def _columns(
    state: Generation, found: LoopReduction, column: Axis, width: str, shared: Axis | None
) -> None:
    if shared is None:
        _tile(state, found, column, width, None, "1")
    elif shared.count is not None:
        rows = f"RLX_MIN(RLX_ROWS, {shared.count})"
        _tile(state, found, column, width, shared, rows)
    else:
        with scope(state, f"if ({shared.end} - {shared.begin} >= RLX_ROWS)"):
            _tile(state, found, column, width, shared, "RLX_ROWS")
        with scope(state, "else"), loops(state, [shared]):
            _tile(state, found, column, width, None, "1")


def _tile(
    state: Generation,
    found: LoopReduction,
    column: Axis,
    width: str,
    shared: Axis | None,
    rows: str,
) -> None:
    """A tile of results; the last tile is moved back to end with the axis, and computes some of
    them twice.

    No tile may be wider than its axis is long: moved back, it would begin before the axis does.
    """
    out, tile = state.out, state.out.fresh("a")
    kind = c_types.held(found.store.buffer.dtype)
    row, lane = out.fresh("r"), out.fresh("c")
    steps = [(column, width)] + ([(shared, rows)] if shared is not None else [])
    with ExitStack() as opened:
        bases = {}
        for axis, step in steps:
            at, base = out.fresh("j"), out.fresh("j")
            head = f"for (int64_t {at} = {axis.begin}; {at} < {axis.end}; {at} += {step})"
            opened.enter_context(out.block(head))
            out.put(f"const int64_t {base} = RLX_MIN({at}, {axis.end} - {step});")
            bases[axis] = base

        def each(body: Callable[[], object]) -> None:
            out.put("#pragma GCC unroll 16")
            with (
                out.block(f"for (int64_t {row} = 0; {row} < {rows}; ++{row})"),
                out.block(f"for (int64_t {lane} = 0; {lane} < {width}; ++{lane})"),
            ):
                out.put(f"const int64_t {column.name} = {bases[column]} + {lane};")
                if shared is not None:
                    out.put(f"const int64_t {shared.name} = {bases[shared]} + {row};")
                body()

        out.put(f"{kind} {tile}[{rows}][{width}];")
        place = f"{tile}[{row}][{lane}]"
        each(lambda: start(state, place, found.init))
        with loops(state, found.reduce), keeping(state, found, [place]):
            if (
                not found.store.buffer.dtype.is_float
            ):  # its sums could be reordered: the tile's columns are the lanes
                out.put("RLX_ONE_BY_ONE;")
            if shared is not None:
                _convert(state, found, column, shared, bases[column], (lane, width))
            each(lambda: update(state, found, place, found.strict))
        state.early = {}
        each(lambda: save(state, found.store, place))


def _convert(
    state: Generation,
    found: LoopReduction,
    column: Axis,
    shared: Axis,
    base: str,
    lanes: tuple[str, str],
) -> None:
    """Bring the operands that the rows of a tile share into the type they are computed in, once for
    all rows.
    """
    out, (lane, width) = state.out, lanes
    for expr in found.shared_operands(state, column, shared):
        name = out.fresh("w")
        out.put(f"{c_types.held(state.type_of(expr))} {name}[{width}];")
        with out.block(f"for (int64_t {lane} = 0; {lane} < {width}; ++{lane})"):
            out.put(f"const int64_t {column.name} = {base} + {lane};")
            out.put(f"{name}[{lane}] = {value_of(state, expr).text};")
        state.early[expr] = f"{name}[{lane}]"


# ------------------------------------------------------------------ single


def _singles(
    state: Generation, found: LoopReduction, spatial: Sequence[Axis], emit_statement: Emit
) -> None:
    """Results one by one.

    Of a strict extremum over elements that lie apart, the terms are added up as well. A sum is NaN
    if a term is, or if two are infinities of both signs: then a line is computed in order. To keep
    NaN in each step would take the processor's unit that brings the elements together.
    """
    if not (found.strict and spatial and found.apart(spatial[-1])):
        with loops(state, spatial):
            _single(state, found, emit_statement)
        return
    out, (*outer, last) = state.out, spatial
    odd, sum_, total = out.fresh("q"), out.fresh("s"), out.fresh("a")
    with loops(state, outer):
        out.put(f"int32_t {odd} = 0;")
        with loops(state, [last]):
            out.put(f"{found.dtype} {total}, {sum_} = 0;")
            start(state, total, found.init)
            with loops(state, found.reduce, found.short), keeping(state, found, [total]):
                out.put(f"{sum_} += {update(state, found, total).text};")
            save(state, found.store, total)
            out.put(f"{odd} |= {sum_} != {sum_};")
        with scope(state, f"if (RLX_RARE({odd}))"), loops(state, [last]):
            out.put(f"{found.dtype} {total};")
            in_order(state, found, total)
            save(state, found.store, total)


def _single(state: Generation, found: LoopReduction, emit_statement: Emit) -> None:
    out = state.out
    names = []
    for init in found.inits:
        name = out.fresh("a")
        out.put(f"{c_types.held(init.buffer.dtype)} {name};")
        start(state, name, init)
        names.append(name)
    with loops(state, found.reduce, unroll=found.short), keeping(state, found, names):
        if found.strict:
            update(state, found, names[0], strict=True)
        else:
            emit_statement(state, found.body)
    for init, name in zip(found.inits, names, strict=True):
        save(state, init, name)
