"""A PrimFunc as a whole: its buffers, and one stage for each result."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.generate.programs.choices import Choices
from rlx.generate.tir.stages import Stages
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import ShapeExpr, TensorStructInfo
from rlx.grammar.nodes.dtype import HANDLE, INT32
from rlx.grammar.nodes.tir import Buffer, PrimExpr, PrimFunc


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
