"""Code for reductions of rows, whose innermost reduction axis is contiguous and becomes the vector.

There is one partial result for each lane, so sums are reordered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL
from rlx.semantics.native import c_types
from rlx.semantics.native.allocation import value_of_address
from rlx.semantics.native.ranges import literal
from rlx.semantics.native.recognise_reduction import LoopReduction
from rlx.semantics.native.reduction_parts import (
    SIGNS,
    combine,
    in_order,
    keeping,
    loops,
    save,
    scope,
    start,
    update,
)
from rlx.semantics.native.state import Generation
from rlx.spec.registry import rule

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
    (*_, inner), width = found.reduce, f"RLX_LANES({VECTORS}, {row.kind})"
    if inner.count is not None and not found.plain():
        width = f"RLX_WIDTH({inner.count}, {row.kind})"
    out.put(f"{row.kind} {total}, {lanes}[{width}];")
    if odd is not None:
        out.put(f"int32_t {odd}[{width}];")
    start(state, total, found.init)
    if not found.plain():
        _by_lanes(state, found, row, width)
    out.put(f"#if {_condition(found)}")
    if found.plain():
        _by_vectors(state, found, row)
    _fold_by_vectors(state, found, row, f"RLX_LANES(1, {row.kind})" if found.plain() else width)
    out.put("#else")
    if found.plain():
        _by_lanes(state, found, row, width)
    _fold_by_lanes(state, found, row, width)
    out.put("#endif")
    combine(state, found, total, f"{lanes}[0]")
    if odd is not None:
        with out.block(f"if (RLX_RARE({odd}[0]))"):
            in_order(state, found, total)
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
        with _steps(state, found, row, width) as first, out.block(each):
            out.put(f"const int64_t {inner.name} = {first} + {lane};")
            with keeping(state, found, [f"{lanes}[{lane}]"]):
                value = update(state, found, f"{lanes}[{lane}]")
            if odd is not None:
                out.put(f"{odd}[{lane}] |= {value.text} != {value.text};")
        _rest(state, found, row, width)


@contextmanager
def _steps(
    state: Generation, found: LoopReduction, row: _Row, width: str, *before: str
) -> Iterator[str]:
    """The loop over the vectors of a row, with the place where each begins. The last one of an
    extremum is moved back to end with the row: its elements may count twice.
    """
    out, at, end = state.out, row.at, found.reduce[-1].end
    moved = found.extremum
    with scope(state, f"if ({end} - {at} >= {width})" if moved else ""):
        for line in before:
            out.put(line)
        goes_on = f"{at} < {end}" if moved else f"{at} + {width} <= {end}"
        with out.block(f"for (; {goes_on}; {at} += {width})"):
            yield f"RLX_MIN({at}, {end} - {width})" if moved else at


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
        with _steps(state, found, row, width, "#pragma GCC unroll 1") as first:
            out.put(f"const int64_t {inner.name} = {first};")
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
    dtype = found.store.buffer.dtype
    if found.extremum and dtype.is_integer:
        text = f"RLX_PICK({place}, {other}, {sign})"
    elif found.extremum:
        kind = c_types.held(dtype)
        name = "max" if found.kind is tir.Max else "min"
        text = f"RLX_EXTREMUM(rlx_{name}_{kind}_, RLX_VECTOR)({place}, {other})"
    state.out.put(f"{place} = {text};")


def _rest(state: Generation, found: LoopReduction, row: _Row, width: str) -> None:
    """The rest of a row behind the last whole vector, in order."""
    out, (*_, inner) = state.out, found.reduce
    rest = "" if inner.count is None else f"if ({literal(inner.count)} % {width})"
    with scope(state, rest), out.block(f"for (; {row.at} < {inner.end}; ++{row.at})"):
        out.put(f"const int64_t {inner.name} = {row.at};")
        with keeping(state, found, [row.total]):
            value = update(state, found, row.total)
        if row.odd is not None:
            out.put(f"{row.odd}[0] |= {value.text} != {value.text};")


def _condition(found: LoopReduction) -> str:
    """The condition under which lanes are combined by vectors, and are vectors from the start if
    the terms are plain.
    """
    dtype = found.store.buffer.dtype
    if dtype == BOOL or (not found.extremum and str(dtype) in c_types.NARROW):
        return "0"
    faster = found.extremum and found.plain() and dtype.is_float
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
