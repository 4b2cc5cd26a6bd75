"""The C code of a whole kernel: parameters, shapes, the body, and the table of stop sites."""

from __future__ import annotations

import math

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT32
from rlx.semantics.native import c_types, statements
from rlx.semantics.native.allocation import MOST, plan, strides
from rlx.semantics.native.c_program import CProgram, parameters
from rlx.semantics.native.c_types import ZERO, CValue, refuse
from rlx.semantics.native.conversions import constant
from rlx.semantics.native.expressions import integral
from rlx.semantics.native.frame import FIRST_SLOT
from rlx.semantics.native.ranges import SMALL, literal, text_of
from rlx.semantics.native.state import CBuffer, Generation
from rlx.semantics.native.write_analysis import filled, loads, returns, stores
from rlx.semantics.native.write_analysis import statements as inside
from rlx.solver.poly import Polynomial


def generate(
    func: tir.PrimFunc, *, bounds: bool, disjoint: bool, vector: int | None = None
) -> CProgram:
    """The C code of a PrimFunc.

    Parameters
    ----------
    bounds
        Whether accesses are checked.
    disjoint
        Whether the kernel is for arguments that do not overlap, have no axis of 2**31 elements or
        more, and have the constant extents of their types; for others, it returns 2.
    vector
        The vector size in bytes for reductions; None for the processor's.

    Raises
    ------
    UnsupportedStop
        `E-native-construct`
    """
    state = Generation(bounds, disjoint)
    given = parameters(func)
    pointers = _parameters(state, given)
    if disjoint:
        plan(state, func)
    begin = len(state.out.lines)
    state.result = func.ret_type or INT32
    # Work that a nest defers to its end would be lost if the nest is left early.
    state.nested += returns(func)
    written_first = filled(func)
    state.restartable = disjoint and _restartable(func, written_first)
    statements.emit(state, func.body)
    if disjoint:
        _prepay(state)
    misfits = [*(f"({name} >= {SMALL})" for name in sorted(state.small)), *state.misfits]
    if misfits:
        state.out.lines.insert(begin, f"if (RLX_RARE({' | '.join(misfits)})) return 2;")
    if any(ZERO in line for line in state.out.lines):
        state.out.lines.insert(0, f'int64_t {ZERO} = 0; __asm__ ("" : "+r" ({ZERO}));')
    touched = {store.buffer for store in stores(func.body)}
    kept = "restrict" if disjoint else ""
    signature = "".join(f", {kind} *{kept} {name}" for name, kind, _ in pointers)
    passed = "".join(f", ({kind} *)p[{at}]" for at, (_, kind, _) in enumerate(pointers))
    lines = [
        f"static __attribute__((noinline)) int32_t rlx_body(int64_t *{kept} v{signature}) {{",
        *state.out.lines,
        "return 0;",
        "stop: return 1;",
        "}",
        "int32_t rlx_kernel(int64_t *v, void **p) {",
        *(_apart(given, pointers, touched) if disjoint else []),
        f"return rlx_body(v{passed});",
        "}",
        "",
    ]
    return CProgram("\n".join(lines), vector, state.out.sites, given, touched, written_first)


def _restartable(func: tir.PrimFunc, written_first: frozenset[int]) -> bool:
    """Whether a run after another one has the results of the first: it allocates nothing, and reads
    nothing that it wrote before it wrote it.
    """
    if any(isinstance(stmt, tir.AllocBuffer) for stmt in inside(func.body)):
        return False
    if any(isinstance(stmt, tir.Block) and stmt.alloc_buffers for stmt in inside(func.body)):
        return False
    buffers = [func.buffer_map.get(var) for var in func.params]
    kept = {b for k, b in enumerate(buffers) if b is not None and k not in written_first}
    return kept.isdisjoint(
        {s.buffer for s in stores(func.body)} & {n.buffer for n in loads(func.body)}
    )


