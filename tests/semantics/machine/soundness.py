"""Soundness, executed: what the checker derived holds in every configuration of a run.

The values of variables are members of what was derived of them, and what is known of them at run time is a
subtype of it, under the numbers that the shape variables have; well-formed programs make progress; variables of dataflow
blocks are seen only inside; pure functions leave the store outside untouched; runs are determined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlx.checker.check import Report
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.visit import expressions
from rlx.semantics.cast import check
from rlx.semantics.machine import Configuration, Frame, MachineProgram, environment, load, stack
from rlx.semantics.machine.configuration import FunctionCode
from rlx.semantics.outcome import Ended, IllFormed, Outcome, Returned, Stuck
from rlx.semantics.struct_info_of import struct_info_of
from rlx.semantics.values import (
    Packed,
    Scalar,
    ShapeValue,
    Tensor,
    TupleValue,
    Value,
    values_inside,
)
from rlx.solver.order import compatibility, free_vars, substitute
from rlx.solver.prover import Prover

WRITES = {
    *("E-call-tir-inplace", "E-call-inplace-packed", "E-alloc-tensor", "E-kill", "E-packed"),
}
"""Rules that a pure function may apply and that change the store: what they name, or what is its own."""

PROVER = Prover()

Numbers = dict[Frame, dict[tir.Var, int]]
"""The numbers of variables that the checker introduced for what is known only at run time (the length of a
`nonzero`), by activation: wherever such a variable stands, it is the same number."""


def examine(
    report: Report,
    module: ast.IRModule,
    entry: str,
    args: Sequence[Value],
    packed: Mapping[str, Any] | None = None,
    limit: int = 3000,
) -> Outcome | None:
    """Run a checked program step by step and hold every configuration to what was derived.

    Returns
    -------
    Outcome or None
        How the run ended; None if it was given up after ``limit`` steps.
    """
    kept = [a.data.copy() for a in tensors(args)]
    ready = load(module, packed=packed, output=lambda _: None)
    inside = dict(_dataflow(module))
    numbers: Numbers = {}
    now: Configuration | Outcome = ready.start(entry, args)
    for _ in range(limit):
        if not isinstance(now, Configuration):
            break
        _preserved(report.info, now, numbers)
        _enclosed(inside, now)
        before, now = now, ready.step(now)
        _pure(before, now)
    else:
        return None
    assert isinstance(now, Outcome)
    assert not isinstance(now, IllFormed | Stuck), now
    function = module[entry]
    if isinstance(function, ast.Function) and function.is_pure is not False:
        for array, content in zip((a.data for a in tensors(args)), kept, strict=True):
            if not _overwrites(module):
                assert array.tobytes() == content.tobytes()
    _determined(ready, entry, args, now, kept)
    return now


def tensors(values: Sequence[Value]) -> Iterator[Tensor]:
    """The tensors in values."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, TupleValue):
            yield from tensors(value.fields)


def _preserved(info: Mapping[Node, ast.StructInfo], now: Configuration, learnt: Numbers) -> None:
    """Each value is one of those that its variable was derived to have."""
    held = environment(now)
    bound = {var: number for var, number in held.items() if isinstance(var, tir.Var)}
    for var, value in held.items():  # a scalar parameter may stand in dimensions
        if isinstance(var, ast.Var) and var.shape_var is not None and isinstance(value, Scalar):
            bound[var.shape_var] = value.value
    assert all(type(number) is int for number in bound.values())
    activation = now.frame
    while activation.outer is not None:
        activation = activation.outer
    captured = activation.code.captured if isinstance(activation.code, FunctionCode) else ()
    numbers = learnt.setdefault(activation, {}) | bound
    shapes = {v: s.values for v, s in held.items() if isinstance(s, ShapeValue)}
    for var, value in held.items():
        if not isinstance(var, ast.Var) or var not in info or var in captured:
            continue  # what is captured was looked at where it was bound
        numbers |= check([value], [info[var]], numbers, shapes)  # type: ignore[arg-type]
        known = substitute(info[var], {v: tir.IntImm(k, v.dtype) for v, k in numbers.items()})
        # What stands for a shape is looked up by the cast alone; of packed functions nothing is known.
        if not free_vars(known) and not any(isinstance(p, Packed) for p in values_inside([value])):
            found = compatibility(struct_info_of(value), known, PROVER)
            assert found.kind == "compatible", f"{var.name_hint}: {found.message}"
    learnt[activation] = numbers


def _dataflow(module: ast.IRModule) -> Iterator[tuple[ast.Var, set[int]]]:
    """The variables of dataflow blocks, each with the expressions of its block."""
    for function in module.relax_functions.values():
        for expr in expressions(function):
            for block in expr.blocks if isinstance(expr, ast.SeqExpr) else ():
                if isinstance(block, ast.DataflowBlock):
                    nodes = {id(n) for b in block.bindings for n in expressions(b.value)}
                    for binding in block.bindings:
                        var = getattr(binding, "var", None)
                        if isinstance(var, ast.DataflowVar):
                            yield var, nodes


def _enclosed(inside: Mapping[ast.Var, set[int]], now: Configuration) -> None:
    """Variables of a dataflow block are seen by its own expressions alone."""
    for frame, at in stack(now):
        for var in environment(Configuration(at, frame, "", now.version)):
            if isinstance(var, ast.DataflowVar):
                assert at.rule == "E-dataflow-end" or id(at.expr) in inside[var], var.name_hint


def _pure(before: Configuration, after: Configuration | Outcome) -> None:
    """A step of a pure function changes the store only where its rule says so."""
    if not isinstance(after, Configuration) or after.version is before.version:
        return
    pure = any(
        frame.code.function is not None
        and frame.code.function.info.purity
        and "relax.force_pure" not in frame.code.function.node.attrs
        for frame, _ in stack(before)
    )
    assert not pure or after.rule in WRITES, after.rule


def _overwrites(module: ast.IRModule) -> bool:
    return any(
        isinstance(expr, ast.Op) and "inplace" in expr.op_name
        for function in module.relax_functions.values()
        for expr in expressions(function)
    )


def _determined(
    ready: MachineProgram, entry: str, args: Sequence[Value], first: Outcome, kept: Sequence[Any]
) -> None:
    """Running from the same state gives the same."""
    for tensor, content in zip(tensors(args), kept, strict=True):
        tensor.data[...] = content
    again = ready.run(entry, args)
    assert type(again) is type(first)
    match first, again:
        case Returned(value=one), Returned(value=other):
            assert same(one, other)
        case Ended(), Ended():
            assert (first.code, first.message) == (again.code, again.message)


def same(one: Value, other: Value) -> bool:
    """Whether two values are alike, tensors bit by bit."""
    if isinstance(one, TupleValue) and isinstance(other, TupleValue):
        return len(one.fields) == len(other.fields) and all(
            same(a, b) for a, b in zip(one.fields, other.fields, strict=True)
        )
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.shape == other.shape and one.data.tobytes() == other.data.tobytes()
    return type(one) is type(other) and getattr(one, "value", 0) == getattr(other, "value", 0)
