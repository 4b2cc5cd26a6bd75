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

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from rlx.grammar import tir
from rlx.grammar.dtype import BOOL
from rlx.semantics.native import c_types
from rlx.semantics.native.allocation import element
from rlx.semantics.native.c_types import CValue
from rlx.semantics.native.conversions import converted
from rlx.semantics.native.expressions import value_of
from rlx.semantics.native.prelude import WRITTEN_OUT
from rlx.semantics.native.ranges import literal
from rlx.semantics.native.recognise_reduction import Axis, LoopReduction
from rlx.semantics.native.state import Generation
from rlx.spec.registry import rule

COLUMNS_ALONE = 8
COLUMNS_SHARED = 2
ROWS = 2
"""The numbers of vectors in a tile, without and with several results that share operands, and of
partial results of a row.
"""
_NARROW = 40
_WIDEST = 64
"""The size of the widest vectors in bytes."""
Emit = Callable[[Generation, tir.Stmt], None]
"""Emits a statement and everything in it."""
_SIGNS: dict[type, str] = {tir.Add: "+", tir.Max: ">", tir.Min: "<"}


def emit(state: Generation, found: LoopReduction, emit_statement: Emit) -> None:
    """Emit a loop nest that was recognised as a reduction."""
    runs = [f"({axis.end} > {axis.begin})" for axis in found.reduce if axis.count is None]
    with _scope(state, f"if ({' & '.join(runs)})" if runs else ""):
        _shape(state, found, emit_statement)


def _shape(state: Generation, found: LoopReduction, emit_statement: Emit) -> None:
    column = found.column()
    if column is None:
        with _loops(state, found.spatial):
            if found.row():
                _row(state, found)
            else:
                _single(state, found, emit_statement)
        return
    shared = found.sharing(column)
    outer = [axis for axis in found.spatial if axis not in (column, shared)]
    width = _width(column, found.dtype, shared)
    with _loops(state, outer):
        if column.count is not None:
            _columns(state, found, column, width, shared)
            return
        with _scope(state, f"if ({column.end} - {column.begin} >= {width})"):
            _columns(state, found, column, width, shared)
        with (
            _scope(state, "else"),
            _loops(state, [axis for axis in (shared, column) if axis is not None]),
        ):
            _single(state, found, emit_statement)


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
        with _scope(state, f"if ({shared.end} - {shared.begin} >= RLX_ROWS)"):
            _tile(state, found, column, width, shared, "RLX_ROWS")
        with _scope(state, "else"), _loops(state, [shared]):
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
        each(lambda: _start(state, place, found.init))
        with _loops(state, found.reduce), _keeping(state, found, [place]):
            if (
                not found.store.buffer.dtype.is_float
            ):  # its sums could be reordered: the tile's columns are the lanes
                out.put("RLX_ONE_BY_ONE;")
            if shared is not None:
                _convert(state, found, column, shared, bases[column], (lane, width))
            each(lambda: _update(state, found, place))
        state.early = {}
        each(lambda: _save(state, found.store, place))


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


# ------------------------------------------------------------------ rows


@rule("E-native-order", "1f892feb", "native code")
def _row(state: Generation, found: LoopReduction) -> None:
    """Partial results, one for each lane; if a NaN occurs in a maximum or minimum, in order
    instead.
    """
    out, dtype = state.out, found.store.buffer.dtype
    kind = c_types.held(dtype)
    ordered = found.extremum and dtype.is_float
    total, lanes, odd = out.fresh("a"), out.fresh("a"), out.fresh("a")
    width = f"RLX_LANES({ROWS}, {kind})"
    inner, at, lane = found.reduce[-1], out.fresh("j"), out.fresh("c")
    each = f"for (int64_t {lane} = 0; {lane} < {width}; ++{lane})"
    out.put(f"{kind} {total}, {lanes}[{width}];")
    _start(state, total, found.init)
    first = total if found.extremum else "0"
    out.put(f"{each} {lanes}[{lane}] = {first};")
    if ordered:
        out.put(f"int32_t {odd}[{width}];")
        out.put(f"{each} {odd}[{lane}] = {total} != {total};")
    with _loops(state, found.reduce[:-1]):
        out.put(f"int64_t {at} = {inner.begin};")
        with out.block(f"for (; {at} + {width} <= {inner.end}; {at} += {width})"), out.block(each):
            out.put(f"const int64_t {inner.name} = {at} + {lane};")
            with _keeping(state, found, [f"{lanes}[{lane}]"]):
                value = _update(state, found, f"{lanes}[{lane}]")
            if ordered:
                out.put(f"{odd}[{lane}] |= {value.text} != {value.text};")
        rest = "" if inner.count is None else f"if ({literal(inner.count)} % {width})"
        with _scope(state, rest), out.block(f"for (; {at} < {inner.end}; ++{at})"):
            out.put(f"const int64_t {inner.name} = {at};")
            with _keeping(state, found, [total]):
                value = _update(state, found, total)
            if ordered:
                out.put(f"{odd}[0] |= {value.text} != {value.text};")
    _fold(state, found, lanes, width, odd if ordered else None)
    _combine(state, found, total, f"{lanes}[0]")
    if ordered:
        with out.block(f"if (RLX_RARE({odd}[0]))"):
            _start(state, total, found.init)
            with _loops(state, found.reduce), _keeping(state, found, [total]):
                _update(state, found, total)
    _save(state, found.store, total)