def _prepay(state: Generation) -> None:
    """Check all fuel at the start, if all of it is a sum over shape variables."""
    lines = state.out.lines
    paying = [at for at, line in enumerate(lines) if "RLX_SPEND(" in line or "RLX_PAY(" in line]
    paid = [state.payments.get(lines[at]) for at in paying]
    known = [payment for payment in paid if payment is not None]
    total = sum((payment.amount for payment in known), Polynomial({}))
    spending = any("RLX_FUEL" in line for line in lines) or len(known) < len(paying)
    if spending or not known or total.variables() - state.shapes or not state.fits(total):
        return
    for at, payment in zip(paying, known, strict=True):
        lines[at] = f"RLX_PREPAID({text_of(payment.amount)}, {payment.site});"
    state.misfits.append(f"RLX_NO_FUEL({text_of(total)})")


def _apart(
    parameters: list[tuple[tir.Var, tir.Buffer | None]],
    pointers: list[tuple[str, str, int]],
    touched: set[tir.Buffer],
) -> list[str]:
    """Lines that leave with 2 where memory that is written to is shared with another argument."""
    buffers = [buffer for _, buffer in parameters if buffer is not None]
    sizes = [
        f"{_elements(buffer, slot)} * (int64_t)sizeof({kind})"
        for buffer, (_, kind, slot) in zip(buffers, pointers, strict=True)
    ]
    written = [at for at, buffer in enumerate(buffers) if buffer in touched]
    if len(written) * len(buffers) > _PAIRS:
        count = len(buffers)
        return [
            f"const int64_t z[] = {{{', '.join(sizes)}}};",
            f"static const int32_t w[] = {{{', '.join(map(str, written))}}};",
            f"for (int32_t k = 0; k < {len(written)}; ++k) {{",
            "const int64_t begin = (int64_t)p[w[k]], end = begin + z[w[k]];",
            "int64_t shared = 0;",
            f"for (int32_t i = 0; i < {count}; ++i)",
            "shared += (begin < (int64_t)p[i] + z[i]) & ((int64_t)p[i] < end) & (i != w[k]);",
            "if (shared) return 2;",
            "}",
        ]
    lines = [
        f"const int64_t z{at} = {size}, p{at} = (int64_t)p[{at}];" for at, size in enumerate(sizes)
    ]
    for a in range(len(pointers)):
        for b in range(a):
            if a in written or b in written:
                lines.append(f"if (p{a} < p{b} + z{b} && p{b} < p{a} + z{a}) return 2;")
    return lines


_PAIRS = 256
"""From this number on, pairs of arguments are compared in a loop, which takes the C compiler less time."""


def _elements(buffer: tir.Buffer, slot: int) -> str:
    """The number of elements of an argument, as a constant if its type says it: with any other
    number it is left to the code for all arguments, too.
    """
    known = [dim.value for dim in buffer.shape if isinstance(dim, tir.IntImm)]
    if len(known) == len(buffer.shape) and 0 <= math.prod(known) < MOST:
        return literal(math.prod(known))
    return " * ".join(f"v[{slot + axis}]" for axis in range(len(buffer.shape)))


def _parameters(
    state: Generation, parameters: list[tuple[tir.Var, tir.Buffer | None]]
) -> list[tuple[str, str, int]]:
    """Bind scalars, then the variables of shapes, then check every extent."""
    slot = FIRST_SLOT
    shapes: list[tuple[int, tir.Buffer, int]] = []
    pointers: list[tuple[str, str, int]] = []
    for position, (var, buffer) in enumerate(parameters):
        if buffer is None:
            _scalar(state, var, slot)
            slot += 1
            continue
        _compact(state, buffer)
        name = state.out.fresh("b")
        pointers.append((name, c_types.stored(buffer.dtype), slot))
        shapes.append((position, buffer, slot))
        state.memory[buffer] = CBuffer(name, [], [], [])
        slot += len(buffer.shape)
    for _, buffer, first in shapes:
        _bind_shape(state, buffer, first)
    run: list[tuple[int, int, int]] = []
    for position, buffer, first in shapes:
        fixed = all(isinstance(dim, tir.IntImm) for dim in buffer.shape)
        if run and not (fixed and first == run[-1][0] + 1):
            _check_run(state, run)
        run += _check_shape(state, position, buffer, first, fixed)
    _check_run(state, run)
    return pointers


