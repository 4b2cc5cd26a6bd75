"""Arguments against the parameters of a closure, whose shape variables the call binds."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.checker.derive import policy
from rlx.checker.derive.places import definition, of_argument, of_global
from rlx.checker.derive.state import OBJECT, State
from rlx.checker.derive.words import callee, show, written
from rlx.grammar import ast, tir
from rlx.grammar.ast import FuncStructInfo, StructInfo
from rlx.solver.order import Compatibility, Conflict, Instance, free_shape_vars, instantiate
from rlx.solver.order.subtype import name_dimensions


def check_arguments(state: State, node: ast.Call, function: FuncStructInfo) -> Instance:
    """Instantiate the signature for the arguments and compare each with its parameter.

    An argument of which only the rank is known binds variables to dimensions that have no name; a
    signature is read in two phases, so the order of parameters does not matter.
    """
    assert function.params is not None
    found = tuple([OBJECT if a in state.poison else state.info_of[a] for a in node.args])
    named = found
    if function.binders:
        pairs = zip(function.params, found, strict=True)
        named = tuple([s if p is s else name_dimensions(p, s) for p, s in pairs])
    instance = instantiate(function, named, state.prover)
    conflicts = [c for c in instance.binding.conflicts if _named(state, c)]
    if not _check_conflicts(state, node, function, conflicts):
        for index, (given, wanted) in enumerate(zip(named, instance.params, strict=True)):
            if given is not wanted and node.args[index] not in state.poison:
                _check_argument(state, node, index, (found[index], given, wanted), instance)
    return instance


def _check_argument(
    state: State,
    node: ast.Call,
    index: int,
    infos: tuple[StructInfo, StructInfo, StructInfo],
    instance: Instance,
) -> None:
    found, given, wanted = infos
    fresh = instance.unbound
    if given is not found:
        fresh = (*fresh, *_images(instance))
    result = policy.mismatch(state, given, wanted, fresh)
    if result is None:
        return
    if given is not found:  # say what is not known, rather than compare dimensions without a name
        result = policy.mismatch(state, found, wanted, fresh) or result
    if state.effects.lowered and policy.unknown_only(result):
        state.effects.unchecked += 1
        return
    _report(state, node, index, found, wanted, result)


def _named(state: State, conflict: Conflict) -> bool:
    """Whether both images have names in the program; others are a matter of what is not known."""
    return all(
        v in state.shape_vars
        for image in (conflict.first, conflict.second)
        if isinstance(image, tir.PrimExpr)
        for v in tir.free_vars(image)
    )


def _images(instance: Instance) -> tuple[tir.Var, ...]:
    return tuple(v for v in instance.binding.mapping.values() if isinstance(v, tir.Var))


def _report(
    state: State,
    node: ast.Call,
    index: int,
    found: StructInfo,
    wanted: StructInfo,
    result: Compatibility,
) -> None:
    arg = node.args[index]
    extra = policy.explained(result)
    extra["related"] = (*definition(state, arg), *of_global(state, node.op))
    start = f"argument {index} of {callee(node.op)} is {show(found)}"
    if result.kind == "incompatible":
        severity, message = "error", f"{start}, but {show(wanted)} is expected"
    elif policy.unknown_only(result):
        severity = "warning"
        message = (
            f"all that is known of {start[0].lower()}{start[1:]}, but {show(wanted)} is expected"
        )
        message = message.replace(f" is {show(found)}", f": {show(found)}", 1)
    else:
        severity, message = "warning", f"{start}, which may not be the {show(wanted)} expected"
    if severity == "warning":
        value = arg.name_hint if isinstance(arg, ast.Var) else "…"
        extra["help"] = f"check it before the call: R.match_cast({value}, {written(wanted)})"
    state.add("D14-argument", severity, message, of_argument(node, index), **extra)
    if severity == "error":
        state.poison.add(node)


def _check_conflicts(
    state: State, node: ast.Call, function: FuncStructInfo, conflicts: Sequence[Conflict]
) -> bool:
    """Report a variable that two arguments bind to different values; whether there is one.

    One report for each variable (ledger 12).
    """
    seen: set[object] = set()
    for conflict in conflicts:
        if conflict.var not in seen:
            seen.add(conflict.var)
            _report_conflict(state, node, function, conflict)
    return bool(seen)


def _report_conflict(
    state: State, node: ast.Call, function: FuncStructInfo, conflict: Conflict
) -> None:
    params = function.params or ()
    said_by = [i for i, p in enumerate(params) if conflict.var in free_shape_vars(p)]
    at = said_by[0] if len(said_by) == 1 else None
    extra = policy.evidence(conflict.relation) if conflict.relation else {}
    extra["label"] = f"the parameters are ({', '.join(show(p) for p in params)})"
    related = [label for i in said_by for label in definition(state, node.args[i])]
    extra["related"] = (*related, *of_global(state, node.op))
    verb = "cannot be" if conflict.impossible else "may not be"
    both = f"both {show(conflict.first)} and {show(conflict.second)}"
    message = f"'{show(conflict.var)}' of {callee(node.op)} {verb} {both}"
    severity = "error" if conflict.impossible else "warning"
    state.add("D14-binding", severity, message, of_argument(node, at), **extra)
    if conflict.impossible:
        state.poison.add(node)