def _fold(state: Generation, found: LoopReduction, lanes: str, width: str, odd: str | None) -> None:
    """Combine the lanes into the first, the upper half onto the lower; a middle one stays as it
    is.
    """
    dtype = found.store.buffer.dtype
    if dtype == BOOL or (not found.extremum and str(dtype) in c_types.NARROW):
        _fold_by_lanes(state, found, lanes, width, odd)
        return
    with _scope(state, "if (RLX_VECTOR == 64 | RLX_VECTOR == 32 | RLX_VECTOR == 16)"):
        _fold_by_vectors(state, found, lanes, width, odd)
    with _scope(state, "else"):
        _fold_by_lanes(state, found, lanes, width, odd)


def _fold_by_vectors(
    state: Generation, found: LoopReduction, lanes: str, width: str, odd: str | None
) -> None:
    """The steps of a fold as operations on vectors, which the compiler has to look for otherwise:
    that takes it longer than the loop before.
    """
    out, kind = state.out, c_types.held(found.store.buffer.dtype)
    step = "RLX_FOLD_PICK" if found.extremum else "RLX_FOLD"
    sign = _SIGNS[type(found.store.value)]
    count = _WIDEST // c_types.size(found.store.buffer.dtype)
    while count > 1:
        with _scope(state, f"if ({width} > {count})"):
            out.put(f"{step}({kind}, {lanes}, {count}, {sign})")
            if odd is not None:
                out.put(f"RLX_FOLD(int32_t, {odd}, {count}, |)")
        count //= 2
    _combine(state, found, f"{lanes}[0]", f"{lanes}[1]")
    if odd is not None:
        out.put(f"{odd}[0] |= {odd}[1];")


def _fold_by_lanes(
    state: Generation, found: LoopReduction, lanes: str, width: str, odd: str | None
) -> None:
    out, count, lane = state.out, state.out.fresh("h"), state.out.fresh("c")
    out.put("#pragma GCC unroll 16")
    with (
        out.block(f"for (int64_t {count} = {width}; {count} > 1; {count} -= {count} / 2)"),
        out.block(f"for (int64_t {lane} = 0; {lane} < {count} / 2; ++{lane})"),
    ):
        other = f"[{lane} + ({count} - {count} / 2)]"
        _combine(state, found, f"{lanes}[{lane}]", f"{lanes}{other}")
        if odd is not None:
            out.put(f"{odd}[{lane}] |= {odd}{other};")


def _combine(state: Generation, found: LoopReduction, place: str, other: str) -> None:
    dtype = found.store.buffer.dtype
    sign = _SIGNS[type(found.store.value)]
    text = f"({place} {sign} {other})"
    text = f"({text} ? {place} : {other})" if found.extremum else c_types.rounded(dtype, text)
    state.out.put(f"{place} = {text};")


# ------------------------------------------------------------------ single


def _single(state: Generation, found: LoopReduction, emit_statement: Emit) -> None:
    out = state.out
    names = []
    for init in found.inits:
        name = out.fresh("a")
        out.put(f"{c_types.held(init.buffer.dtype)} {name};")
        _start(state, name, init)
        names.append(name)
    with _loops(state, found.reduce, unroll=found.short), _keeping(state, found, names):
        emit_statement(state, found.body)
    for init, name in zip(found.inits, names, strict=True):
        _save(state, init, name)


# ------------------------------------------------------------------ parts


@contextmanager
def _scope(state: Generation, head: str) -> Iterator[None]:
    with state.out.block(head):
        yield


@contextmanager
def _loops(state: Generation, axes: Sequence[Axis], unroll: bool = False) -> Iterator[None]:
    with ExitStack() as opened:
        for axis in axes:
            if unroll:
                state.out.put(WRITTEN_OUT)
            i = axis.name
            head = f"for (int64_t {i} = {axis.begin}; {i} < {axis.end}; ++{i})"
            opened.enter_context(state.out.block(head))
        yield


@contextmanager
def _keeping(state: Generation, found: LoopReduction, places: Sequence[str]) -> Iterator[None]:
    """Loads and stores of the results go to C variables meanwhile."""
    for init, place in zip(found.inits, places, strict=True):
        state.kept[init.buffer] = place
    yield
    for init in found.inits:
        del state.kept[init.buffer]


def _start(state: Generation, place: str, init: tir.BufferStore) -> None:
    result = converted(state, value_of(state, init.value), init.buffer.dtype)
    state.out.put(f"{place} = {result.text};")


def _update(state: Generation, found: LoopReduction, place: str) -> CValue:
    """One step of the reduction; returns the new term where the step is a sum or an extremum."""
    dtype = found.store.buffer.dtype
    term = found.term
    if found.product is not None and str(dtype) in ("float32", "float64"):
        a, b = (converted(state, value_of(state, e), dtype) for e in found.product)
        helper = f"rlx_fma_{c_types.suffix(dtype)}"
        state.out.put(f"{place} = {helper}({a.text}, {b.text}, {place});")
        return a
    if term is None:
        value = converted(state, value_of(state, found.store.value), dtype)
        state.out.put(f"{place} = {value.text};")
        return value
    value = converted(state, value_of(state, term), dtype)
    _combine(state, found, place, value.text)
    return value


def _save(state: Generation, store: tir.BufferStore, place: str) -> None:
    where = element(state, store)
    state.out.put(f"{where} = {c_types.saved(store.buffer.dtype, place)};")
