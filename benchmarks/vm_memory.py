"""Planned memory of the model networks: ours, TVM's, and the least that the live tensors need."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tvm import relax, transform

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.read.parser import parse
from rlx.semantics.arrays import numpy_type
from rlx.solver.evaluate import evaluate
from rlx.transform.lowering.calls import CallTIRRewrite
from rlx.transform.lowering.emitter import operator_name
from rlx.transform.lowering.lifetimes import ALLOCATIONS, Lives
from rlx.transform.lowering.memory import StaticPlanBlockMemory
from rlx.transform.lowering.passes import Sequential
from rlx.transform.lowering.planned_piece import Item, lower_bound
from rlx.transform.lowering.structure import Normalize, RemovePurityChecking, ToNonDataflow
from tests.tvm.models import MODELS

SIZE = 16
"""What every shape variable is taken to be."""
STORAGES = ("relax.memory.alloc_storage", "relax.builtin.alloc_tensor")


def planned() -> Iterator[str]:
    """The bytes of each network's largest function."""
    for model in MODELS:
        module = relax.transform.LegalizeOps()(MODELS[model]())
        passes = ["ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite"]
        sequence = [getattr(relax.transform, name)() for name in passes]
        theirs = transform.Sequential([*sequence, relax.transform.StaticPlanBlockMemory()])(module)
        mine = parse(module.script(show_meta=True)).modules[0]
        explicit = Sequential(
            [Normalize(), ToNonDataflow(), RemovePurityChecking(), CallTIRRewrite()]
        )(mine)
        ours = StaticPlanBlockMemory()(explicit)
        yield from _rows(model, ours, parse(theirs.script(show_meta=True)).modules[0], explicit)


def _rows(model: str, ours: IRModule, theirs: IRModule, explicit: IRModule) -> Iterator[str]:
    peers = {gv.name_hint: f for gv, f in theirs.functions.items()}
    for gv, function in ours.functions.items():
        peer = peers.get(gv.name_hint)
        if not isinstance(function, ast.Function) or not isinstance(peer, ast.Function):
            continue
        mine, other = allocated(function), allocated(peer, bytes_alone=True)
        if other:
            least = needed(explicit, gv.name_hint)
            yield (
                f"{model} {gv.name_hint}: {mine} bytes, TVM {other}: {mine / other:.2f} times; "
                f"{mine / least:.2f} of the {least} that are alive at once"
            )


def allocated(function: ast.Function, bytes_alone: bool = False) -> int:
    """The bytes of all pieces of memory that a function asks for."""
    return sum(
        size_of(node, bytes_alone and operator_name(node) == STORAGES[0])
        for node in expressions(function)
        if isinstance(node, ast.Call) and operator_name(node) in STORAGES
    )


def size_of(call: ast.Call, bytes_alone: bool = False) -> int:
    """The bytes that an allocation asks for; TVM's pieces of memory are always counted in bytes."""
    shape = call.args[0]
    kind = next(arg.value for arg in call.args if isinstance(arg, ast.DataTypeImm))
    assert isinstance(shape, ast.ShapeExpr)
    return prod(map(_number, shape.values)) * (1 if bytes_alone else int(numpy_type(kind).itemsize))


def _number(value: object) -> int:
    from rlx.grammar.nodes import tir

    assert isinstance(value, tir.PrimExpr)
    return int(evaluate(value, {var: SIZE for var in tir.free_vars(value)}))


def needed(module: IRModule, name: str) -> int:
    """The most bytes of tensors of a function that are alive at one time."""
    function = next(f for g, f in module.functions.items() if g.name_hint == name)
    assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
    rows = [binding for block in function.body.blocks for binding in block.bindings]
    prim_funcs = {g: f for g, f in module.functions.items() if not isinstance(f, ast.Function)}
    lives = Lives(rows, function.body.body, prim_funcs)
    items = []
    for at, binding in enumerate(rows):
        if not isinstance(binding, ast.VarBinding):
            continue
        value = binding.value
        if isinstance(value, ast.Call) and operator_name(value) in ALLOCATIONS:
            end = len(rows) if binding.var in lives.escaping else lives.last[binding.var]
            items.append(Item(at, end, size_of(value)))
    return lower_bound(items)
