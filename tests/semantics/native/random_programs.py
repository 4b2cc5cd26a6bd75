"""Random PrimFuncs: loops, blocks with reductions, gathers, lets, conditions, allocations; some go wrong."""

from __future__ import annotations

import random
from collections.abc import Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import HANDLE, INT32, INT64, DataType, dtype

FLOAT32 = dtype("float32")
ELEMENTS = [FLOAT32, FLOAT32, dtype("float64"), INT64, INT32, dtype("int8"), dtype("float16")]
ELEMENTS += [dtype("uint8"), dtype("bfloat16")]


class Maker:
    """Makes one function from a source of random choices."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.pick = self.random.choice
        self.sizes = [tir.Var("n"), tir.Var("m")]
        self.extents: list[tir.PrimExpr] = [*self.sizes, *map(tir.IntImm, (1, 3, 4, 20))]
        self.buffers: list[tir.Buffer] = []
        self.written: list[tir.Buffer] = []

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def shape(self, rank: int) -> tuple[tir.PrimExpr, ...]:
        return tuple(self.pick(self.extents) for _ in range(rank))

    def function(self) -> tir.PrimFunc:
        """Two inputs, one of indices, one to three results."""
        vectors = [tir.Buffer("x", (size,), FLOAT32) for size in self.sizes]
        inputs = [tir.Buffer("x", self.shape(2), self.pick(ELEMENTS)) for _ in range(2)]
        outputs = [
            tir.Buffer("y", self.shape(self.pick([1, 2, 2, 3])), self.pick(ELEMENTS))
            for _ in range(self.pick([1, 2, 3]))
        ]
        places = tir.Buffer("at", (tir.IntImm(20),), INT64)
        self.buffers = [*vectors, *inputs, places]
        body: list[tir.Stmt] = []
        if self.chance(40):
            middle = tir.Buffer("t", self.shape(2), self.pick(ELEMENTS))
            body += [tir.AllocBuffer(middle, "alloc_buffer"), self.nest(middle)]
            self.buffers.append(middle)
        for output in outputs:
            body.append(self.nest(output))
            self.buffers.append(output)
        handles = {tir.Var("h", HANDLE): b for b in [*vectors, *inputs, places, *outputs]}
        return tir.PrimFunc(tuple(handles), tir.SeqStmt(tuple(body)), None, handles, {})

    # ------------------------------------------------------------ statements

    def nest(self, target: tir.Buffer) -> tir.Stmt:
        """Loops that store to a buffer: plain, in a block, or a reduction."""
        loops = [tir.Var("i", INT64) for _ in target.shape]
        kind = self.pick(["plain", "block", "reduction", "reduction"])
        if kind == "plain":
            body = self.stores(target, loops)
        elif kind == "block":
            axes = [tir.Var("v", INT64) for _ in loops]
            made = tuple(tir.IterVar(a, "S", None, b) for a, b in zip(axes, loops, strict=True))
            predicate = self.condition(axes) if self.chance(20) else None
            inner = self.stores(target, axes)
            body = tir.Block("b", made, None, None, predicate, (), None, inner)
        else:
            return self.reduction(target, loops)
        return self.around(body, loops, target.shape)

    def around(
        self, body: tir.Stmt, loops: Sequence[tir.Var], extents: Sequence[tir.PrimExpr]
    ) -> tir.Stmt:
        for var, extent in reversed(list(zip(loops, extents, strict=True))):
            low: tir.PrimExpr = tir.IntImm(0)
            if self.chance(2):
                low = tir.IntImm(self.pick([-1, 1, 2]))
            if self.chance(2):
                extent = tir.Add(extent, tir.IntImm(1))
            body = tir.For(var, low, extent, self.pick(["serial", "parallel", "unroll"]), body)
        return body

    def stores(self, target: tir.Buffer, axes: Sequence[tir.Var]) -> tir.Stmt:
        place = tuple(axes)
        store: tir.Stmt = tir.BufferStore(target, place, self.value(target.dtype, axes, 3))
        if self.chance(20):
            store = tir.IfThenElse(
                self.condition(axes),
                store,
                tir.BufferStore(target, place, tir.IntImm(1, target.dtype))
                if target.dtype.is_integer
                else None,
            )
        if self.chance(20):
            let = tir.Var("k", INT64)
            bound = tir.LetStmt(let, self.index(axes, self.pick(self.extents)))
            again = tir.BufferStore(target, place, self.value(target.dtype, [*axes, let], 2))
            return tir.SeqStmt((bound, store, again))
        return store

    def reduction(self, target: tir.Buffer, loops: list[tir.Var]) -> tir.Stmt:
        inner = [tir.Var("k", INT64) for _ in range(self.pick([1, 1, 2]))]
        extents = self.shape(len(inner))
        axes = [tir.Var("v", INT64) for _ in (*loops, *inner)]
        kinds = ["S"] * len(loops) + ["R"] * len(inner)
        made = tuple(
            tir.IterVar(a, k, None, b)
            for a, k, b in zip(axes, kinds, [*loops, *inner], strict=True)
        )
        place = tuple(axes[: len(loops)])
        running = tir.BufferLoad(target, place)
        small = 2 if target.dtype.is_integer else 1
        term = self.value(target.dtype, axes, small)
        if self.chance(40):
            term = tir.Mul(term, self.value(target.dtype, axes, small))
        combine = self.pick([tir.Add, tir.Add, tir.Max, tir.Min, tir.Mul])
        update = tir.BufferStore(target, place, combine(running, term))
        zero: tir.PrimExpr = tir.IntImm(0, target.dtype)
        if target.dtype.is_float:
            zero = tir.FloatImm(self.pick([0.0, 1.0]), target.dtype)
        init = tir.BufferStore(target, place, zero)
        block = tir.Block("r", made, None, None, None, (), init, update)
        return self.around(block, [*loops, *inner], [*target.shape, *extents])

    # ------------------------------------------------------------ expressions

    def index(self, axes: Sequence[tir.Var], extent: tir.PrimExpr) -> tir.PrimExpr:
        """An index of an axis, mostly in range."""
        axis: tir.PrimExpr = self.pick(list(axes))
        match self.random.randrange(8):
            case 0:
                axis = tir.Add(tir.Mul(axis, tir.IntImm(2)), self.pick(list(axes)))
            case 1:
                axis = tir.Sub(tir.Add(axis, tir.IntImm(3)), tir.IntImm(1))
            case 2:
                axis = tir.FloorDiv(axis, tir.IntImm(3))
            case 3:
                place = tir.FloorMod(axis, tir.IntImm(20))
                axis = tir.BufferLoad(self.places(), (place,))
            case 4:
                return tir.IntImm(0)
        if self.chance(97):
            return tir.FloorMod(axis, extent)
        return axis

    def places(self) -> tir.Buffer:
        return next(b for b in self.buffers if b.name == "at")

    def load(self, axes: Sequence[tir.Var], wanted: DataType) -> tir.PrimExpr:
        """An element of a buffer, in the type wanted; unguarded indices are the axes themselves."""
        buffer = self.pick(self.buffers)
        indices = tuple(self.access(axes, extent) for extent in buffer.shape)
        loaded = tir.BufferLoad(buffer, indices)
        if buffer.dtype == wanted:
            return loaded
        if buffer.dtype.is_float and wanted.is_integer:
            return tir.Cast(wanted, tir.Call("trunc", (tir.BufferLoad(buffer, indices),)))
        return tir.Cast(wanted, loaded)

    def access(self, axes: Sequence[tir.Var], extent: tir.PrimExpr) -> tir.PrimExpr:
        if self.chance(60):
            return self.index(axes, extent)
        axis = self.pick(list(axes))
        return tir.Min(axis, tir.Sub(extent, tir.IntImm(1))) if self.chance(70) else axis

    def condition(self, axes: Sequence[tir.Var]) -> tir.PrimExpr:
        kind = self.pick([tir.LT, tir.LE, tir.GT, tir.GE, tir.EQ, tir.NE])
        one = kind(self.pick(list(axes)), tir.IntImm(self.pick([0, 1, 2, 5])))
        if self.chance(30):
            return self.pick([tir.And, tir.Or])(one, self.condition(axes))
        return tir.Not(one) if self.chance(15) else one

    def value(self, wanted: DataType, axes: Sequence[tir.Var], depth: int) -> tir.PrimExpr:
        """An expression of a type."""
        if depth == 0 or self.chance(25):
            return self.leaf(wanted, axes)
        a = self.value(wanted, axes, depth - 1)
        match self.random.randrange(8):
            case 0 | 1 | 2:
                kind = self.pick([tir.Add, tir.Sub, tir.Mul, tir.Max, tir.Min])
                return kind(a, self.value(wanted, axes, depth - 1))
            case 3:
                b = self.value(wanted, axes, depth - 1)
                return tir.Call("if_then_else", (self.condition(axes), a, b), wanted)
            case 4:
                return tir.Select(self.condition(axes), a, self.value(wanted, axes, depth - 1))
            case 5 if wanted.is_integer:
                divisor = self.pick([tir.IntImm(3, wanted), self.value(wanted, axes, 0)])
                kind = self.pick([tir.FloorDiv, tir.FloorMod, tir.TruncDiv, tir.TruncMod])
                return kind(a, divisor)
            case 5:
                return tir.Call(self.pick(["exp", "tanh", "sqrt", "floor", "fabs"]), (a,))
            case 6 if wanted.is_integer:
                return tir.Call(self.pick(["bitwise_and", "bitwise_xor"]), (a, a))
        return a

    def leaf(self, wanted: DataType, axes: Sequence[tir.Var]) -> tir.PrimExpr:
        match self.random.randrange(6):
            case 0 if wanted.is_integer:
                return tir.IntImm(self.pick([0, 1, 2, 7, 100]), wanted)
            case 0:
                return tir.FloatImm(self.pick([0.0, 0.5, 1.0, -1.25]), wanted)
            case 1:
                return tir.Cast(wanted, self.pick(list(axes)))
        return self.load(axes, wanted)
