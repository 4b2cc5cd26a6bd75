"""Random nests of loops in the forms that native code treats apart: reductions above all, and guarded accesses."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, HANDLE, INT32, INT64, DataType, dtype
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.tir import Buffer, Var
from rlx.grammar.nodes.tir import PrimExpr as Expr

from .sizes import extents, near_vectors

KINDS = tuple(
    map(
        dtype,
        (
            *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"),
            *("float16", "bfloat16", "float32", "float64", "int8", "uint8", "float32"),
        ),
    )
)


class Nest:
    """One function under construction."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.pick = self.rng.choice
        self.sizes: dict[Var, int] = {}
        self.buffers: list[Buffer] = []
        self.width = self.pick((INT32, INT64))

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def function(self) -> tir.PrimFunc:
        """A function of one nest or two."""
        make = self.pick(
            (self.reduction, self.reduction, self.tiled, self.tiled, self.guarded, self.moved)
        )
        body = make()
        if self.chance(15):
            body = tir.SeqStmt((body, make()))
        handles = {Var("h", HANDLE): buffer for buffer in self.buffers}
        return tir.PrimFunc(tuple(handles), body, None, handles, {})

    # ------------------------------------------------------------ parts

    def dims(self, count: int, most: int = 1500) -> list[Expr]:
        """Extents of loops; some are variables."""
        found: list[Expr] = []
        for value in extents(self.rng, count, most):
            if self.chance(25):
                same = [v for v, n in self.sizes.items() if n == value]
                var = same[0] if same else Var("n")
                self.sizes[var] = value
                found.append(var)
            else:
                found.append(tir.IntImm(value, self.width))
        return found

    def buffer(self, shape: Sequence[Expr], kind: DataType) -> Buffer:
        self.buffers.append(Buffer("b", tuple(shape), kind))
        return self.buffers[-1]

    def loops(
        self, body: tir.Stmt, variables: Sequence[Var], dims: Sequence[Expr], lows: Sequence[int]
    ) -> tir.Stmt:
        order = list(zip(variables, dims, lows, strict=True))
        if self.chance(25):
            self.rng.shuffle(order)
        for var, dim, low in reversed(order):
            extent = dim if not low else tir.Sub(dim, tir.IntImm(low, self.width))
            if self.chance(1):
                extent = tir.Add(extent, tir.IntImm(1, self.width))
            kind = self.pick(("serial", "serial", "parallel", "unroll"))
            body = tir.For(var, tir.IntImm(low, self.width), extent, kind, body)
        return body

    def number(self, kind: DataType) -> Expr:
        value = self.pick((0, 0, 1, 2, 3))
        if kind.is_float:
            return tir.FloatImm(float(value), kind)
        return tir.IntImm(value % 2 if kind == BOOL else value, kind)

    # ------------------------------------------------------------ reductions

    def reduction(self) -> tir.Stmt:
        """Sums, extrema and products over some axes of what operands hold."""
        spatial, reduce = self.rng.randint(1, 3), self.rng.randint(1, 2)
        dims = self.dims(spatial + reduce)
        kind = self.pick(KINDS)
        lows = [int(self.chance(5)) for _ in dims]
        outer = [Var("i", self.width) for _ in dims]
        axes = [Var("v", self.width) for _ in dims]
        order = list(range(spatial))
        if self.chance(30):
            self.rng.shuffle(order)
        out = self.buffer([dims[k] for k in order], kind)
        place = tuple(axes[k] for k in order)
        running: Expr = tir.BufferLoad(out, place)
        terms = [self.operand(axes, dims, kind) for _ in range(self.pick((1, 1, 2, 2, 2)))]
        term = terms[0]
        for other in terms[1:]:
            term = self.pick((tir.Mul, tir.Mul, tir.Add, tir.Max))(term, other)
        value: Expr
        if kind == BOOL:
            value = self.pick((tir.And, tir.Or))(running, term)
        else:
            combine = self.pick((tir.Add, tir.Add, tir.Add, tir.Max, tir.Min, tir.Mul))
            value = combine(running, term) if self.chance(80) else combine(term, running)
        update: tir.Stmt = tir.BufferStore(out, place, value)
        init: tir.Stmt = tir.BufferStore(out, place, self.number(kind))
        if kind != BOOL and self.chance(10):
            init, update = self.second(out, place, running, term, axes[-1])
        kinds = "S" * spatial + "R" * reduce
        made = tuple(
            tir.IterVar(axis, k, (tir.IntImm(low, self.width), dim), loop)
            for axis, k, dim, loop, low in zip(axes, kinds, dims, outer, lows, strict=True)
        )
        block = tir.Block("r", made, None, None, None, (), init, update)
        return self.loops(self.otherwise(block, place), outer, dims, lows)

    def tiled(self) -> tir.Stmt:
        """Sums along columns, products of matrices, convolutions: what is computed in tiles, at every width."""
        kind = self.pick((*KINDS, *KINDS[:4], *KINDS[:4]))
        rows, columns, steps = self.pick(_TILES)
        sizes = [
            self.rng.randint(1, rows),
            near_vectors(self.rng, columns) if columns > 200 else self.rng.randint(4, columns),
            self.rng.randint(17, steps),
        ]
        i, j, k = (Var("i", self.width) for _ in range(3))
        a, b, c = (Var("v", self.width) for _ in range(3))
        dims: list[Expr] = [tir.IntImm(size, self.width) for size in sizes]
        if self.chance(20):
            at = self.rng.randrange(3)
            self.sizes[size := Var("n")] = sizes[at]
            dims[at] = size
        out = self.buffer((dims[0], dims[1]), kind)
        running = tir.BufferLoad(out, (a, b))
        term = self.factors((a, b, c), dims, kind)
        value: Expr = self.pick((tir.Add, tir.Add, tir.Add, tir.Max, tir.Min))(running, term)
        if kind == BOOL:
            value = tir.Or(running, term)
        init = tir.BufferStore(out, (a, b), self.number(kind))
        zero = tir.IntImm(0, self.width)
        made = tuple(
            tir.IterVar(axis, letter, (zero, dim), loop)
            for axis, letter, dim, loop in zip((a, b, c), "SSR", dims, (i, j, k), strict=True)
        )
        update = tir.BufferStore(out, (a, b), value)
        block = tir.Block("r", made, None, None, None, (), init, update)
        return self.loops(self.otherwise(block, (a, b)), (i, j, k), dims, [0, 0, 0])

    def otherwise(self, block: tir.Block, place: tuple[Var, ...]) -> tir.Block:
        """Mostly the block; or one that looks like a reduction, and is none that tiles or lanes are for."""
        init, update = block.init, block.body
        if not self.chance(12) or not (
            isinstance(init, tir.BufferStore) and isinstance(update, tir.BufferStore)
        ):
            return block
        out = init.buffer
        zero = tir.IntImm(0, self.width)
        match self.rng.randrange(9):
            case 0:  # another buffer is set
                other = self.buffer(out.shape, out.dtype)
                return replace(block, init=tir.BufferStore(other, place, init.value))
            case 1:  # the same element, twice
                twice = tir.SeqStmt((update, update)) if self.chance(50) else update
                return replace(block, init=tir.SeqStmt((init, init)), body=twice)
            case 2:  # what is there counts
                return replace(block, init=replace(init, value=tir.BufferLoad(out, place)))
            case 3:  # the first element is read, which others write
                first = tir.BufferLoad(out, tuple(zero for _ in place))
                return replace(block, body=replace(update, value=self.joined(update.value, first)))
            case 4:  # what was found is changed once more
                last = tir.BufferLoad(out, place)
                again = tir.BufferStore(out, place, self.joined(last, init.value))
                return replace(block, body=tir.SeqStmt((update, again)))
            case 5:
                smaller = tir.LT(block.iter_vars[-1].var, tir.IntImm(3, self.width))
                return replace(block, predicate=smaller)
            case 6:  # all axes are spatial
                axes = tuple(replace(axis, kind="S") for axis in block.iter_vars)
                return replace(block, iter_vars=axes)
            case 7:  # an axis stays where it is
                fixed, *others = block.iter_vars
                return replace(block, iter_vars=(replace(fixed, binding=zero), *others))
            case _:  # two buffers, set in one order and changed in the other
                other = self.buffer(out.shape, out.dtype)
                second = tir.BufferStore(other, place, init.value)
                more = tir.BufferStore(other, place, tir.BufferLoad(out, place))
                return replace(
                    block, init=tir.SeqStmt((init, second)), body=tir.SeqStmt((more, update))
                )

    def joined(self, one: Expr, other: Expr) -> Expr:
        """Two values as one of their type."""
        return (tir.Or if tir.type_of(other) == BOOL else tir.Max)(one, other)

    def factors(self, axes: tuple[Var, Var, Var], dims: Sequence[Expr], kind: DataType) -> Expr:
        """An element of a row and a column, or of a column alone."""
        (a, b, c), (n, m, p) = axes, dims
        source = kind if self.chance(50) else self.pick(KINDS)
        right: Expr = tir.BufferLoad(self.buffer((p, m), source), (c, b))
        if self.chance(20):
            right = tir.BufferLoad(self.buffer((tir.Add(p, m),), source), (tir.Add(c, b),))
        term = self.cast(right, source, kind)
        if self.chance(20):
            return term
        left = tir.BufferLoad(self.buffer((n, p), source), (a, c))
        combine = self.pick((tir.Mul, tir.Mul, tir.Mul, tir.Sub))
        return combine(self.cast(left, source, kind), term)

    def second(
        self, out: Buffer, place: tuple[Var, ...], running: Expr, term: Expr, at: Var
    ) -> tuple[tir.Stmt, tir.Stmt]:
        """The place of an extremum, beside it."""
        index = self.buffer(out.shape, INT64)
        better = self.pick((tir.GT, tir.LT, tir.GE))(running, term)
        init = (
            tir.BufferStore(out, place, self.number(out.dtype)),
            tir.BufferStore(index, place, tir.IntImm(-1, INT64)),
        )
        value, where = Var("x", out.dtype), Var("w", INT64)
        last = tir.BufferLoad(index, place)
        update = (
            tir.LetStmt(value, tir.Select(better, running, term)),
            tir.LetStmt(where, tir.Select(better, last, tir.Cast(INT64, at))),
            tir.BufferStore(out, place, value),
            tir.BufferStore(index, place, where),
        )
        return tir.SeqStmt(init), tir.SeqStmt(update)

    def operand(self, axes: Sequence[Var], dims: Sequence[Expr], kind: DataType) -> Expr:
        """An element of a new buffer at some of the axes, or at sums of two, or at multiples of one."""
        count = len(axes)
        chosen = self.rng.sample(range(count), self.rng.randint(1, count))
        if self.chance(50):
            chosen.sort()
        shape: list[Expr] = []
        place: list[Expr] = []
        for k in chosen:
            at, dim = axes[k], dims[k]
            match self.rng.randrange(10):
                case 0:
                    step = self.pick((2, 3))
                    place.append(tir.Mul(at, tir.IntImm(step, self.width)))
                    shape.append(tir.Mul(dim, tir.IntImm(step, self.width)))
                case 1:
                    other = self.rng.randrange(count)
                    place.append(tir.Add(at, axes[other]))
                    shape.append(tir.Add(dim, dims[other]))
                case 2:
                    place.append(tir.Sub(tir.Sub(dim, tir.IntImm(1, self.width)), at))
                    shape.append(dim)
                case _:
                    place.append(at)
                    shape.append(dim)
        source = kind if self.chance(60) else self.pick(KINDS)
        load: Expr = tir.BufferLoad(self.buffer(shape, source), tuple(place))
        return self.cast(load, source, kind)

    def cast(self, value: Expr, source: DataType, kind: DataType) -> Expr:
        """Cast an expression to another type; floats are first brought into the range of every integer type."""
        if source == kind:
            return value
        if source.is_float and kind.is_integer:
            one, five = tir.FloatImm(0.0, source), tir.FloatImm(5.0, source)
            value = tir.Max(tir.Min(value, five), one)
        return tir.Cast(kind, value)

    # ------------------------------------------------------------ guards and movement

    def guarded(self) -> tir.Stmt:
        """Elements at a distance that a condition keeps in range: padding, shifting, division of what is negative."""
        dims = self.dims(self.rng.randint(1, 3))
        kind = self.pick(KINDS)
        loops = [Var("i", self.width) for _ in dims]
        source, out = self.buffer(dims, kind), self.buffer(dims, kind)
        k = self.rng.randrange(len(dims))
        shift = self.rng.randint(-4, 4)
        at: Expr = tir.Add(loops[k], tir.IntImm(shift, self.width))
        if self.chance(40):
            division = self.pick((tir.TruncDiv, tir.TruncMod, tir.FloorDiv, tir.FloorMod))
            at = division(at, tir.IntImm(self.rng.randint(1, 9), self.width))
            if self.chance(50):
                at = tir.Add(at, tir.IntImm(self.rng.randint(0, 3), self.width))
        low = tir.GE(at, tir.IntImm(0, self.width))
        high = tir.LT(at, dims[k])
        place = (*loops[:k], at, *loops[k + 1 :])
        load = tir.BufferLoad(source, place)
        guard = self.pick((self._both, self._either, self._neither, self._nested, self._logical))
        value = guard(low, high, load, self.number(kind), kind)
        store: tir.Stmt = tir.BufferStore(out, tuple(loops), value)
        return self.loops(store, loops, dims, [0] * len(dims))

    def _both(self, low: Expr, high: Expr, load: Expr, other: Expr, kind: DataType) -> Expr:
        return tir.Call("if_then_else", (tir.And(low, high), load, other), kind)

    def _either(self, low: Expr, high: Expr, load: Expr, other: Expr, kind: DataType) -> Expr:
        outside = tir.Or(tir.Not(low), tir.Not(high))
        return tir.Call("if_then_else", (outside, other, load), kind)

    def _neither(self, low: Expr, high: Expr, load: Expr, other: Expr, kind: DataType) -> Expr:
        """A guard that lets everything through: the fault must be found."""
        guard = tir.Or(low, high) if self.chance(50) else low
        return tir.Call("if_then_else", (guard, load, other), kind)

    def _nested(self, low: Expr, high: Expr, load: Expr, other: Expr, kind: DataType) -> Expr:
        inner = tir.Call("if_then_else", (high, load, other), kind)
        return tir.Call("if_then_else", (low, inner, other), kind)

    def _logical(self, low: Expr, high: Expr, load: Expr, other: Expr, kind: DataType) -> Expr:
        """The element is part of the condition itself."""
        small = tir.EQ(load, other)
        inside = tir.And(tir.And(low, high), small)
        outside = tir.Or(tir.Or(tir.Not(low), tir.Not(high)), small)
        return tir.Cast(kind, self.pick((inside, outside, tir.Not(outside))))

    def moved(self) -> tir.Stmt:
        """Transposed, reversed, broadcast, gathered, split; in another type."""
        dims = self.dims(self.rng.randint(1, 3))
        kind, source = self.pick(KINDS), self.pick(KINDS)
        loops = [Var("i", self.width) for _ in dims]
        order = list(range(len(dims)))
        self.rng.shuffle(order)
        shape, place = [dims[k] for k in order], [loops[k] for k in order]
        at: list[Expr] = []
        form = self.pick((self._plain, self._back, self._one, self._split, self._gathered))
        for position, (var, dim) in enumerate(zip(place, shape, strict=True)):
            index, shape[position] = form(var, dim)
            at.append(index)
        load = tir.BufferLoad(self.buffer(shape, source), tuple(at))
        out = self.buffer(dims, kind)
        value = self.cast(load, source, kind)
        if kind != BOOL and self.chance(50):
            value = self.pick(_OPERATIONS)(value, self.operand(loops, dims, kind))
        store = tir.BufferStore(out, tuple(loops), value)
        return self.loops(store, loops, dims, [0] * len(dims))

    def _plain(self, var: Var, dim: Expr) -> tuple[Expr, Expr]:
        return var, dim

    def _back(self, var: Var, dim: Expr) -> tuple[Expr, Expr]:
        return tir.Sub(tir.Sub(dim, var), tir.IntImm(1, self.width)), dim

    def _one(self, var: Var, dim: Expr) -> tuple[Expr, Expr]:
        one = tir.IntImm(1, self.width)
        return (tir.IntImm(0, self.width), one) if self.chance(50) else (var, dim)

    def _split(self, var: Var, dim: Expr) -> tuple[Expr, Expr]:
        part = tir.IntImm(self.rng.randint(1, 9), self.width)
        return self.pick((tir.FloorDiv, tir.FloorMod))(var, part), dim

    def _gathered(self, var: Var, dim: Expr) -> tuple[Expr, Expr]:
        places = Buffer("at", (dim,), self.pick((INT32, INT64)))
        self.buffers.append(places)
        return tir.BufferLoad(places, (var,)), tir.IntImm(self.pick((5, 5, 5, 4)), self.width)


_TILES = ((1, 1100, 18), (1, 180, 18), (1, 180, 18), (2, 100, 18), (9, 32, 18), (18, 14, 18))
"""The largest numbers of rows, columns and steps."""

_OPERATIONS: tuple[Callable[[Expr, Expr], Expr], ...] = (
    *(tir.Add, tir.Sub, tir.Mul, tir.Max, tir.Min),
)
