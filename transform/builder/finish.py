"""The end of a function under construction: its result and its result annotation."""

from __future__ import annotations

from rlx.checker.derive import expressions, module
from rlx.checker.overwritten import overwritten
from rlx.checker.well_formed.traversal import end as leave_function
from rlx.checker.well_formed.traversal import walk_expression
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import changed, replace, same
from rlx.grammar.nodes.python_places import Place
from rlx.solver.order import compatibility, free_vars
from rlx.transform.builder.errors import BuildError
from rlx.transform.builder.frame import Frame


def finish(
    frame: Frame, output: Expr, place: Place, original: ast.Function | None = None
) -> ast.Function:
    """End the function with its output. Raises BuildError if the output violates a rule.

    Parameters
    ----------
    original
        The function that is being changed. It is returned itself if nothing changed, and its result
        annotation is kept if it still holds.
    """
    with frame.undone():
        leaf = frame.leaf(output, place)
        walk, state = frame.walk, frame.state
        mark, known = len(walk.added), len(state.info_of)
        walk_expression(walk, leaf, place)
        if not walk.diagnostics:
            state.info(leaf)
        frame.settle(place, mark, known)
        return _finish(frame, leaf, place, original)


def _finish(frame: Frame, leaf: Expr, place: Place, original: ast.Function | None) -> ast.Function:
    blocks = frame.blocks.finished()
    if original is None:
        body = ast.SeqExpr(blocks, leaf, place, place)
    else:
        assert isinstance(original.body, ast.SeqExpr)
        kept = same(original.body.blocks, blocks)
        body = changed(original.body, blocks=kept, body=leaf)
    found = _ended(frame, body, place)
    said = _promise(frame, found, original)
    finished = changed(
        original or frame.head, params=frame.head.params, body=body, ret_struct_info=said
    )
    if frame.state.overwrites:
        frame.state.diagnostics += overwritten(ast.IRModule({frame.name: finished}))
        frame.settle(place, len(frame.walk.added), len(frame.state.info_of))
    frame.finished = finished
    frame.signatures.put(frame.name, finished, found)
    return finished


def _ended(frame: Frame, body: ast.SeqExpr, place: Place) -> ast.FuncStructInfo:
    """Leave the scopes of the function; what is known of it. If its result breaks a rule, they are
    as before.
    """
    state = frame.state
    inner, effects = state.scope, state.effects
    shape_vars, shapes = set(state.shape_vars), set(state.shapes)
    info = expressions.end(state, body, frame.outer_scope)
    found = module.end(state, replace(frame.head, body=body), info, frame.opened)
    try:
        frame.settle(place, len(frame.walk.added), len(state.info_of))
    except BuildError:
        inner.pushed = False
        state.scope, state.effects = inner, effects
        state.shape_vars, state.shapes = shape_vars, shapes
        raise
    leave_function(frame.walk, frame.around)
    assert isinstance(found, ast.FuncStructInfo)
    return found


def _promise(
    frame: Frame, found: ast.FuncStructInfo, original: ast.Function | None
) -> StructInfo | None:
    """The annotation of the result: the earlier one if it still holds, else the derived struct
    info.
    """
    said = frame.head.ret_struct_info
    before = None if original is None else original.ret_struct_info
    if original is not None and before is None:
        return None
    if before is not None:
        if frame.infos.shared(found.ret) is frame.infos.shared(before):
            return before
        if structural_equal(found.ret, before):  # types of functions are not shared
            return before
        result = compatibility(found.ret, before, frame.state.prover)
        stronger = frame.strengthens and result.compatible
        if not result.never_fits and not stronger:
            return before
    if said is None and found.binders == frame.head.shape_vars and not free_vars(found.ret):
        return found.ret
    return said
