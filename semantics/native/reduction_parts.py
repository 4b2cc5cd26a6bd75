"""Parts of the code for reductions: loops, and the start, a step and the end of one result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from rlx.grammar.nodes import tir
from rlx.semantics.native import c_types
from rlx.semantics.native.allocation import element
from rlx.semantics.native.c_types import CValue
from rlx.semantics.native.conversions import converted
from rlx.semantics.native.expressions import value_of
from rlx.semantics.native.prelude import WRITTEN_OUT
from rlx.semantics.native.recognise_reduction import Axis, LoopReduction
from rlx.semantics.native.state import Generation

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


def combine(
    state: Generation, found: LoopReduction, place: str, other: str, strict: bool = False
) -> None:
    """Join a value to a result. `strict`: an extremum stays NaN; it need not where NaN is noticed
    in another way.
    """
    dtype = found.store.buffer.dtype
    text = f"({place} {SIGNS[found.kind]} {other})"
    text = f"({text} ? {place} : {other})" if found.extremum else c_types.rounded(dtype, text)
    if strict:  # of two choices GCC makes vectors, of one with two conditions it does not
        more = state.out.fresh()
        state.out.put(f"const {found.dtype} {more} = {text};")  # one instruction
        text = f"({place} != {place} ? {place} : {more})"
    state.out.put(f"{place} = {text};")


def start(state: Generation, place: str, init: tir.BufferStore) -> None:
    result = converted(state, value_of(state, init.value), init.buffer.dtype)
    state.out.put(f"{place} = {result.text};")


def update(state: Generation, found: LoopReduction, place: str, strict: bool = False) -> CValue:
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
    combine(state, found, place, value.text, strict)
    return value


def in_order(state: Generation, found: LoopReduction, total: str) -> None:
    """All steps of one result in the order of the program."""
    start(state, total, found.init)
    with loops(state, found.reduce), keeping(state, found, [total]):
        state.out.put("RLX_ONE_BY_ONE;")  # it is rarely run: no vectors, which take time to compile
        update(state, found, total, found.strict)


def save(state: Generation, store: tir.BufferStore, place: str) -> None:
    where = element(state, store)
    state.out.put(f"{where} = {c_types.saved(store.buffer.dtype, place)};")
