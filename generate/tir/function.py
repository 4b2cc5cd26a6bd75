"""Random PrimFuncs: buffers, one stage for each result, and the expressions in it.

Expressions are defined for all contents of the buffers, and equal on all machines except for
rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlx.generate.programs.choices import Choices
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import ShapeExpr, TensorStructInfo
from rlx.grammar.nodes.dtype import FLOAT32, HANDLE, INT32, INT64, DataType
from rlx.grammar.nodes.tir import Buffer, PrimExpr, PrimFunc, Stmt, Var

_ZERO = tir.IntImm(0)
_LIMIT = 100
"""Floats are brought between -100 and 100 before they become integers: all integer types hold
these.
"""

Axis = tuple[Var, PrimExpr]
"""A variable that counts from 0, and how far."""


class Terms:
    """The values from which expressions are made at one place.

    Attributes
    ----------
    buffers
        What may be read.
    axes
        The loops around the place, outermost first.
    rare
        Whether there may be what TVM's own pipeline does not compile.
    """

    def __init__(
        self, choices: Choices, buffers: Sequence[Buffer], axes: Sequence[Axis], rare: bool
    ) -> None:
        self.choices, self.buffers, self.axes, self.rare = choices, buffers, axes, rare

    def value(self, kind: DataType) -> PrimExpr:
        """A number of this type, from every buffer of the type as far as that is possible."""
        result: PrimExpr | None = None
        for buffer in self.buffers:
            if buffer.dtype == kind:
                load = self.load(buffer)
                result = load if result is None else self._joined(result, load)
        if result is None and self.buffers:
            result = self.cast(number(0, kind), kind)
        leaf = number(self.choices.below(4), kind)
        result = leaf if result is None else self._joined(result, leaf)
        return self._around(result, kind)

    def condition(self) -> PrimExpr:
        """A comparison of what is exact: axes, elements, numbers."""
        left: PrimExpr = number(1, INT64)
        if self.axes and not self.choices.one_in(3):
            left = self.choices.pick(self.axes)[0]
        elif self.buffers:
            left = self.load(self.choices.pick(self.buffers))
        compared = self.choices.pick((tir.LT, tir.GE, tir.EQ, tir.NE, tir.GT, tir.LE))
        found: PrimExpr = compared(left, number(self.choices.below(3), tir.type_of(left)))
        match self.choices.below(6):
            case 3:
                return tir.And(found, tir.Not(compared(number(2, INT32), number(1, INT32))))
            case 4:
                return tir.Or(found, compared(number(0, INT32), number(1, INT32)))
            case 5:
                return tir.Not(found)
        return found

    def load(self, buffer: Buffer) -> PrimExpr:
        """An element; where no axis fits, an index that is brought into range, or 0 of an empty
        buffer.
        """
        if any(alike(dim, _ZERO) for dim in buffer.shape):
            return number(0, buffer.dtype)
        indices: list[PrimExpr] = []
        guards: list[PrimExpr] = []
        axes = list(self.axes)
        for dim in reversed(buffer.shape):
            found = next((axis for axis in reversed(axes) if alike(axis[1], dim)), None)
            if found is not None:
                axes = axes[: axes.index(found)] or list(self.axes)
                indices.append(found[0])
                continue
            near: PrimExpr = self.axes[-1][0] if self.axes else number(0, tir.type_of(dim))
            if not isinstance(dim, tir.IntImm):
                guards.append(tir.GT(dim, number(0, tir.type_of(dim))))
            indices.append(tir.FloorMod(near, dim))
        load: PrimExpr = tir.BufferLoad(buffer, tuple(reversed(indices)))
        for guard in guards:
            load = self._guarded(guard, load, number(0, buffer.dtype))
        return load

    # ------------------------------------------------------------------ operations

    def _joined(self, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        return self.choices.pick((tir.Add, tir.Mul, tir.Sub, tir.Max, tir.Min))(a, b)

    def _around(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """An operation on the value, one time in three."""
        if not self.choices.one_in(3):
            return value
        if self.choices.one_in(2):
            return self.choices.pick(_ALWAYS)(self, value, kind)
        forms = _OF_FLOATS if kind.is_float else _OF_INTEGERS
        return self.choices.pick((*forms, *_RARE) if self.rare else forms)(self, value, kind)

    def _guarded(self, condition: PrimExpr, value: PrimExpr, otherwise: PrimExpr) -> PrimExpr:
        return tir.Call("if_then_else", (condition, value, otherwise), tir.type_of(value))

    def selected(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """`T.Select`"""
        return tir.Select(self.condition(), value, number(1, kind))

    def chosen(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """`T.if_then_else`"""
        return self._guarded(self.condition(), value, number(2, kind))

    def let(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """`T.Let`"""
        var = Var("w", kind)
        return tir.Let(var, value, tir.Add(var, var))

    def cast(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """An element of another buffer, or an axis, cast to this type."""
        others = [b for b in self.buffers if b.dtype != kind]
        if others:
            load = self.load(self.choices.pick(others))
            source = tir.type_of(load)
            if source.is_float and not kind.is_float:
                load = tir.Max(tir.Min(load, number(_LIMIT, source)), number(0, source))
            return tir.Cast(kind, load)
        if self.axes:
            return tir.Cast(kind, self.choices.pick(self.axes)[0])
        return value

    def quotient(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """A division by what is not 0."""
        if kind.is_float:
            below = tir.Add(tir.Call("fabs", (value,)), number(1, kind))
            return tir.Div(number(3, kind), below)
        division = self.choices.pick((tir.FloorDiv, tir.FloorMod, tir.TruncDiv, tir.TruncMod))
        return division(value, number(1 + self.choices.below(4), kind))

    def real(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """A function of the C library where it is far from its ends."""
        word = self.choices.pick(("tanh", "sigmoid", "exp", "sqrt", "cos"))
        if word == "exp":
            value = tir.Min(value, number(2, kind))
        if word == "sqrt":
            value = tir.Call("fabs", (value,))
        return tir.Call(word, (value,))

    def bits(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """Two's complement."""
        if self.choices.one_in(4):
            return tir.Call("bitwise_not", (value,))
        word = self.choices.pick(("bitwise_and", "bitwise_or", "bitwise_xor"))
        return tir.Call(word, (value, number(5, kind)))

    def shifted(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """A shift by less than the width of the narrowest type."""
        word = self.choices.pick(("shift_left", "shift_right"))
        return tir.Call(word, (value, number(self.choices.below(8), kind)))

    def reinterpreted(self, value: PrimExpr, kind: DataType) -> PrimExpr:
        """There and back, so that the number is known."""
        other = {FLOAT32: INT32, INT32: FLOAT32}.get(kind)
        if other is None:
            return value
        there = tir.Call("reinterpret", (tir.StringImm(str(other)), value))
        return tir.Call("reinterpret", (tir.StringImm(str(kind)), there))


Form = Callable[[Terms, PrimExpr, DataType], PrimExpr]

_ALWAYS: tuple[Form, ...] = (Terms.selected, Terms.chosen, Terms.cast)
_OF_FLOATS: tuple[Form, ...] = (Terms.real, Terms.quotient, Terms.real)
_OF_INTEGERS: tuple[Form, ...] = (Terms.quotient, Terms.bits, Terms.shifted)
_RARE: tuple[Form, ...] = (Terms.reinterpreted, Terms.let)


def alike(a: PrimExpr, b: PrimExpr) -> bool:
    """Whether two dimensions are the same number or the same variable."""
    if isinstance(a, tir.IntImm) and isinstance(b, tir.IntImm):
        return a.value == b.value
    return a is b


def number(value: int, kind: DataType) -> PrimExpr:
    """A literal."""
    if kind.is_float:
        return tir.FloatImm(float(value), kind)
    return tir.IntImm(value, kind)


_EXTENTS = (2, 1, 3)


class Stages:
    """The body of a PrimFunc under construction.

    Attributes
    ----------
    readable
        The buffers whose elements are all written.
    statements
        The body so far.
    """

    def __init__(self, choices: Choices, readable: Sequence[Buffer], rare: bool) -> None:
        self.choices, self.readable, self.rare = choices, list(readable), rare
        self.statements: list[Stmt] = []
        self.count = 0

    def stage(self, out: Buffer) -> None:
        """Write all of a buffer; it may be read behind."""
        self.choices.pick(_KINDS)(self, out)
        if out not in self.readable:
            self.readable.append(out)

    # ------------------------------------------------------------------ loops

    def loops(self, shape: Sequence[PrimExpr], hint: str = "i") -> list[Axis]:
        """A variable for each dimension."""
        return [(Var(f"{hint}{k}", tir.type_of(dim)), dim) for k, dim in enumerate(shape)]

    def around(self, body: Stmt, axes: Sequence[Axis]) -> Stmt:
        """The loops, of some kind, around a body; the outermost at most is run in parallel."""
        for var, extent in reversed(axes):
            kind = "serial"
            if self.choices.one_in(4):
                kind = "unroll" if isinstance(extent, tir.IntImm) else "serial"
                if var is axes[0][0] and not self.choices.one_in(3):
                    kind = "parallel"
            body = tir.For(var, tir.IntImm(0, var.dtype), extent, kind, body)
        return body

    def terms(self, axes: Sequence[Axis]) -> Terms:
        """The values from which expressions inside these loops are made."""
        return Terms(self.choices, self.readable, axes, self.rare)

    def store(self, out: Buffer, axes: Sequence[Axis]) -> Stmt:
        """The assignment of a value to the element where the loops are."""
        return tir.BufferStore(out, places(axes), self.terms(axes).value(out.dtype))

    def block(
        self,
        loops: Sequence[Axis],
        axes: Sequence[Axis],
        body: Stmt,
        init: Stmt | None = None,
        reduced: int = 0,
    ) -> Stmt:
        """A block whose axes are bound to these loops, the last few to be reduced, and the
        loops.
        """
        kinds = "S" * (len(loops) - reduced) + "R" * reduced
        iters = tuple(
            tir.IterVar(axis, kind, (tir.IntImm(0, axis.dtype), extent), loop)
            for (axis, extent), (loop, _), kind in zip(axes, loops, kinds, strict=True)
        )
        made = tir.Block(self.name("block"), iters, None, None, None, (), init, body)
        return self.around(made, loops)

    def axes(self, loops: Sequence[Axis]) -> list[Axis]:
        """The axes of a block in these loops."""
        return [(Var("v" + loop.name, loop.dtype), extent) for loop, extent in loops]

    def name(self, hint: str) -> str:
        """A name that no other stage has."""
        self.count += 1
        return f"{hint}{self.count - 1}"

    # ------------------------------------------------------------------ ways to write a buffer

    def plain(self, out: Buffer) -> None:
        """Loops around a store."""
        axes = self.loops(out.shape)
        self.statements.append(self.around(self.store(out, axes), axes))

    def in_block(self, out: Buffer) -> None:
        """A block of spatial axes."""
        loops = self.loops(out.shape)
        axes = self.axes(loops)
        self.statements.append(self.block(loops, axes, self.store(out, axes)))

    def reduction(self, out: Buffer) -> None:
        """A block with a reduction axis; its result is written before where the axis may be
        empty.
        """
        inner: PrimExpr = tir.IntImm(self.choices.pick(_EXTENTS), INT32)
        others = [d for b in self.readable for d in b.shape if b is not out]
        if others and self.choices.one_in(2):
            inner = self.choices.pick(others)
        if not isinstance(inner, tir.IntImm) or inner.value == 0:
            axes = self.loops(out.shape)
            fill = tir.BufferStore(out, places(axes), number(1, out.dtype))
            self.statements.append(self.around(fill, axes))
        loops = [*self.loops(out.shape), *self.loops([inner], "k")]
        axes = self.axes(loops)
        place = places(axes[:-1])
        init = tir.BufferStore(out, place, number(self.choices.below(2), out.dtype))
        if out in self.readable:
            self.readable.remove(out)
        combine = self.choices.pick((tir.Add, tir.Max, tir.Min))
        term = self.terms(axes).value(out.dtype)
        update = tir.BufferStore(out, place, combine(tir.BufferLoad(out, place), term))
        self.statements.append(self.block(loops, axes, update, init, 1))

    def branches(self, out: Buffer) -> None:
        """One value or another."""
        axes = self.loops(out.shape)
        condition = self.terms(axes).condition()
        body = tir.IfThenElse(condition, self.store(out, axes), self.store(out, axes))
        self.statements.append(self.around(body, axes))

    def let(self, out: Buffer) -> None:
        """A value under a name."""
        axes = self.loops(out.shape)
        var = Var("x", out.dtype)
        named = tir.LetStmt(var, self.terms(axes).value(out.dtype))
        joined = tir.Max(var, number(0, out.dtype))
        store = tir.BufferStore(out, places(axes), joined)
        self.statements.append(self.around(tir.SeqStmt((named, store)), axes))

    def between(self, out: Buffer) -> None:
        """A buffer of the function's own, written first."""
        self.plain(self._local(out))
        self.plain(out)

    def flat(self, out: Buffer) -> None:
        """The same memory as another buffer of one axis."""
        local = self._local(out)
        size: PrimExpr = tir.IntImm(1, INT64)
        for dim in out.shape:
            size = tir.Mul(size, dim)
        attrs = {"data": tir.OpaqueExpr(f"{local.name}.data")}
        seen = Buffer(self.name("flat"), (size,), out.dtype, attrs)
        self.statements.append(tir.AllocBuffer(seen, "decl_buffer"))
        self.plain(seen)
        self.readable.append(local)
        self.plain(out)

    def region(self, out: Buffer) -> None:
        """A store through a buffer that is matched with a row."""
        if not out.shape:
            return self.in_block(out)
        loops = self.loops(out.shape[:-1])
        axes = self.axes(loops)
        row = out.shape[-1]
        zero = tir.IntImm(0, tir.type_of(row))
        whole = tir.BufferLoad(out, (*places(axes), tir.Slice(zero, row)))
        seen = Buffer(self.name("row"), (row,), out.dtype, {"offset_factor": tir.IntImm(1, INT32)})
        inner = self.loops((row,), "j")
        value = self.terms([*axes, *inner]).value(out.dtype)
        store = tir.For(
            inner[0][0], zero, row, "serial", tir.BufferStore(seen, places(inner), value)
        )
        body = tir.SeqStmt((tir.MatchBuffer(seen, whole), store))
        self.statements.append(self.block(loops, axes, body))
        return None

    def repeated(self, out: Buffer) -> None:
        """Stores in a loop that counts for itself."""
        one = tir.IntImm(1, INT32)
        counter = Buffer(self.name("count"), (one,), INT32)
        at = (tir.IntImm(0, INT32),)
        count = tir.BufferLoad(counter, at)
        axes = self.loops(out.shape)
        store = self.around(self.store(out, axes), axes)
        step = tir.BufferStore(counter, at, tir.Add(count, one))
        limit = tir.IntImm(1 + self.choices.below(2), INT32)
        self.statements += [
            tir.AllocBuffer(counter, "alloc_buffer"),
            tir.BufferStore(counter, at, tir.IntImm(0, INT32)),
            tir.While(tir.LT(count, limit), tir.SeqStmt((store, step))),
        ]

    def checked(self, out: Buffer) -> None:
        """An assert that holds, and a call of a function from outside."""
        holds = tir.GE(out.shape[0], number(0, INT64)) if out.shape else tir.IntImm(1, INT32)
        condition = holds if out.shape else tir.EQ(holds, holds)
        self.statements.append(tir.Assert(condition, ("a size is negative",)))
        if self.rare:
            call = tir.Call("call_packed", (tir.StringImm("test.first"), tir.IntImm(1, INT32)))
            self.statements.append(tir.Evaluate(call))
        self.plain(out)

    def lanes(self, out: Buffer) -> None:
        """Vectors, where the last axis has as many elements; loops that may become vectors
        elsewhere.
        """
        if not out.shape or not self.rare:
            return self.plain(out)
        last = out.shape[-1]
        if not isinstance(last, tir.IntImm) or last.value < 1:
            return self.plain(out)
        axes = self.loops(out.shape[:-1])
        lanes = tir.IntImm(last.value, INT32)
        zero, one = tir.IntImm(0, INT64), tir.IntImm(1, INT64)
        at = (*places(axes), tir.Call("Ramp", (zero, one, lanes)))
        value = tir.Call("Broadcast", (number(self.choices.below(4), out.dtype), lanes))
        body: Stmt = tir.BufferStore(out, at, value)
        if self.choices.one_in(2):
            body = tir.SeqStmt(
                (body, tir.BufferStore(out, at, tir.Add(tir.BufferLoad(out, at), value)))
            )
        self.statements.append(self.around(body, axes))
        return None

    def unknown(self, out: Buffer) -> None:
        """An intrinsic that no rule gives a meaning; the machine must say so."""
        self.plain(out)
        if self.rare:
            call = tir.Call("tvm_warp_activemask", ())
            kind = tir.StringImm("uint32")
            value = self.choices.pick((call, tir.Call("reinterpret", (kind, call))))
            self.statements.append(tir.Evaluate(value))

    def _local(self, out: Buffer) -> Buffer:
        local = Buffer(self.name("t"), out.shape, out.dtype)
        self.statements.append(tir.AllocBuffer(local, "alloc_buffer"))
        return local


def places(axes: Sequence[Axis]) -> tuple[Var, ...]:
    """The indices of the element where the loops are."""
    return tuple(var for var, _ in axes)


_Way = Callable[[Stages, Buffer], None]

_WEIGHTS: tuple[tuple[int, _Way], ...] = (
    (10, Stages.plain),
    (8, Stages.in_block),
    (6, Stages.reduction),
    (4, Stages.branches),
    (3, Stages.let),
    (3, Stages.between),
    (2, Stages.flat),
    (2, Stages.region),
    (2, Stages.repeated),
    (1, Stages.checked),
    (2, Stages.lanes),
    (1, Stages.unknown),
)

_KINDS = tuple(way for weight, way in _WEIGHTS for _ in range(weight))


class _Shapes:
    """The dimensions of a PrimFunc: numbers as they are, a variable of its own for each other
    one.
    """

    def __init__(self) -> None:
        self.known: dict[PrimExpr, tir.Var] = {}

    def of(self, info: TensorStructInfo) -> tuple[PrimExpr, ...]:
        assert isinstance(info.shape, ShapeExpr)
        return tuple(map(self._dim, info.shape.values))

    def _dim(self, dim: PrimExpr) -> PrimExpr:
        if isinstance(dim, tir.IntImm):
            return tir.IntImm(dim.value, INT32)
        if dim not in self.known:
            self.known[dim] = tir.Var(f"n{len(self.known)}")
        return self.known[dim]


def prim_func(
    choices: Choices,
    inputs: Sequence[TensorStructInfo],
    outputs: Sequence[TensorStructInfo],
    rare: bool = False,
) -> PrimFunc:
    """A PrimFunc that computes each output from the inputs, or changes the first input without any;
    all of them hold integers or floats.

    It ends on all inputs, reads only what is there and was written, and divides by nothing that may
    be 0. `rare`: whether there may be constructs that TVM's own pipeline does not compile.
    """
    shapes = _Shapes()
    buffers = [
        Buffer(f"{'ab'[k >= len(inputs)]}{k}", shapes.of(info), info.dtype)
        for k, info in enumerate((*inputs, *outputs))
    ]
    results = buffers[len(inputs) :] or buffers[:1]
    stages = Stages(choices, buffers[: len(inputs)], rare)
    for result in results:
        stages.stage(result)
    handles = tuple(tir.Var(b.name, HANDLE) for b in buffers)
    made = stages.statements
    body = made[0] if len(made) == 1 else tir.SeqStmt(tuple(made))
    attrs: dict[str, object] = {"private": True, "s_tir": True}
    return PrimFunc(handles, body, None, dict(zip(handles, buffers, strict=True)), attrs)