def _compact(state: Generation, buffer: tir.Buffer) -> None:
    """Refuse buffers with strides of their own; an offset is 0."""
    offset = buffer.attrs.get("elem_offset")
    zero = tir.is_zero(offset)
    if isinstance(offset, tir.Var):
        state.names[offset] = constant(0, offset.dtype)
    elif (offset is not None and not zero) or buffer.attrs.get("strides") or "data" in buffer.attrs:
        refuse("buffer with strides or an offset", buffer.span)
    if isinstance(buffer.attrs.get("layout"), tir.OpaqueExpr):
        refuse("buffer with a layout of its own", buffer.span)


def _scalar(state: Generation, var: tir.Var, slot: int) -> None:
    name = state.out.fresh("n")
    if var.dtype.is_float:
        narrow = c_types.rounded(var.dtype, f"({c_types.held(var.dtype)})rlx_float64(v[{slot}])")
        state.out.put(f"const {c_types.held(var.dtype)} {name} = {narrow};")
        state.names[var] = CValue(name, var.dtype)
        return
    if var.dtype.code == "handle":
        refuse("handle without a buffer", var.span)
    state.out.put(f"const int64_t {name} = v[{slot}];")
    state.symbol(var, name, natural=False)
    state.names[var] = CValue(f"(({c_types.held(var.dtype)}){name})", var.dtype)


def _bind_shape(state: Generation, buffer: tir.Buffer, first: int) -> None:
    for axis, dim in enumerate(buffer.shape):
        if isinstance(dim, tir.Var) and dim not in state.names:
            if not dim.dtype.is_integer:
                refuse(f"dimension of type {dim.dtype}", dim.span)
            name = state.out.fresh("n")
            state.out.put(f"const int64_t {name} = v[{first + axis}];")
            state.symbol(dim, name, natural=True)
            if state.disjoint:
                state.shapes.add(name)
            state.names[dim] = CValue(f"(({c_types.held(dim.dtype)}){name})", dim.dtype)


def _check_shape(
    state: Generation, position: int, buffer: tir.Buffer, first: int, fixed: bool
) -> list[tuple[int, int, int]]:
    """Emit the checks of an argument's extents.

    Those of a ``fixed`` one are returned: where the numbers are, what they must be, where the
    kernel stops otherwise.
    """
    memory, later = state.memory[buffer], list[tuple[int, int, int]]()
    for axis, dim in enumerate(buffer.shape):
        text, found = _extent(state, dim, memory, position), f"v[{first + axis}]"
        site = state.out.site(
            "E-tir-argument",
            f"axis {axis} of argument {position} ({buffer.name}): "
            "expected the extent {b}, found {a}",
            buffer.span,
        )
        if fixed and isinstance(dim, tir.IntImm):
            later.append((first + axis, dim.value, site))
        else:
            state.out.stop_if(f"{found} != {text}", site, found, text)
    memory.strides = strides(state, memory.dims, memory.extents)
    return later


def _check_run(state: Generation, run: list[tuple[int, int, int]]) -> None:
    """Emit the checks of constant extents in the form that costs the C compiler the least time.

    Only the code for all arguments says which one is wrong, in a loop.
    """
    if run and state.disjoint:
        wrong = " | ".join(f"(v[{slot}] ^ {literal(value)})" for slot, value, _ in run)
        state.out.put(f"if (RLX_RARE({wrong})) return 2;")
        run.clear()
    elif run:
        table, (first, _, site) = state.out.fresh("s"), run[0]
        values = ", ".join(literal(value) for _, value, _ in run)
        state.out.put(f"static const int64_t {table}[] = {{{values}}};")
        state.out.put(f"RLX_EXTENTS({first}, {table}, {len(run)}, {site});")
        run.clear()


def _extent(state: Generation, dim: tir.PrimExpr, memory: CBuffer, position: int) -> str:
    """An extent of an argument in C, which is exact, or a fault."""
    if isinstance(dim, tir.IntImm):
        text = literal(dim.value)
        memory.extents.append(Polynomial.of(dim.value))
    else:
        text = state.out.fresh("d")
        usual = state.overflow
        state.overflow = ("E-tir-argument", f"an extent of argument {position} overflows 64 bits")
        state.exact = True
        value = integral(state, dim, "extent")
        state.exact, state.overflow = False, usual
        state.out.put(f"const int64_t {text} = {value.text};")
        memory.extents.append(state.extent_of(dim, text, exact=True))
    memory.dims.append(text)
    return text
