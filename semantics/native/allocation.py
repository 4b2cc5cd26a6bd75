"""The memory of buffers: addresses of stores, and allocation in a workspace that calls share, until
the end of the block.
"""

from __future__ import annotations

import math
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64
from rlx.semantics.native import c_types
from rlx.semantics.native.c_types import CValue, refuse
from rlx.semantics.native.expressions import integral, value_of
from rlx.semantics.native.indices import poly_of
from rlx.semantics.native.ranges import literal, text_of
from rlx.semantics.native.state import CBuffer, Generation
from rlx.semantics.native.write_analysis import statements, written_first
from rlx.solver.poly import Polynomial

MOST = 1 << 59
"""The maximum number of elements whose bytes fit into a signed 64-bit number."""


def plan(state: Generation, func: tir.PrimFunc) -> None:
    """Decide where in the workspace the buffers of a kernel lie, if it allocates all of them once,
    and if all sizes are sums over its shape variables.
    """
    body, buffers = func.body, list[tir.Buffer]()
    while isinstance(body, tir.Block) and not body.iter_vars and body.predicate is None:
        buffers += body.alloc_buffers
        body = body.body
    buffers += [part.buffer for part in tir.flat(body) if isinstance(part, tir.AllocBuffer)]
    everywhere = statements(func.body)
    count = sum(isinstance(part, tir.AllocBuffer) for part in everywhere)
    count += sum(len(part.alloc_buffers) for part in everywhere if isinstance(part, tir.Block))
    sizes = [_fixed_size(state, buffer) for buffer in buffers]
    known = [size for size in sizes if size is not None]
    used = sum(known, Polynomial({}))
    if not count or len(known) < count or not state.fits(used + Polynomial.of(count << 7)):
        return
    at = Polynomial({})
    for buffer, size in zip(buffers, known, strict=True):
        state.places[buffer] = (text_of(at), text_of(size))
        if size.value is not None:
            at += Polynomial.of((size.value + 127) & ~63)
            continue
        end = state.out.fresh("o")
        state.out.put(
            f"const int64_t {end} = {text_of(at)} + ({text_of(size)} + 127 & ~INT64_C(63));"
        )
        at = Polynomial.of(end)
    state.misfits.append(f"RLX_NO_ROOM({text_of(at)}, {text_of(used)})")


def _fixed_size(state: Generation, buffer: tir.Buffer) -> Polynomial | None:
    """The bytes of a buffer, if they are a sum over shape variables that is never negative."""
    size = Polynomial.of(c_types.stored_size(buffer.dtype))
    for dim in buffer.shape:
        exact = isinstance(dim, (tir.Var, tir.IntImm)) or state.type_of(dim) == INT64
        parts = tir.postorder(dim)
        if not exact or not all(
            isinstance(p, (tir.Var, tir.IntImm, tir.Add, tir.Mul)) for p in parts
        ):
            return None
        extent = poly_of(state, dim)
        if extent is None or extent.variables() - state.shapes:
            return None
        if any(factor < 0 for factor in extent.terms.values()):
            return None
        size = size * extent
    return size


def allocate(state: Generation, buffer: tir.Buffer, owner: tir.Stmt) -> str | None:
    """Emit the allocation of a buffer; return the mark for :func:`release`, "" if nothing else is
    allocated, None if it need not be released.
    """
    if set(buffer.attrs) & {"data", "strides", "elem_offset"}:
        refuse("buffer inside of other memory", buffer.span)
    dims, extents = shape(state, buffer)
    name, stored = state.out.fresh("b"), c_types.stored(buffer.dtype)
    site = state.out.site(
        "E-tir-allocate", f"the memory of {buffer.name} exceeds the limit", buffer.span
    )
    mark = None
    if buffer in state.places:
        at, size = state.places[buffer]
        state.out.put(f"{stored} *{name} = RLX_PLACE({at}, {size}, {site});")
    else:
        mark = state.out.fresh("m") if state.allocated else ""
        state.allocated += 1
        if mark:
            state.out.put(_remembering(mark))
        size = _size(state, buffer, dims, extents)
        state.out.put(f"{stored} *{name} = rlx_take(v, {size});")
        state.out.stop_if(f"!{name}", site)
    if not written_first(buffer, owner):
        state.out.put(f"memset({name}, 0, (size_t){size});")
    state.memory[buffer] = CBuffer(name, dims, extents, strides(state, dims, extents))
    return mark


def _size(state: Generation, buffer: tir.Buffer, dims: list[str], extents: list[Polynomial]) -> str:
    """The bytes of a buffer as C, below 0 where an extent is, or where the number is too large."""
    name, stored = state.out.fresh("s"), c_types.stored(buffer.dtype)
    known = [extent.value for extent in extents]
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


def shape(state: Generation, buffer: tir.Buffer) -> tuple[list[str], list[Polynomial]]:
    """The extents of a buffer, as C and as sums."""
    dims: list[str] = []
    extents: list[Polynomial] = []
    for dim in buffer.shape:
        if isinstance(dim, tir.IntImm):
            dims.append(literal(dim.value))
            extents.append(Polynomial.of(dim.value))
            continue
        name = state.out.fresh("d")
        value = integral(state, dim, "extent")
        state.out.put(f"const int64_t {name} = {value.text};")
        dims.append(name)
        extents.append(state.extent_of(dim, name, exact=False))
    return dims, extents


def strides(state: Generation, dims: list[str], extents: list[Polynomial]) -> list[str]:
    """The distance between elements along each axis, row-major, as C."""
    found: list[str] = []
    text, known = "1", 1
    for dim, extent in zip(reversed(dims), reversed(extents), strict=True):
        found.append(text)
        if known and extent.value is not None:
            known *= extent.value
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
