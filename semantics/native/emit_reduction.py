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
from typing import NamedTuple

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL
from rlx.semantics.native import c_types
from rlx.semantics.native.allocation import element, value_of_address
from rlx.semantics.native.c_types import CValue
from rlx.semantics.native.expressions import converted, value_of
from rlx.semantics.native.prelude import WRITTEN_OUT
from rlx.semantics.native.ranges import literal
from rlx.semantics.native.recognise_reduction import Axis, LoopReduction
from rlx.semantics.native.state import Generation
from rlx.spec.registry import rule

# Parts of the code for reductions: loops, and the start, a step and the end of one result.


SIGNS: dict[type, str] = {tir.Add: "+", tir.Max: ">", tir.Min: "<"}


@contextmanager
def scope(state: Generation, head: str) -> Iterator[None]:
    with state.out.block(head):
        yield


@contextmanager
def loops(state: Generation, axes: Sequence[Axis], unroll: bool = False) -> Iterator[None]:
    with ExitStack() as opened:
        for axis in axes:
            if unroll:
                state.out.put(WRITTEN_OUT)
            i = axis.name
            head = f"for (int64_t {i} = {axis.begin}; {i} < {axis.end}; ++{i})"
            opened.enter_context(state.out.block(head))
        yield


@contextmanager
def keeping(state: Generation, found: LoopReduction, places: Sequence[str]) -> Iterator[None]:
    """Loads and stores of the results go to C variables meanwhile."""
    for init, place in zip(found.inits, places, strict=True):
        state.kept[init.buffer] = place
    yield
    for init in found.inits:
        del state.kept[init.buffer]


def combine(state: Generation, found: LoopReduction, place: str, other: str) -> None:
    dtype = found.store.buffer.dtype
    text = f"({place} {SIGNS[found.kind]} {other})"
    if found.strict:  # of two choices GCC makes vectors, of one with two conditions it does not
        kept = state.out.fresh()
        state.out.put(f"const {found.dtype} {kept} = ({place} != {place} ? {place} : {other});")
        other = kept
    text = f"({text} ? {place} : {other})" if found.extremum else c_types.rounded(dtype, text)
    state.out.put(f"{place} = {text};")


def start(state: Generation, place: str, init: tir.BufferStore) -> None:
    result = converted(state, value_of(state, init.value), init.buffer.dtype)
    state.out.put(f"{place} = {result.text};")


def update(state: Generation, found: LoopReduction, place: str) -> CValue:
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
    combine(state, found, place, value.text)
    return value


def save(state: Generation, store: tir.BufferStore, place: str) -> None:
    where = element(state, store)
    state.out.put(f"{where} = {c_types.saved(store.buffer.dtype, place)};")


# Code for reductions of rows: the innermost axis of the reduction is contiguous and becomes the
# vector; there are as many partial results as lanes, so sums are reordered.


VECTORS = 2
"""The number of vectors of partial results."""
_WIDEST = 64
"""The size of the widest vectors in bytes."""


BY_VECTORS = "RLX_VECTOR == 64 || RLX_VECTOR == 32 || RLX_VECTOR == 16"
"""Whether there are vectors that C can name."""


class _Row(NamedTuple):
    """The C variables of a row: its result, the lanes, and what tells of a NaN, if it matters."""

    total: str
    lanes: str
    odd: str | None
    kind: str
    at: str


