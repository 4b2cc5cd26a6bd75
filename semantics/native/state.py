"""The state of generating one kernel: names, memory, facts about integers, pending checks."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT32, INT64
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.nodes.prim_operators import DIVISIONS
from rlx.semantics.native import c_types
from rlx.semantics.native.c_types import ZERO, CValue, refuse
from rlx.semantics.native.indices import facts_of, poly_of, rejoined, usable
from rlx.semantics.native.ranges import ROOM, SMALL, Bounds, IndexKnowledge, magnitude, text_of
from rlx.solver.poly import Polynomial

Known = tuple[tuple[Polynomial, ...], dict[tir.PrimExpr, Polynomial | None]]


class Hoisted(Record):
    """An index to compute early, its access, and the conditions of this access."""

    index: tir.PrimExpr
    buffer: tir.Buffer
    axis: int
    span: Span | None
    axes: tuple[tir.IterVar, ...]
    inner: tuple[tir.For, ...]


class Payment(NamedTuple):
    """An amount of fuel, and the site where the kernel stops for lack of it."""

    amount: Polynomial
    site: int


class CBuffer:
    """A buffer: the pointer's name, its extents as C and as sums, the strides as C."""

    __slots__ = ("dims", "extents", "name", "strides")

    def __init__(
        self, name: str, dims: list[str], extents: list[Polynomial], strides: list[str]
    ) -> None:
        self.name = name
        self.dims = dims
        self.extents = extents
        self.strides = strides


def _always_computed(expr: tir.PrimExpr) -> Sequence[tir.PrimExpr]:
    """The operands without which there is no value, whatever those are."""
    match expr:
        case tir.And(a=a) | tir.Or(a=a):
            return (a,)
        case tir.Call(op="if_then_else"):
            return expr.args[:1]
    return tir.children(expr)


