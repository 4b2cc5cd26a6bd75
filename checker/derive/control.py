"""D09 and D10: branches and sequences."""

from __future__ import annotations

from rlx.checker.derive.bindings import bind
from rlx.checker.derive.message_text import show
from rlx.checker.derive.spans import definition
from rlx.checker.derive.state import State
from rlx.grammar import ast, tir
from rlx.grammar.ast import ObjectStructInfo, PrimStructInfo, StructInfo, TensorStructInfo
from rlx.grammar.dtype import BOOL, DataType
from rlx.solver.order import lub
from rlx.spec.registry import rule

_BIT = (("bool", 1), ("uint", 1))


@rule("D09", "d40def8b")
def if_(state: State, node: ast.If) -> StructInfo:
    condition = state.info(node.cond)
    if node.cond not in state.poison:
        _check_condition(state, node, condition)
    known = condition.value if isinstance(condition, PrimStructInfo) else None
    then = _branch(state, node.true_branch, known)
    other = _branch(state, node.false_branch, known and tir.Not(known))
    state.inherit(node, (node.true_branch, node.false_branch))
    return then if then is other else lub(then, other, state.prover)


def _branch(state: State, branch: ast.Expr, known: tir.PrimExpr | None) -> StructInfo:
    """A branch, in which the condition (or its negation) holds as far as arithmetic can say it."""
    if known is None:
        return state.info(branch)
    context = state.prover.context
    context.push()
    context.assume(known)
    try:
        return state.info(branch)
    finally:
        context.pop()


def _check_condition(state: State, node: ast.If, info: StructInfo) -> None:
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
        help = f'say so: R.match_cast({show(node.cond)}, R.Tensor((), dtype="bool"))'
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


@rule("D10", "a7b4eb8a")
def seq_expr(state: State, node: ast.SeqExpr) -> StructInfo:
    outer = state.enter()
    effects = state.effects
    outside = effects.dataflow
    for block in node.blocks:
        effects.dataflow = outside or type(block) is ast.DataflowBlock
        for binding in block.bindings:
            bind(state, binding)
    effects.dataflow = outside
    info = state.info(node.body)
    state.inherit(node, (node.body,))
    info = state.outlived(info)
    scope = state.scope
    state.leave(outer)
    return state.erased(info) if scope.shape_vars or scope.shapes else info
