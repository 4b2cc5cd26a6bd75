"""Random PrimFuncs: well scoped, not necessarily well typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, HANDLE, INT32, INT64, DataType, dtype
from rlx.grammar.nodes.tir import PrimExpr, Stmt

T = TypeVar("T")

NAMES = st.sampled_from(["x", "i", "j", "n", "A", "A_1", "while", "vi", "B.shared"])
ARITHMETIC: Sequence[type[tir.Binary]] = (
    tir.Add,
    tir.Sub,
    tir.Mul,
    tir.FloorDiv,
    tir.FloorMod,
    tir.TruncDiv,
    tir.TruncMod,
    tir.Min,
    tir.Max,
)
COMPARISONS = (tir.EQ, tir.NE, tir.LT, tir.LE, tir.GT, tir.GE)


class Draws:
    """Draws from several, and several."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.draw(st.integers(0, len(choices) - 1))]

    def some(self, count: int, make: Callable[[], T]) -> tuple[T, ...]:
        return tuple(make() for _ in range(self.draw(st.integers(0, count))))


class Prim(Draws):
    """Draws the parts of a PrimFunc."""

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__(draw)
        self.vars: list[tir.Var] = []
        self.buffers: list[tir.Buffer] = []
        self.loops: set[PrimExpr] = set()

    # ------------------------------------------------------------------ expressions

    def number(self) -> PrimExpr:
        match self.draw(st.integers(0, 3)):
            case 0:
                return tir.FloatImm(self.draw(st.floats()), FLOAT32)
            case 1:
                return tir.IntImm(self.draw(st.integers(-9, 99)), INT32)
        return tir.IntImm(self.draw(st.integers(-9, 99)), self.pick((INT64, INT32, dtype("uint8"))))

    def index(self) -> PrimExpr:
        choices: list[Callable[[], PrimExpr]] = [
            lambda: tir.IntImm(self.draw(st.integers(0, 9)), self.pick((INT32, INT64)))
        ]
        if self.vars:
            choices += [lambda: self.pick(self.vars)] * 3
        return self.pick(choices)()

    def value(self, depth: int = 2) -> PrimExpr:
        choice = self.draw(st.integers(0, 9 if depth else 2))
        match choice:
            case 0:
                return self.number()
            case 1:
                return self.index()
            case 2 if self.buffers:
                return self.load()
            case 3:
                return tir.Call(self.pick(("exp", "sqrt")), (self.value(depth - 1),))
            case 4:
                made = tir.Select if self.draw(st.booleans()) else None
                pair = (self.value(depth - 1), self.value(depth - 1))
                if made is not None:
                    return made(self.condition(), *pair)
                return tir.Call("if_then_else", (self.condition(), *pair), tir.type_of(pair[0]))
            case 5:
                return tir.Cast(self.pick((INT64, FLOAT32)), self.value(depth - 1))
            case 6:
                a, b = self.value(depth - 1), self.value(depth - 1)
                name = self.pick(("bitwise_and", "bitwise_or", "shift_left", "bitwise_xor"))
                kind = self.operator_type(a)
                return tir.Call(name, (a, a if BOOL in (kind, self.operator_type(b)) else b), kind)
        if not depth:
            return self.index()
        return self.pick(ARITHMETIC)(self.value(depth - 1), self.value(depth - 1))

    def operator_type(self, a: PrimExpr) -> DataType:
        """The type that an operator gives its left operand; int32 if the operand does not tell."""
        if isinstance(a, tir.Call) and a.dtype is None:
            return BOOL if a.args and self.operator_type(a.args[0]) == BOOL else INT32
        found = tir.type_of(a)
        return found if found.is_integer or found.is_float or found == BOOL else INT32

    def condition(self) -> PrimExpr:
        first = self.pick(COMPARISONS)(self.value(1), self.value(1))
        match self.draw(st.integers(0, 5)):
            case 0:
                return tir.And(self.condition(), first)
            case 1:
                return tir.Or(first, self.condition())
            case 2:
                return tir.IntImm(self.draw(st.integers(0, 1)), BOOL)
            case 3:
                return tir.Not(first)
        return first

    def load(self) -> tir.BufferLoad:
        buffer = self.pick(self.buffers)
        return tir.BufferLoad(buffer, tuple(self.index() for _ in buffer.shape))

    def region(self) -> PrimExpr:
        buffer = self.pick(self.buffers)
        if not buffer.shape:
            return tir.BufferLoad(buffer, ())
        return tir.BufferLoad(
            buffer, tuple(tir.Slice(self.index(), self.index()) for _ in buffer.shape)
        )

    # ------------------------------------------------------------------ statements

    def body(self, depth: int) -> Stmt:
        variables, buffers = list(self.vars), list(self.buffers)
        found = [self.statement(depth) for _ in range(self.draw(st.integers(0, 3)))]
        self.vars, self.buffers = variables, buffers
        return found[0] if len(found) == 1 else tir.SeqStmt(tuple(found))

    def statement(self, depth: int) -> Stmt:
        match self.draw(st.integers(0, 7 if depth else 2)):
            case 0 if self.buffers:
                target = self.load()
                return tir.BufferStore(target.buffer, target.indices, self.value())
            case 1:
                value = self.value()
                var = tir.Var(self.draw(NAMES), tir.type_of(value))
                self.vars.append(var)
                return tir.LetStmt(var, value)
            case 3:
                otherwise = self.body(depth - 1) if self.draw(st.booleans()) else None
                condition = self.condition()
                return tir.IfThenElse(condition, self.body(depth - 1), otherwise)
            case 4:
                return tir.While(self.condition(), self.body(depth - 1))
            case 5 | 6:
                return self.loop(depth)
            case 7:
                return self.block(depth)
        return tir.Evaluate(self.value())

    def loop(self, depth: int) -> tir.For:
        kind = self.pick(("serial", "serial", "parallel", "vectorized", "unroll", "thread_binding"))
        extent = self.index()
        start = tir.IntImm(0, tir.type_of(extent))
        if self.draw(st.integers(0, 3)) == 0:
            low = self.draw(st.integers(1, 5))
            start = tir.IntImm(low, INT64)
            extent = tir.Sub(self.pick(self.vars), start) if self.vars else tir.IntImm(4, INT64)
        attrs: dict[str, object] = {"thread": "threadIdx.x"} if kind == "thread_binding" else {}
        if self.draw(st.integers(0, 4)) == 0:
            attrs["annotations"] = {"pragma": 1}
        kind_of = tir.type_of(extent.a) if isinstance(extent, tir.Sub) else tir.type_of(extent)
        var = tir.Var(self.draw(NAMES), kind_of)
        self.vars.append(var)
        if start.value == 0:
            self.loops.add(var)
        made = tir.For(var, start, extent, kind, self.body(depth - 1), attrs)
        self.vars.remove(var)
        return made

    def block(self, depth: int) -> tir.Block:
        variables, buffers = list(self.vars), list(self.buffers)
        axes = self.some(3, self.axis)
        self.vars += [axis.var for axis in axes]
        predicate = self.condition() if self.draw(st.booleans()) else None
        has_buffers = bool(self.buffers)
        reads = self.some(2, self.region) if has_buffers else None
        writes = self.some(2, self.load) if has_buffers else None
        allocated = self.some(1, lambda: self.buffer(()))
        self.buffers += allocated
        made = tir.Block(
            self.draw(st.sampled_from(["", "B", 'a"b'])),
            axes,
            reads,
            writes,
            predicate,
            allocated,
            self.body(depth - 1) if self.draw(st.booleans()) else None,
            self.body(depth - 1),
            {"q": 1} if self.draw(st.booleans()) else {},
        )
        self.vars, self.buffers = variables, buffers
        return made

    def axis(self) -> tir.IterVar:
        kind = self.pick(("S", "R", "scan", "opaque"))
        binding = self.index()
        dom: tuple[PrimExpr, PrimExpr] | None = None
        # Only what is bound to a loop may leave its range to it.
        if kind in ("scan", "opaque") or binding not in self.loops or self.draw(st.booleans()):
            stop = self.index()
            low = self.draw(st.integers(0, 1))
            dom = (tir.IntImm(low, tir.type_of(stop) if low == 0 else INT32), stop)
        var = tir.Var(self.draw(NAMES), tir.type_of(binding))
        return tir.IterVar(var, kind, dom, binding)

    def buffer(self, shapes: Sequence[tir.Var]) -> tir.Buffer:
        def dim() -> PrimExpr:
            symbolic = bool(shapes) and self.draw(st.booleans())
            if symbolic:
                base = self.pick(shapes)
                return base if self.draw(st.booleans()) else tir.Mul(base, tir.IntImm(2))
            return tir.IntImm(self.draw(st.integers(1, 64)), self.pick((INT64, INT32)))

        attrs: dict[str, object] = {}
        if self.draw(st.integers(0, 4)) == 0:
            attrs = {"strides": (tir.IntImm(4, INT32),), "offset_factor": tir.IntImm(1, INT32)}
        kind = self.draw(st.sampled_from([dtype(t) for t in ("float32", "int32", "int64", "bool")]))
        return tir.Buffer(self.draw(NAMES), self.some(2, dim), kind, attrs)


