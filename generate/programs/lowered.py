"""Lowered casts and shapes: calls of the virtual machine's run time on a heap of numbers."""

from __future__ import annotations

from rlx.generate.programs.builder import FunctionBuilder
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import tensor
from rlx.generate.programs.values import KnownValue, nearest
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64

STORE, NOTHING, COMPARE = 1, 2, 3
"""The codes of ``match_shape`` for a dimension."""
LOAD = 1
"""How ``make_shape`` takes a number from the heap."""


def run_time_calls(builder: FunctionBuilder, choices: Choices, value: KnownValue) -> None:
    """Check a tensor, keep its dimensions on a heap, make a shape of them, and give it that
    shape.
    """
    assert isinstance(value.info, ast.TensorStructInfo)
    rank, kind = value.info.ndim, value.info.dtype
    slots = max(rank, 1)
    sizes = tensor((tir.IntImm(slots),), INT64)
    allocation = (ast.ExternFunc("vm.builtin.alloc_shape_heap"), ast.Tuple((_number(slots),)))
    heap = builder.bind(
        choices,
        ast.Call(ast.op("relax.call_builtin_with_ctx"), allocation, sinfo_args=(sizes,)),
        sizes,
    )
    where = ast.StringImm("generated")
    builder.effect(
        _call("check_tensor_info", value.expr, _number(rank), ast.DataTypeImm(kind), where)
    )
    stored = tuple(_number(n) for slot in range(rank) for n in (STORE, slot))
    builder.effect(_call("match_shape", value.expr, heap.expr, _number(rank), *stored, where))
    again = tuple(
        _number(n) for slot in range(rank) for n in (choices.pick((COMPARE, NOTHING)), slot)
    )
    builder.effect(_call("match_shape", value.expr, heap.expr, _number(rank), *again, where))
    loaded = tuple(_number(n) for slot in range(rank) for n in (LOAD, slot))
    shape_info = ast.ShapeStructInfo(None, rank)
    made = _call("make_shape", heap.expr, _number(rank), *loaded, info=shape_info)
    shape = builder.bind(choices, made, shape_info)
    info = ast.TensorStructInfo(None, kind, rank)
    reshaped = _call("reshape", value.expr, shape.expr, info=info)
    builder.bind(choices, reshaped, info)


def ranked(builder: FunctionBuilder, choices: Choices) -> KnownValue | None:
    """A tensor of known rank and element type, if there is one."""
    found = [
        v
        for v in builder.frame.order
        if v.dims is not None
        and (isinstance(v.info, ast.TensorStructInfo) and v.info.vdevice is None)
    ]
    return nearest(found, choices.byte())[0] if found else None


def _number(value: int) -> ast.PrimValue:
    return ast.PrimValue(tir.IntImm(value))


def _call(name: str, *args: ast.Expr, info: ast.StructInfo | None = None) -> ast.Call:
    result = info or ast.TupleStructInfo(())
    return ast.Call(ast.ExternFunc(f"vm.builtin.{name}"), args, sinfo_args=(result,))