@rule("E-native-order", "native code")
def emit_row(state: Generation, found: LoopReduction) -> None:
    """Partial results, one for each lane; if a NaN occurs in a maximum or minimum, in order
    instead.
    """
    out, dtype = state.out, found.store.buffer.dtype
    total, lanes = out.fresh("a"), out.fresh("a")
    odd = out.fresh("a") if found.extremum and dtype.is_float else None
    row = _Row(total, lanes, odd, c_types.held(dtype), out.fresh("j"))
    width = f"RLX_LANES({VECTORS}, {row.kind})"
    out.put(f"{row.kind} {total}, {lanes}[{width}];")
    if odd is not None:
        out.put(f"int32_t {odd}[{width}];")
    start(state, total, found.init)
    if not found.plain():
        _by_lanes(state, found, row, width)
    out.put(f"#if {_condition(found)}")
    if found.plain():
        _by_vectors(state, found, row)
    _fold_by_vectors(state, found, row, f"RLX_LANES({1 if found.plain() else VECTORS}, {row.kind})")
    out.put("#else")
    if found.plain():
        _by_lanes(state, found, row, width)
    _fold_by_lanes(state, found, row, width)
    out.put("#endif")
    combine(state, found, total, f"{lanes}[0]")
    if odd is not None:
        with out.block(f"if (RLX_RARE({odd}[0]))"):
            start(state, total, found.init)
            with loops(state, found.reduce), keeping(state, found, [total]):
                update(state, found, total)
    save(state, found.store, total)


def _by_lanes(state: Generation, found: LoopReduction, row: _Row, width: str) -> None:
    """Partial results in an array, of which the compiler makes vectors."""
    out, (total, lanes, odd, _, at) = state.out, row
    (*outer, inner), lane = found.reduce, out.fresh("c")
    each = f"for (int64_t {lane} = 0; {lane} < {width}; ++{lane})"
    first = total if found.extremum else "0"
    out.put(f"{each} {lanes}[{lane}] = {first};")
    if odd is not None:
        out.put(f"{each} {odd}[{lane}] = {total} != {total};")
    with loops(state, outer):
        out.put(f"int64_t {at} = {inner.begin};")
        with out.block(f"for (; {at} + {width} <= {inner.end}; {at} += {width})"), out.block(each):
            out.put(f"const int64_t {inner.name} = {at} + {lane};")
            with keeping(state, found, [f"{lanes}[{lane}]"]):
                value = update(state, found, f"{lanes}[{lane}]")
            if odd is not None:
                out.put(f"{odd}[{lane}] |= {value.text} != {value.text};")
        _rest(state, found, row, width)


def _by_vectors(state: Generation, found: LoopReduction, row: _Row) -> None:
    """Partial results in vectors, which end as the lanes: it takes the compiler less time."""
    out, (total, lanes, odd, kind, at) = state.out, row
    (*outer, inner), width = found.reduce, f"RLX_LANES({VECTORS}, {kind})"
    sums, masks, terms = (out.fresh(letter) for letter in "lmx")
    assert isinstance(found.term, tir.BufferLoad)
    out.put(f"RLX_PART({kind}, RLX_VECTOR / sizeof({kind}));")
    first = f"{total} - (rlx_part){{}}" if found.extremum else "{}"
    out.put(f"rlx_part {sums}_0 = {first}, {sums}_1 = {sums}_0;")
    if odd is not None:
        out.put(f"{odd}[0] = 0;")
        nothing = f"{sums}_0 != {sums}_0"
        out.put(f"__typeof__({nothing}) {masks}_0 = {nothing}, {masks}_1 = {masks}_0;")
    with loops(state, outer):
        out.put(f"int64_t {at} = {inner.begin};")
        out.put("#pragma GCC unroll 1")
        with out.block(f"for (; {at} + {width} <= {inner.end}; {at} += {width})"):
            out.put(f"const int64_t {inner.name} = {at};")
            load = value_of_address(state, found.term.buffer, found.term.indices, found.term.span)
            for part in range(VECTORS):
                place = f"((const rlx_part *)&{load})[{part}]"
                out.put(f"const rlx_part {terms}_{part} = {place};")
                _step(state, found, f"{sums}_{part}", f"{terms}_{part}")
                if odd is not None:
                    out.put(f"{masks}_{part} |= {terms}_{part} != {terms}_{part};")
        _rest(state, found, row, width)
    _step(state, found, f"{sums}_0", f"{sums}_1")
    out.put(f"*(rlx_part *){lanes} = {sums}_0;")
    if odd is not None:
        out.put(f"{odd}[0] |= RLX_ANY({masks}_0 | {masks}_1);")


