"""The memory of buffers: addresses of stores, and allocation in a workspace that calls share, until
the end of the block.
"""

from __future__ import annotations

import math
from typing import Any

from rlx.grammar import tir
from rlx.semantics.native import c_types
from rlx.semantics.native.c_types import CValue
from rlx.semantics.native.expressions import integral, value_of
from rlx.semantics.native.ranges import IndexSum, literal
from rlx.semantics.native.refusal import refuse
from rlx.semantics.native.state import CBuffer, Generation
from rlx.semantics.native.write_analysis import written_first

MOST = 1 << 59
"""The maximum number of elements whose bytes fit into a signed 64-bit number."""


def allocate(state: Generation, buffer: tir.Buffer, owner: tir.Stmt) -> str:
    """Emit the allocation of a buffer; return the mark for :func:`release`, "" if nothing else is
    allocated.
    """
    if set(buffer.attrs) & {"data", "strides", "elem_offset"}:
        refuse("buffer inside of other memory", buffer.span)
    dims, extents = shape(state, buffer)
    name, mark = state.out.fresh("b"), state.out.fresh("m") if state.allocated else ""
    state.allocated += 1
    stored = c_types.stored(buffer.dtype)
    site = state.out.site(
        "E-tir-allocate", f"the memory of {buffer.name} exceeds the limit", buffer.span
    )
    if mark:
        state.out.put(_remembering(mark))
    size = _size(state, buffer, dims, extents)
    state.out.put(f"{stored} *{name} = rlx_take(v, {size});")
    state.out.stop_if(f"!{name}", site)
    if not written_first(buffer, owner):
        state.out.put(f"memset({name}, 0, (size_t){size});")
    state.memory[buffer] = CBuffer(name, dims, extents, strides(state, dims, extents))
    return mark


def _size(state: Generation, buffer: tir.Buffer, dims: list[str], extents: list[IndexSum]) -> str:
    """The bytes of a buffer as C, below 0 where an extent is, or where the number is too large."""
    name, stored = state.out.fresh("s"), c_types.stored(buffer.dtype)
    known = [extent.constant for extent in extents]
    if None not in known:
        numbers = [number for number in known if number is not None]
        count = math.prod(numbers)
        held = min(numbers, default=0) >= 0 and count < MOST
        return f"{literal(count)} * (int64_t)sizeof({stored})" if held else "-1"
    sizes = ", ".join([*dims, f"INT64_C(0) + (int64_t)sizeof({stored})"])
    state.out.put(f"const int64_t {name}_d[] = {{{sizes}}};")
    state.out.put(f"const int64_t {name} = rlx_size({name}_d, {len(dims) + 1});")
    return name


def release(state: Generation, mark: str) -> None:
    """Emit the release of everything allocated since ``mark``.

    What was released just before is released with it.
    """
    lines = state.out.lines
    while lines and lines[-1].startswith(_RELEASE):
        inner = lines.pop().removeprefix(_RELEASE).removesuffix(_END)
        if _remembering(inner) in lines:
            lines.remove(_remembering(inner))
    state.out.put(f"{_RELEASE}{mark}{_END}" if mark else "RLX_RELEASE_ALL")
    state.allocated -= 1


_RELEASE, _END = "rlx_release(v, ", ");"


def _remembering(mark: str) -> str:
    return f"const rlx_mark {mark} = rlx_remember(v);"


def shape(state: Generation, buffer: tir.Buffer) -> tuple[list[str], list[IndexSum]]:
    """The extents of a buffer, as C and as sums."""
    dims: list[str] = []
    extents: list[IndexSum] = []
    for dim in buffer.shape:
        if isinstance(dim, tir.IntImm):
            dims.append(literal(dim.value))
            extents.append(IndexSum.of(dim.value))
            continue
        name = state.out.fresh("d")
        value = integral(state, dim, "extent")
        state.out.put(f"const int64_t {name} = {value.text};")
        dims.append(name)
        extents.append(state.extent_of(dim, name, exact=False))
    return dims, extents


def strides(state: Generation, dims: list[str], extents: list[IndexSum]) -> list[str]:
    """The distance between elements along each axis, row-major, as C."""
    found: list[str] = []
    text, known = "1", 1
    for dim, extent in zip(reversed(dims), reversed(extents), strict=True):
        found.append(text)
        if known and extent.constant is not None:
            known *= extent.constant
            text = "1" if known == 1 else literal(known)
            continue
        name = state.out.fresh("t")
        state.out.put(f"const int64_t {name} = {text} * {dim};")
        text, known = name, 0
    return found[::-1]


def element(state: Generation, stmt: tir.BufferStore) -> str:
    """The checked address of a store."""
    return value_of_address(state, stmt.buffer, stmt.indices, stmt.span)


def value_of_address(
    state: Generation, buffer: tir.Buffer, indices: tuple[tir.PrimExpr, ...], span: Any
) -> str:
    """The element of a buffer in C, with the necessary checks."""
    steps = state.address(buffer, indices, span)
    answer: CValue | None = None
    while True:
        try:
            wanted = steps.send(answer)  # type: ignore[arg-type]
        except StopIteration as done:
            return str(done.value)
        answer = value_of(state, wanted)
