"""Random PrimFuncs: elementwise loop nests over buffers whose shapes have dimensions in common."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.generate.programs.record import Record
from rlx.grammar import tir
from rlx.grammar.ast import ShapeExpr, TensorStructInfo
from rlx.grammar.dtype import HANDLE, INT32, DataType
from rlx.grammar.tir import Buffer, PrimExpr, PrimFunc, Stmt

_BINARY = (tir.Add, tir.Mul, tir.Sub, tir.Max, tir.Min)


class _Shapes:
    """The dimensions of a PrimFunc: numbers as they are, a variable of its own for each other one."""

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
    record: Record, inputs: Sequence[TensorStructInfo], outputs: Sequence[TensorStructInfo]
) -> PrimFunc:
    """A PrimFunc that computes each output from the inputs, or changes the first input without any.

    The shape of each input is a suffix of the outputs' shape, and all have one element type.
    """
    shapes = _Shapes()
    buffers = [
        Buffer(f"{'ab'[k >= len(inputs)]}{k}", shapes.of(info), info.dtype)
        for k, info in enumerate((*inputs, *outputs))
    ]
    results = buffers[len(inputs) :] or buffers[:1]
    nests = [
        _nest(record, f"block{k}", out, buffers[: len(inputs)]) for k, out in enumerate(results)
    ]
    handles = tuple(tir.Var(b.name, HANDLE) for b in buffers)
    body: Stmt = nests[0] if len(nests) == 1 else tir.SeqStmt(tuple(nests))
    attrs: dict[str, object] = {"private": True, "s_tir": True}
    return PrimFunc(handles, body, None, dict(zip(handles, buffers, strict=True)), attrs, True)


def _nest(record: Record, name: str, out: Buffer, inputs: Sequence[Buffer]) -> Stmt:
    """A loop over each dimension of the output, with a block inside or without."""
    types = [tir.type_of(d) for d in out.shape]
    loops = [tir.Var(f"i{k}", kind) for k, kind in enumerate(types)]
    if record.one_in(2):
        axes = [tir.Var(f"v{k}", kind) for k, kind in enumerate(types)]
        iters = tuple(
            tir.IterVar(v, "spatial", (tir.IntImm(0, kind), extent), loop)
            for v, loop, extent, kind in zip(axes, loops, out.shape, types, strict=True)
        )
        store = _store(record, out, axes, inputs)
        body: Stmt = tir.Block(name, iters, None, None, None, (), None, store)
    else:
        body = _store(record, out, loops, inputs)
    for loop, extent, kind in reversed(list(zip(loops, out.shape, types, strict=True))):
        body = tir.For(loop, tir.IntImm(0, kind), extent, "serial", body)
    return body


def _store(record: Record, out: Buffer, axes: Sequence[tir.Var], inputs: Sequence[Buffer]) -> Stmt:
    value: PrimExpr | None = None
    for buffer in inputs:
        load = tir.BufferLoad(buffer, tuple(axes[len(axes) - len(buffer.shape) :]))
        value = load if value is None else record.pick(_BINARY)(value, load)
    number = _number(record.below(4), out.dtype)
    value = number if value is None else record.pick(_BINARY)(value, number)
    return tir.BufferStore(out, tuple(axes), value)


def _number(value: int, kind: DataType) -> PrimExpr:
    return tir.FloatImm(float(value), kind) if kind.is_float else tir.IntImm(value, kind)
