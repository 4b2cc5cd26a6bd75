"""D01, D15 and D16: functions in their order, and what PrimFuncs look like to Relax code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rlx.checker.derive import naming, policy
from rlx.checker.derive.bindings import learn_sizes, parameter
from rlx.checker.derive.calls import effects_of
from rlx.checker.derive.knowledge import DerivationScope
from rlx.checker.derive.message_text import named, show, written
from rlx.checker.derive.naming import signature
from rlx.checker.derive.state import DerivationState, Effects
from rlx.grammar import ast, tir
from rlx.grammar.ast import (
    FuncStructInfo,
    GlobalVar,
    PrimStructInfo,
    ShapeExpr,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.diagnostic import Label
from rlx.grammar.dtype import HANDLE, INT64
from rlx.grammar.node import Span
from rlx.grammar.struct_infos import OBJECT
from rlx.grammar.visit import called_globals
from rlx.solver.prim_exprs import transform
from rlx.spec.registry import rule


class Opened(NamedTuple):
    """What a function replaces when it begins, and what its annotation promises."""

    scope: DerivationScope
    effects: Effects
    wanted: StructInfo | None


def begin(state: DerivationState, node: ast.Function) -> Opened:
    """Enter a function: its signature is known from here on. Its body is not looked at."""
    outer, effects = state.enter(), state.effects
    state.effects = effects_of(node)
    state.bind_scalars(node.shape_vars, [p.struct_info_annotation for p in node.params])
    for param in node.params:
        learn_sizes(state, parameter(state, param))
    wanted = node.ret_struct_info
    if wanted is not None:
        wanted = naming.meant(state, wanted, node.ret_span)
    return Opened(outer, effects, wanted)


def end(state: DerivationState, node: ast.Function, body: StructInfo, opened: Opened) -> StructInfo:
    """Leave a function whose body is of this struct info; the struct info of the function."""
    wanted = opened.wanted
    if wanted is not None and node.body not in state.poison and body is not wanted:
        _check_result(state, node, body, wanted)
    _tell_unchecked(state, node)
    state.effects = opened.effects
    _leave_parameters(state)
    result = node.ret_struct_info or state.erased(body)
    state.leave(opened.scope)
    if wanted is None:
        state.inherit(node, (node.body,))
    return signature(node, result, state.held)


@rule("D15", "128c03bc", "derivation")
def function(state: DerivationState, node: ast.Function) -> StructInfo:
    opened = begin(state, node)
    own = state.doubted.get(node)
    if own is not None:  # what its own body makes of its annotation is a mistake of its own
        state.poison.discard(own)
    info = end(state, node, state.info(node.body), opened)
    if own is not None:
        state.poison.add(own)
    return info


def _leave_parameters(state: DerivationState) -> None:
    """The result may mention the shape variables of the signature, but no parameter (ledger 31)."""
    state.shapes.difference_update(state.scope.shapes)
    state.scope.shapes.clear()


def _check_result(
    state: DerivationState, node: ast.Function, found: StructInfo, wanted: StructInfo
) -> None:
    """The annotation is what callers rely on, so the body has to keep it (ledger 32)."""
    state.prover.statistics.place = node
    result = policy.mismatch(state, found, wanted)
    if result is None or policy.repeated(state, node.body, result):
        return
    if state.effects.lowered and policy.unknown_only(result):
        state.effects.unchecked += 1
        return
    extra = policy.explained(result)
    extra["related"] = _annotation(node)
    body = node.body.body if isinstance(node.body, ast.SeqExpr) else node.body
    extra["label"] = show(found)
    promised = f"the result is annotated {show(wanted)}"
    if result.kind == "incompatible":
        state.contradicted.add(node)
        severity, message = "error", f"{promised}, but the body yields {show(found)}"
        state.poison.add(node.body)
    else:
        severity = "warning"
        known = (
            "all that is known of the body is"
            if policy.unknown_only(result)
            else ("the body may yield something else:")
        )
        message = f"{promised}, but {known} {show(found)}"
        extra["help"] = (
            f"check it before it is returned: R.match_cast({named(body)}, {written(wanted)})"
        )
    state.add("D15-result", severity, message, _result_span(node), **extra)


def _tell_unchecked(state: DerivationState, node: ast.Function) -> None:
    """One note for all that a lowered function leaves to run time."""
    count = state.effects.unchecked
    if not count:
        return
    what = (
        "1 value of unknown shape stands"
        if count == 1
        else f"{count} values of unknown shape stand"
    )
    message = f"{what} where a shape is expected: that is checked at run time"
    notes = (
        "the function has relax.force_pure, so its shapes are taken to be checked by its calls",
    )
    state.add("D15-unchecked", "note", message, node.name_span or node.span, notes=notes)


def _annotation(node: ast.Function) -> tuple[Label, ...]:
    return (Label(node.ret_span, "the annotation"),) if node.ret_span else ()


def _result_span(node: ast.Function) -> Span | None:
    body = node.body
    if isinstance(body, ast.SeqExpr) and body.body_span:
        return body.body_span
    return node.ret_span or node.name_span or node.span


Functions = Mapping[GlobalVar, ast.Function]


def bottom_up(functions: Functions) -> Iterator[GlobalVar]:
    """Functions in an order in which one without a result annotation comes before its callers.

    Where such functions call each other in a circle, the order inside the circle is that of the
    text.
    """
    silent = {gv for gv, f in functions.items() if f.ret_struct_info is None}
    if not silent:
        yield from functions
        return
    begun: set[GlobalVar] = set()
    for root in functions:
        if root in begun:
            continue
        begun.add(root)
        stack = [(root, _callees(functions[root], silent))]
        while stack:
            gv, callees = stack[-1]
            callee = next((c for c in callees if c not in begun), None)
            if callee is None:
                stack.pop()
                yield gv
            else:
                begun.add(callee)
                stack.append((callee, _callees(functions[callee], silent)))


def _callees(function: ast.Function, among: set[GlobalVar]) -> Iterator[GlobalVar]:
    return (gv for gv in called_globals(function) if gv in among)


_NOTHING = TupleStructInfo(())


@rule("D16", "48e8ea55", "derivation")
def prim_func(function: tir.PrimFunc) -> FuncStructInfo:
    """Its parameters are mutated, so a direct call has effects; `call_tir` is the pure way (ledger
    33).
    """
    buffers = function.buffer_map
    mentioned = {v for b in buffers.values() for extent in b.shape for v in tir.free_vars(extent)}
    wide = {v: tir.Var(v.name) for v in mentioned if v.dtype != INT64}
    binders: dict[tir.Var, None] = {}
    params = tuple(
        [_parameter(p, buffers.get(p), mentioned, binders, wide) for p in function.params]
    )
    ret = _NOTHING if function.ret_type is None else PrimStructInfo(function.ret_type)
    return FuncStructInfo(params, ret, False, None, tuple(binders))


def _parameter(
    param: tir.Var,
    buffer: tir.Buffer | None,
    mentioned: set[tir.Var],
    binders: dict[tir.Var, None],
    wide: dict[tir.Var, tir.Var],
) -> StructInfo:
    """A buffer is a tensor; a scalar a Prim, whose value counts if a shape mentions it; a bare
    handle anything.
    """
    if buffer is not None:
        shape = tuple([_widened(extent, wide) for extent in buffer.shape])
        binders.update(dict.fromkeys(e for e in shape if isinstance(e, tir.Var)))
        return TensorStructInfo(ShapeExpr(shape), buffer.dtype, len(shape))
    if param.dtype == HANDLE:
        return OBJECT
    if param in mentioned:
        value = wide.get(param, param)
        binders[value] = None
        return PrimStructInfo(param.dtype, value)
    return PrimStructInfo(param.dtype)


def _widened(extent: tir.PrimExpr, wide: dict[tir.Var, tir.Var]) -> tir.PrimExpr:
    """An extent as a dimension of a tensor, which is int64 whatever the kernel counts with."""

    def widen(node: tir.PrimExpr) -> tir.PrimExpr | None:
        match node:
            case tir.IntImm(value=value, dtype=dtype) if dtype != INT64:
                return tir.IntImm(value)
            case tir.Var():
                return wide.get(node)
        return None

    leaf = type(extent) is tir.IntImm or type(extent) is tir.Var
    return widen(extent) or extent if leaf else transform((extent,), widen)[0]