@st.composite
def prim_funcs(draw: st.DrawFn, attrs: dict[str, object]) -> tir.PrimFunc:
    """A PrimFunc with some of the attributes given."""
    made = Prim(draw)
    shapes = [tir.Var(draw(NAMES)) for _ in range(draw(st.integers(0, 2)))]
    params: list[tir.Var] = []
    buffers: dict[tir.Var, tir.Buffer] = {}
    for _ in range(draw(st.integers(0, 3))):
        name = draw(NAMES)
        if draw(st.booleans()):
            handle = tir.Var(name, HANDLE)
            buffers[handle] = made.buffer(shapes)
            params.append(handle)
        else:
            kind: DataType = made.pick((INT32, INT64, FLOAT32))
            params.append(tir.Var(name, kind))
            made.vars.append(params[-1])
    made.buffers = list(buffers.values())
    used = {v for b in made.buffers for d in b.shape for v in tir.free_vars(d)}
    made.vars += [v for v in shapes if v in used]
    flags: dict[str, object] = {"tirx.noalias": True} if draw(st.booleans()) else {}
    ret = draw(st.sampled_from([None, INT32]))
    comments = draw(st.sampled_from([(), ("# A kernel.",)]))
    return tir.PrimFunc(
        tuple(params), made.body(2), ret, buffers, {**attrs, **flags}, comments=comments
    )