class Generation(IndexKnowledge):
    """The state of the generation of one kernel.

    Attributes
    ----------
    kept
        Buffers whose current element is in a C variable.
    shapes, small
        Shape variables whose smallness is tested at the start of the kernel, and those that must be
        small.
    early
        The C variables of expressions that are already computed.
    exact
        Whether an index is being computed, whose arithmetic must not overflow.
    guarding
        Whether the condition of an access is being computed.
    emitted
        The number of expressions with C code: the branches of a condition have parts of their own.
    overflow
        The code and the message of the fault if it does.
    planned, hoists
        The loops that were searched for indices to compute early, and the results.
    deferring, flags
        Whether faults of casts are reported after the loops, and the variables that record them.
    restartable, leaving
        Whether the kernel may leave the call to the one for all arguments when it has written
        already; by their types, the variables that say behind the loops of a nest whether it does.
    paid
        Loops whose fuel is already paid.
    nested
        Whether the copy of a nest with every check in its place is being emitted.
    allocated
        The number of buffers that are allocated at this place.
    places
        Where in the workspace buffers begin, and their bytes, as C.
    payments
        What lines of C pay.
    misfits
        Conditions under which the kernel leaves the call to the one for all arguments.
    """

    def __init__(self, bounds: bool, disjoint: bool) -> None:
        super().__init__()
        self.bounds = bounds
        self.disjoint = disjoint
        self.exact = False
        self.guarding = False
        self.values: dict[tuple[tir.PrimExpr, bool, bool], CValue] = {}
        self.emitted = 0
        self.overflow = ("E-tir-bounds", "the index arithmetic overflows 64 bits")
        self.shapes: set[str] = set()
        self.small: set[str] = set()
        self.names: dict[tir.Var, CValue] = {}
        self.lows: dict[tir.Var, str] = {}
        self.memory: dict[tir.Buffer, CBuffer] = {}
        self.kept: dict[tir.Buffer, str] = {}
        self.early: dict[tir.PrimExpr, str] = {}
        self.planned: set[tir.For] = set()
        self.hoists: dict[tir.For, list[Hoisted]] = {}
        self.deferring = False
        self.flags: dict[int, str] = {}
        self.restartable = False
        self.leaving: dict[str, str] = {}
        self.paid: set[tir.Stmt] = set()
        self.nested = 0
        self.allocated = 0
        self.places: dict[tir.Buffer, tuple[str, str]] = {}
        self.misfits: list[str] = []
        self.payments: dict[str, Payment] = {}
        self.result = INT32
        self._total: dict[tir.PrimExpr, bool] = {}
        self._loads_wide: dict[tir.PrimExpr, bool] = {}

    # ------------------------------------------------------------ variables

    def variable(self, var: tir.Var) -> CValue:
        """The C variable of a variable of the program."""
        found = self.names.get(var)
        if found is None:
            refuse("value for a variable", var.span)
        return found

    def symbol(self, var: tir.Var, name: str, natural: bool) -> None:
        """An integer that no longer changes, so it may occur in sums."""
        self.names[var] = CValue(name, var.dtype)
        self.sums[var] = Polynomial.of(name)
        if natural:
            self.scope.natural.add(name)

    def loop(self, var: tir.Var, name: str, bounds: Bounds | None) -> None:
        """A loop variable, always an ``int64_t`` in C."""
        held = c_types.held(var.dtype)
        text = name if held == "int64_t" else f"(({held}){name})"
        self.names[var] = CValue(text, var.dtype)
        if bounds is not None:
            self.scope.loops[name] = bounds
            self.bind_sum(var, Polynomial.of(name))

    def deferred(self, site: int) -> str:
        """The variable that says after the loops whether to stop at a site."""
        if site not in self.flags:
            self.flags[site] = self.out.fresh("q")
        return self.flags[site]

    def leaves_behind(self, kind: str, wrong: str) -> bool:
        """Leave the call to the code for all arguments behind the loops if a condition ever holds,
        which says where and why it stops; whether that is possible. `kind`: a C type of the width of
        what is compared, for the vectors.
        """
        if not self.deferring or not self.restartable:
            return False
        if kind not in self.leaving:
            self.leaving[kind] = self.out.fresh("q")
        self.out.put(f"{self.leaving[kind]} |= {wrong};")
        return True

    # ------------------------------------------------------------ knowledge

    def poly(self, expr: tir.PrimExpr) -> Polynomial | None:
        """``expr`` as a sum, if it certainly fits its type."""
        if not self.fast or not (self.type_of(expr).is_integer):
            return None
        found = poly_of(self, expr)
        return found if found is not None and usable(self, found, self.type_of(expr)) else None

    def is_natural(self, expr: tir.PrimExpr) -> bool:
        """Whether an integer expression is certainly not negative."""
        found = self.poly(expr)
        return found is not None and self.scope.proves(found)

    def is_short(self, expr: tir.PrimExpr) -> bool:
        """Whether an integer expression that is not negative certainly has at most 32 bits."""
        found = self.poly(expr)
        known = None if found is None else self.scope.constant_range(found)
        return known is not None and known[1] < 1 << 32

    def assume(self, condition: tir.PrimExpr, holds: bool) -> Known:
        """Assume a condition in the code emitted next; return the mark for :meth:`forget`."""
        before = (self.scope.facts, self.polys)
        if self.fast:
            self.scope.facts = (*before[0], *facts_of(self, condition, holds))
            self.polys = {}
        return before

    def forget(self, before: Known) -> None:
        """End the scope of an assumed condition."""
        self.scope.facts, self.polys = before

    def loads_wide(self, expr: tir.PrimExpr) -> bool:
        """Whether an expression loads more than single bytes."""

        def wide(node: tir.PrimExpr, below: Sequence[bool]) -> bool:
            return any(below) or (isinstance(node, tir.BufferLoad) and node.buffer.dtype.bits > 8)

        return tir.fold(expr, wide, self._loads_wide)

    def is_total(self, expr: tir.PrimExpr, after: tir.PrimExpr) -> bool:
        """Whether an expression can always be computed behind another one: it cannot fail, and loads
        only what the other one loads, what is in C variables, and what is certainly in its buffer.
        """
        if self.exact:
            return False
        if tir.fold(expr, lambda e, below: all(below) and self._harmless(e), self._total):
            return True
        at_hand = set(tir.reached([after], _always_computed))

        def total(node: tir.PrimExpr, below: Sequence[bool]) -> bool:
            if isinstance(node, tir.BufferLoad):
                kept = node in at_hand or node.buffer in self.kept
                return kept or self.certain(node.buffer, node.indices)
            return all(below) and self._harmless(node)

        return tir.fold(expr, total)

    def certain(self, buffer: tir.Buffer, indices: tuple[tir.PrimExpr, ...]) -> bool:
        """Whether an element is certainly in its buffer."""
        memory = self.memory.get(buffer)
        if memory is None or len(memory.extents) != len(indices):
            return False
        places = [self.poly(index) for index in indices]
        return all(
            place is not None and self.within(place, extent)
            for place, extent in zip(places, memory.extents, strict=True)
        )

    def _harmless(self, node: tir.PrimExpr) -> bool:
        match node:
            case tir.BufferLoad() | tir.OpaqueExpr():
                return False
            case tir.Binary() if isinstance(node, DIVISIONS):
                return self._divides(node)
            case tir.Cast(dtype=dtype, value=value):
                return dtype == BOOL or dtype.is_float or not self.type_of(value).is_float
            case tir.Call(op=("likely" | "isnan" | "isinf" | "isfinite")):
                return True
            case tir.Call():
                return False
        return True

    def _divides(self, node: tir.Binary) -> bool:
        """Whether the divisor is a literal that is not zero in the type of the division."""
        kind = self.type_of(node)
        return kind.is_float or (
            isinstance(node.b, tir.IntImm)
            and c_types.wrapped(c_types.wrapped(node.b.value, node.b.dtype), kind) != 0
        )

    def extent_of(self, dim: tir.PrimExpr, name: str, exact: bool) -> Polynomial:
        """An extent whose value is in the C variable ``name``, as a sum. `exact`: whether its
        computation certainly did not wrap.
        """
        known = poly_of(self, dim) if self.type_of(dim) == INT64 else None
        local = self.invented | set(self.scope.loops)
        if known is not None and not known.variables() & local:
            exact = exact or isinstance(dim, tir.Var)
            known = known if exact or self.fits(known) else None
            if known is not None:
                return known
        if self.fast:
            self.inner.add(name)
        self.scope.natural.add(name)
        return Polynomial.of(name)

    def fits(self, value: Polynomial) -> bool:
        """Whether a sum over symbols is a number of 64 bits; inside of a nest, after its entry."""
        if self.fast:
            return usable(self, value, INT64)
        if value.variables() - self.shapes or magnitude(value) >= ROOM:
            return False
        self.small |= value.variables()
        return True

    # ------------------------------------------------------------ memory

    def address(
        self, buffer: tir.Buffer, indices: tuple[tir.PrimExpr, ...], span: Any
    ) -> Generator[tir.PrimExpr, CValue, str]:
        """The element of a buffer, with the checks that are not proved redundant."""
        memory = self.memory.get(buffer)
        if memory is None or len(indices) != len(memory.dims):
            refuse("memory of that shape for a buffer", span)
        whole = self._flat(memory, indices)
        if whole is not None:
            return f"{memory.name}[{whole}]"
        parts: list[str] = []
        checks: list[tuple[int, str, str]] = []
        for axis, index in enumerate(indices):
            shifted = self._from_the_end(index) if self.bounds else None
            at, length = shifted or (index, None)
            text, checked = yield from self._index(at, memory, axis)
            if length is not None:
                name, text = text, self.out.fresh("h")
                self.out.put(f"int64_t {text} = {name};")
            if checked:
                checks.append((axis, text, "" if length is None else (yield length).text))
            stride = memory.strides[axis]
            parts.append(text if stride == "1" else f"({text})*{stride}")
        for axis, text, added in checks:  # behind all indices: what is wrong in one comes first
            site = self.bounds_site(buffer, axis, span)
            extent = memory.dims[axis]
            wrong = f"(uint64_t){text} >= (uint64_t){extent}"
            if not added:
                self.out.stop_if(wrong, site, text, extent)
                continue
            with self.out.block(f"if (RLX_RARE({wrong}))"):  # one comparison, if it is none
                self.out.put(f"{text} += {text} < 0 ? {added} : 0;")
                self.out.stop_if(wrong, site, text, extent)
        return f"{memory.name}[{' + '.join(parts) or '0'}]"

    def _flat(self, memory: CBuffer, indices: tuple[tir.PrimExpr, ...]) -> str | None:
        """The offset of an element whose indices are all certainly in range."""
        flat = self.offset(memory, indices)
        if flat is None or flat.variables() & self.invented:
            return None
        for index, extent in zip(indices, memory.extents, strict=True):
            value = self.poly(index)
            if value is None or not self.within(value, extent):
                return None
        return text_of(flat)

    def offset(self, memory: CBuffer, indices: tuple[tir.PrimExpr, ...]) -> Polynomial | None:
        """The offset of an element as a sum over loop variables and symbols."""
        total, stride = Polynomial({}), Polynomial.of(1)
        for index, extent in zip(reversed(indices), reversed(memory.extents), strict=True):
            value = self.poly(index)
            if value is None:
                return None
            total += value * stride
            stride = stride * extent
        return rejoined(self, total)

    def within(self, value: Polynomial, extent: Polynomial) -> bool:
        """Whether an index is certainly in range: by proof, or by a check before the loops."""
        if not self.bounds:
            return True
        last = extent - Polynomial.of(1) - value
        return self.demand_any(self.scope.lower(value)) and self.demand_any(self.scope.lower(last))

    def _index(
        self, index: tir.PrimExpr, memory: CBuffer, axis: int
    ) -> Generator[tir.PrimExpr, CValue, tuple[str, bool]]:
        """An index as C, and whether it must be checked."""
        known = self.poly(index)
        plain = known is not None and not known.variables() & self.invented
        if known is not None and plain and self.within(known, memory.extents[axis]):
            return text_of(known), False
        before, self.exact = self.exact, self.bounds and known is None
        value = yield index
        self.exact = before
        if value.dtype.is_float:
            refuse(f"index of type {value.dtype}", getattr(index, "span", None))
        text = f"(int64_t){value.text}"
        if known is None:
            # Where GCC 12 sees that an offset is a truth value, it gathers other elements.
            text = f"({text} ^ {ZERO})"
        proved = known is not None and self.within(known, memory.extents[axis])
        return text, self.bounds and not proved

    def _from_the_end(self, index: tir.PrimExpr) -> tuple[tir.PrimExpr, tir.PrimExpr] | None:
        """An index of which a length is to be added where it is negative, and this length."""
        match index:
            case tir.Call(
                op="if_then_else",
                args=(tir.LT(a=at, b=tir.IntImm(value=0)), tir.Add(a=same, b=length), other),
            ) if at == same == other and self.poly(at) is None and self.is_natural(length):
                return at, length
        return None

    def bounds_site(self, buffer: tir.Buffer, axis: int, span: Any) -> int:
        """The stop site for an index (the first value) out of range (the second)."""
        message = f"index {{a}} is not within axis {axis} of {buffer.name}, whose extent is {{b}}"
        return self.out.site("E-tir-bounds", message, span)

    def entry_conditions(self) -> str:
        """The conditions under which code emitted in fast mode is correct."""
        self.small |= self.symbols & self.shapes
        small = [
            f"({s} < {SMALL})" if s in self.scope.natural else f"({s} < {SMALL}) & ({s} > -{SMALL})"
            for s in sorted(self.symbols - self.shapes)
        ]
        return " & ".join(small + [f"({c})" for c in self.conditions])
