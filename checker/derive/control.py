"""D09 and D10: branches and sequences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rlx.checker.derive.bindings import bind
from rlx.checker.derive.knowledge import DerivationScope
from rlx.checker.derive.message_text import show
from rlx.checker.derive.spans import definition
from rlx.checker.derive.state import DerivationState
from rlx.grammar import ast, tir
from rlx.grammar.ast import ObjectStructInfo, PrimStructInfo, StructInfo, TensorStructInfo
from rlx.grammar.dtype import BOOL, DataType
from rlx.solver.order import lub
from rlx.spec.registry import rule

_BIT = (("bool", 1), ("uint", 1))


@rule("D09", "90ba972a", "derivation")
def if_(state: DerivationState, node: ast.If) -> StructInfo:
    condition = state.info(node.cond)
    if node.cond not in state.poison:
        _check_condition(state, node, condition)
    with branch_facts(state, condition, True):
        then = state.info(node.true_branch)
    with branch_facts(state, condition, False):
        other = state.info(node.false_branch)
    state.inherit(node, (node.true_branch, node.false_branch))
    return then if then is other else lub(then, other, state.prover)


@contextmanager
def branch_facts(state: DerivationState, condition: StructInfo, holds: bool) -> Iterator[None]:
    """In a branch the condition (or its negation) holds, as far as arithmetic can say it."""
    known = condition.value if isinstance(condition, PrimStructInfo) else None
    if known is None:
        yield
        return
    context = state.prover.context
    context.push()
    context.assume(known if holds else tir.Not(known))
    try:
        yield
    finally:
        context.pop()


def _check_condition(state: DerivationState, node: ast.If, info: StructInfo) -> None:
    """A Boolean tensor of rank 0, or a Boolean scalar (ledger 29)."""
    holds = _is_condition(info)
    if holds == "yes":
        return
    span = node.cond_span or node.span
    wanted = "a Boolean tensor of rank 0 or a Boolean scalar"
    related = definition(state, node.cond)
    if holds == "no":
        message = f"the condition has to be {wanted}, but it is {show(info)}"
        state.add("D09-condition", "error", message, span, related=related)
    else:
        message = f"the condition has to be {wanted}, but all that is known of it is {show(info)}"
        help = f'check it: R.match_cast({show(node.cond)}, R.Tensor((), dtype="bool"))'
        state.add("D09-condition", "warning", message, span, related=related, help=help)


def _is_condition(info: StructInfo) -> str:
    match info:
        case TensorStructInfo(dtype=dtype, ndim=ndim):
            if ndim > 0 or not (dtype.is_void or _is_bool(dtype)):
                return "no"
            return "yes" if ndim == 0 and _is_bool(dtype) else "maybe"
        case PrimStructInfo(dtype=dtype):
            return "yes" if _is_bool(dtype) else "no"
        case ObjectStructInfo():
            return "maybe"
    return "no"


def _is_bool(dtype: DataType) -> bool:
    return dtype is BOOL or (dtype.code, dtype.bits) in _BIT


@rule("D10", "79740dd5", "derivation")
def seq_expr(state: DerivationState, node: ast.SeqExpr) -> StructInfo:
    outer = state.enter()
    effects = state.effects
    outside = effects.dataflow
    for block in node.blocks:
        effects.dataflow = outside or type(block) is ast.DataflowBlock
        for binding in block.bindings:
            bind(state, binding)
    effects.dataflow = outside
    return end(state, node, outer)


def end(state: DerivationState, node: ast.SeqExpr, outer: DerivationScope) -> StructInfo:
    """Leave a sequence, all of whose bindings are known: what it yields, in terms of what outlives
    it.
    """
    info = state.info(node.body)
    state.inherit(node, (node.body,))
    info = state.outlived(info)
    scope = state.scope
    state.leave(outer)
    return state.erased(info) if scope.shape_vars or scope.shapes else info
