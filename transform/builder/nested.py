"""Sequences, local functions and branches inside a function under construction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from typing import NamedTuple

from rlx.checker.derive import expressions, module
from rlx.checker.derive.environment import DerivationScope
from rlx.checker.derive.expressions import branch_facts
from rlx.checker.derive.naming import signature
from rlx.checker.well_formed.traversal import SavedScope, walk_expression
from rlx.checker.well_formed.traversal import begin as enter_function
from rlx.checker.well_formed.traversal import end as leave_function
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import DataflowVar, Expr
from rlx.grammar.nodes.node import Span, changed, same
from rlx.grammar.nodes.python_places import Place
from rlx.transform.builder.blocks import GrowingBlocks
from rlx.transform.builder.frame import Frame
from rlx.transform.builder.known_calls import KnownCalls


class OuterFunction(NamedTuple):
    """An open local function, and the state that it replaces."""

    var: ast.Var | None
    outside: bool
    around: SavedScope
    opened: module.OuterState
    known: KnownCalls


class OuterSequence:
    """The state that a sequence replaces when it is opened; that of the checker is known when the
    sequence is entered.
    """

    block: ast.DataflowBlock | None
    outside: bool
    mark: int
    scope: DerivationScope

    def __init__(self, blocks: GrowingBlocks) -> None:
        self.blocks = blocks


def open_sequence(frame: Frame, place: Span | None) -> OuterSequence:
    """Begin a sequence inside a value, such as a branch; it has its own scope."""
    before = OuterSequence(frame.blocks)
    frame.later(partial(_enter, before=before))
    frame.blocks = GrowingBlocks(place)
    return before


def _enter(frame: Frame, before: OuterSequence) -> None:
    state, walk = frame.state, frame.walk
    before.block, before.outside = walk.block, frame.in_dataflow
    before.mark, before.scope = len(walk.added), state.enter()
    frame.in_dataflow = state.effects.dataflow
    walk.block = None


def close_sequence(
    frame: Frame,
    before: OuterSequence,
    result: Expr,
    place: Place,
    original: ast.SeqExpr | None = None,
) -> ast.SeqExpr:
    """End a sequence with its result. Raises BuildError if the result violates a rule."""
    result = frame.leaf(result, place)
    blocks = frame.blocks.finished()
    if original is None:
        found = ast.SeqExpr(blocks, result, place, place)
    else:
        found = changed(original, blocks=same(original.blocks, blocks), body=result)
    leave = partial(_leave, before=before, found=found, place=place)
    if found is original:
        frame.later(leave)
    else:
        leave(frame)
    frame.blocks = before.blocks
    return found


def _leave(frame: Frame, before: OuterSequence, found: ast.SeqExpr, place: Place) -> None:
    state, walk = frame.state, frame.walk
    mark, known = len(walk.added), len(state.info_of)
    walk.block = None
    walk_expression(walk, found.body, found.body_span or place)
    if not walk.diagnostics:
        state.info(found.body)
    frame.settle(place, mark, known)
    scope = state.scope
    if scope.pushed or scope.shape_vars or scope.before:
        frame.known.clear()  # less is known of dimensions behind it
    state.info_of[found] = frame.infos.shared(expressions.end(state, found, before.scope))
    walk.walked.add(found)
    walk.leave(before.mark)
    walk.block, frame.in_dataflow = before.block, before.outside
    state.effects.dataflow = frame.in_dataflow or walk.block is not None


def open_function(
    frame: Frame, head: ast.Function, var: ast.Var | None, place: Place
) -> OuterFunction:
    """Begin a local function, which can refer to itself by its variable. Raises BuildError if its
    signature violates a rule.
    """
    walk, state = frame.walk, frame.state
    mark, known = len(walk.added), len(state.info_of)
    if var is not None:
        walk.enter(var, walk.block if type(var) is DataflowVar else None)
        walk.holders.add(var)
        state.info_of[var] = var.struct_info_annotation or signature(head)
    outside = frame.in_dataflow
    around = enter_function(walk, head, "" if var is None else var.name_hint)
    opened = module.begin(state, head)
    frame.in_dataflow = False
    frame.settle(place, mark, known)
    outer, frame.known = frame.known, KnownCalls()
    return OuterFunction(var, outside, around, opened, outer)


def close_function(
    frame: Frame, before: OuterFunction, function: ast.Function, place: Place
) -> ast.Function:
    """End a local function with its body. Raises BuildError if its result violates a rule."""
    walk, state = frame.walk, frame.state
    info = module.end(state, function, state.info(function.body), before.opened)
    leave_function(walk, before.around)
    frame.in_dataflow, frame.known = before.outside, before.known
    walk.holders.difference_update([before.var])
    state.info_of[function] = info
    walk.walked.add(function)
    frame.settle(place, len(walk.added), len(state.info_of))
    return function


def assuming(frame: Frame, condition: Expr, holds: bool) -> AbstractContextManager[None]:
    """Assume a condition on shape variables inside the ``with`` statement."""
    said = condition.struct_info_annotation if isinstance(condition, ast.Var) else None
    if type(said) is ast.TensorStructInfo:  # whose elements say nothing of shapes
        return _NOTHING
    return _assuming(frame, condition, holds)


_NOTHING = nullcontext()


@contextmanager
def _assuming(frame: Frame, condition: Expr, holds: bool) -> Iterator[None]:
    facts, known = ExitStack(), frame.known
    frame.known = KnownCalls()

    def begin(frame: Frame) -> None:
        state = frame.state
        facts.enter_context(branch_facts(state, state.info(condition), holds))

    frame.later(begin)
    try:
        yield
    finally:
        frame.later(lambda _: facts.close())
        frame.known = known
