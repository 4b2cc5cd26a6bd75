"""TIR01: names are bound, once, and used in their scope."""

from __future__ import annotations

from rlx.checker.prim_funcs.state import Named, PrimFuncCheck, bound_here, words
from rlx.grammar import tir
from rlx.grammar.node import Span
from rlx.grammar.visit import shape_vars_of
from rlx.spec.registry import rule


@rule("TIR01", "89ac9d8c", "PrimFunc")
def is_bound(state: PrimFuncCheck, node: Named, span: Span | None) -> bool:
    """Whether a name is in scope; if not, that is reported, once for a name."""
    if node in state.in_scope:
        return True
    if node in state.holes:
        return False
    name = node.name
    if state.excused(name) or not state.once(("name", name)):
        return False
    where = span or node.span
    known = state.everywhere.get(name)
    if known is not None:
        state.report(
            "TIR01-scope",
            f"{name!r} is used outside of the scope that binds it",
            where,
            related=bound_here(known),
        )
        return False
    kind = tir.Buffer if isinstance(node, tir.Buffer) else tir.Var
    alike = [n for n, found in state.names.items() if isinstance(found, kind)]
    hint = state.suggestion(name, alike) or state.suggestion(name, state.names)
    state.report("TIR01-undefined", f"{name!r} is not defined in this PrimFunc", where, help=hint)
    return False


def name_is_bound(state: PrimFuncCheck, name: str, span: Span | None) -> bool:
    """As :func:`is_bound`, of a name in text."""
    found = state.names.get(name)
    if found is not None:
        return True
    return is_bound(state, tir.Buffer(name, ()), span)


def bind(state: PrimFuncCheck, node: Named, span: Span | None, again: bool = False) -> None:
    """A statement binds a name: one that its body has not bound, unless it may be bound
    ``again``.
    """
    before = state.names.get(node.name)
    if before is not None and before is not node and node.name in state.frame and not again:
        state.report(
            "TIR01-twice",
            f"{node.name!r} is bound a second time in this body",
            span or node.span,
            related=bound_here(before),
        )
    state.enter(node)


def enter_parameters(state: PrimFuncCheck) -> None:
    """The parameters, their buffers, and the variables in the shapes of these."""
    for param in state.function.params:
        if param not in state.function.buffer_map:
            state.enter(param)
            if param.dtype.code != "handle":
                state.scalars.add(param)
    for param, buffer in state.function.buffer_map.items():
        state.in_scope.add(param)
        state.in_scope.update(shape_vars_of(buffer))
        state.scalars.update(shape_vars_of(buffer))
        # A dimension that Python lends is a number of no type.
        state.doubtful.update(v for v in shape_vars_of(buffer) if state.captured(v.name))
        state.names.update({v.name: v for v in shape_vars_of(buffer)})
        state.enter(buffer)


def survey(state: PrimFuncCheck) -> None:
    """Note what is bound anywhere, and the words of the parts that are not understood."""
    pending: list[tir.Stmt] = [state.function.body]
    while pending:
        stmt = pending.pop()
        for node in _binds(stmt):
            state.everywhere.setdefault(node.name, node)
        pending.extend(reversed(_inner(stmt)))
        if isinstance(stmt, tir.OpaqueStmt):
            state.text_words |= words(stmt.text)


def _binds(stmt: tir.Stmt) -> tuple[Named, ...]:
    match stmt:
        case tir.For(loop_var=var) | tir.LetStmt(var=var):
            return (var,)
        case tir.Block(iter_vars=axes, alloc_buffers=buffers):
            return (*(axis.var for axis in axes), *buffers)
        case tir.AllocBuffer(buffer=buffer) | tir.MatchBuffer(buffer=buffer):
            return (buffer,)
        case tir.With(var=var) if var is not None:
            return (var,)
    return ()


def _inner(stmt: tir.Stmt) -> tuple[tir.Stmt, ...]:
    match stmt:
        case tir.SeqStmt(stmts=stmts):
            return stmts
        case tir.For(body=body) | tir.While(body=body) | tir.With(body=body):
            return (body,)
        case tir.Block(init=init, body=body):
            return (body,) if init is None else (init, body)
        case tir.IfThenElse(then_case=then, else_case=otherwise):
            return (then,) if otherwise is None else (then, otherwise)
    return ()