def _step(state: Generation, found: LoopReduction, place: str, other: str) -> None:
    """Combine two vectors."""
    sign = SIGNS[found.kind]
    text = f"{place} {sign} {other}"
    if found.extremum:
        kind = c_types.held(found.store.buffer.dtype)
        name = "max" if found.kind is tir.Max else "min"
        text = f"RLX_EXTREMUM(rlx_{name}_{kind}_, RLX_VECTOR)({place}, {other})"
    state.out.put(f"{place} = {text};")


def _rest(state: Generation, found: LoopReduction, row: _Row, width: str) -> None:
    """What is left of a row behind the last whole vector, in order."""
    out, (*_, inner) = state.out, found.reduce
    rest = "" if inner.count is None else f"if ({literal(inner.count)} % {width})"
    with scope(state, rest), out.block(f"for (; {row.at} < {inner.end}; ++{row.at})"):
        out.put(f"const int64_t {inner.name} = {row.at};")
        with keeping(state, found, [row.total]):
            value = update(state, found, row.total)
        if row.odd is not None:
            out.put(f"{row.odd}[0] |= {value.text} != {value.text};")


def _condition(found: LoopReduction) -> str:
    """When the lanes are combined by vectors, and are vectors from the start if the terms are
    plain.
    """
    dtype = found.store.buffer.dtype
    if dtype == BOOL or (not found.extremum and str(dtype) in c_types.NARROW):
        return "0"
    faster = found.extremum and found.plain()
    return f"({BY_VECTORS}) && RLX_VECTOR <= RLX_EXTREMA" if faster else BY_VECTORS


def _fold_by_vectors(state: Generation, found: LoopReduction, row: _Row, width: str) -> None:
    """The steps of a fold as operations on vectors, which the compiler has to look for otherwise:
    that takes it longer than the loop before.
    """
    out, (_, lanes, odd, kind, _) = state.out, row
    odd = None if found.plain() else odd
    step = "RLX_FOLD_PICK" if found.extremum else "RLX_FOLD"
    sign = SIGNS[found.kind]
    count = _WIDEST // c_types.size(found.store.buffer.dtype)
    while count > 1:
        with scope(state, f"if ({width} > {count})"):
            out.put(f"{step}({kind}, {lanes}, {count}, {sign})")
            if odd is not None:
                out.put(f"RLX_FOLD(int32_t, {odd}, {count}, |)")
        count //= 2
    combine(state, found, f"{lanes}[0]", f"{lanes}[1]")
    if odd is not None:
        out.put(f"{odd}[0] |= {odd}[1];")


def _fold_by_lanes(state: Generation, found: LoopReduction, row: _Row, width: str) -> None:
    """Combine the lanes into the first, the upper half onto the lower; a middle one stays as it
    is.
    """
    out, (_, lanes, odd, _, _) = state.out, row
    count, lane = out.fresh("h"), out.fresh("c")
    out.put("#pragma GCC unroll 16")
    with (
        out.block(f"for (int64_t {count} = {width}; {count} > 1; {count} -= {count} / 2)"),
        out.block(f"for (int64_t {lane} = 0; {lane} < {count} / 2; ++{lane})"),
    ):
        other = f"[{lane} + ({count} - {count} / 2)]"
        combine(state, found, f"{lanes}[{lane}]", f"{lanes}{other}")
        if odd is not None:
            out.put(f"{odd}[{lane}] |= {odd}{other};")


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
        with loops(state, found.spatial):
            if found.row():
                emit_row(state, found)
            else:
                _single(state, found, emit_statement)
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
        with (
            scope(state, "else"),
            loops(state, [axis for axis in (shared, column) if axis is not None]),
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
            each(lambda: update(state, found, place))
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
            update(state, found, names[0])
        else:
            emit_statement(state, found.body)
    for init, name in zip(found.inits, names, strict=True):
        save(state, init, name)
