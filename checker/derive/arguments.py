"""Checks of a closure's arguments against its parameters; the call binds their shape variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rlx.checker.derive import policy
from rlx.checker.derive.message_text import (
    argument_of,
    callee,
    definition,
    named,
    of_argument,
    of_global,
    show,
    written,
)
from rlx.checker.derive.state import DerivationState
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    StructInfo,
    TensorStructInfo,
    VDevice,
)
from rlx.grammar.nodes.struct_infos import OBJECT, numbers, of_the_value
from rlx.solver.order import Compatibility, Conflict, Instance, free_shape_vars, instantiate
from rlx.solver.order.subtype import name_dimensions
from rlx.spec.registry import need


def check_arguments(state: DerivationState, node: ast.Call, function: FuncStructInfo) -> Instance:
    """Instantiate the signature for the arguments and compare each with its parameter.

    A signature is read in two phases, so the order of parameters does not matter.
    """
    assert function.params is not None
    found = tuple([OBJECT if state.poisoned(a) else state.info_of[a] for a in node.args])
    instance = instantiate(function, found, state.prover)
    nameless: tuple[tir.Var, ...] = ()
    if instance.unbound:
        named = _named(function.params, found, instance)
        if named is not found:
            found, instance = named, instantiate(function, named, state.prover)
        nameless = (*instance.unbound, *(v for info in named for v in free_shape_vars(info)))
    exchanged = _exchanged(state, node, found, instance.params)
    if exchanged is not None:
        _report_exchanged(state, node, found, instance.params, exchanged)
        return instance
    if function.binders:
        need("D14-binding", not instance.binding.conflicts)
    # Each variable that two arguments bind to different values is reported once (ledger 12).
    blamed: set[object] = set()
    for conflict in instance.binding.conflicts:
        if conflict.var not in blamed:
            blamed.add(conflict.var)
            _report_conflict(state, node, function, conflict)
    for index, (given, wanted) in enumerate(zip(found, instance.params, strict=True)):
        if state.poisoned(node.args[index]):
            continue
        match given, wanted:
            case TensorStructInfo(vdevice=None), TensorStructInfo(vdevice=VDevice() as device):
                state.places.append((node, index, device))
        if not blamed or blamed.isdisjoint(free_shape_vars(function.params[index])):
            result = policy.mismatch(state, "D14-argument", given, wanted, nameless)
            if result is not None and not policy.repeated(state, node.args[index], result):
                named_by = function.params[index] if nameless else wanted
                guess = not result.never_fits and _mentions(result, instance.unbound)
                _blame(state, node, index, named_by, result, guess)
    return instance


def _exchanged(
    state: DerivationState,
    node: ast.Call,
    found: Sequence[StructInfo],
    wanted: Sequence[StructInfo],
) -> tuple[int, int] | None:
    """Two arguments that are wrong where they stand, and right in each other's place; all others
    are right.
    """
    wrong = [
        at
        for at, (given, param) in enumerate(zip(found, wanted, strict=True))
        if given is not param and not state.poisoned(node.args[at]) and not same_kind(given, param)
    ]
    if len(wrong) != 2:
        return None
    first, second = wrong
    crossed = same_kind(found[first], wanted[second]) and same_kind(found[second], wanted[first])
    return (first, second) if crossed else None


def same_kind(given: StructInfo, wanted: StructInfo) -> bool:
    """Whether kind, rank and element type of two annotations do not contradict each other."""
    match given, wanted:
        case ObjectStructInfo(), _:
            return True
        case _, ObjectStructInfo():
            return True
        case TensorStructInfo() as a, TensorStructInfo() as b:
            ranks = a.ndim < 0 or b.ndim < 0 or a.ndim == b.ndim
            return ranks and (a.dtype.is_void or b.dtype.is_void or a.dtype == b.dtype)
        case PrimStructInfo() as p, PrimStructInfo() as q:
            return p.dtype == q.dtype
    return type(given) is type(wanted)


def _report_exchanged(
    state: DerivationState,
    node: ast.Call,
    found: Sequence[StructInfo],
    wanted: Sequence[StructInfo],
    exchanged: tuple[int, int],
) -> None:
    first, second = exchanged
    state.add(
        "D14-argument",
        "error",
        f"{argument_of(state.module, node, first)} is {show(found[first])}, but"
        f" {show(wanted[first])} is expected",
        of_argument(node, first),
        related=of_global(state, node.op),
        help=f"swap it with {show(node.args[second])}: each fits the parameter of the other",
    )
    state.doubt(node)


def _named(
    params: Sequence[StructInfo], found: tuple[StructInfo, ...], instance: Instance
) -> tuple[StructInfo, ...]:
    """Arguments of known rank with names for their dimensions, where any dimensions will do.

    That is so where each dimension of the parameter binds a variable that stands nowhere else.
    """
    uses = Counter(v for p in params for e in _dimensions(p) for v in tir.free_vars(e))
    free = {v for v in instance.binding.unbound if uses[v] == 1}  # type: ignore[index]
    named = [
        name_dimensions(p, s) if free.issuperset(_dimensions(p)) else s
        for p, s in zip(params, found, strict=True)
    ]
    return found if all(n is s for n, s in zip(named, found, strict=True)) else tuple(named)


def _dimensions(info: StructInfo) -> Iterator[tir.PrimExpr]:
    """The dimensions that a parameter speaks of, those of its parts included."""
    for part in of_the_value(info):
        yield from free_shape_vars(part) if isinstance(part, FuncStructInfo) else numbers(part)


def _mentions(result: Compatibility, variables: Sequence[tir.Var]) -> bool:
    """Whether it comes down to variables of the callee that no argument says."""
    if result.relation is None or result.reason is None:
        return False
    return not set(variables).isdisjoint(free_shape_vars(result.reason.wanted))


def _blame(
    state: DerivationState,
    node: ast.Call,
    index: int,
    wanted: StructInfo,
    result: Compatibility,
    guess: bool,
) -> None:
    """Report an argument; in lowered code, what is merely unknown is only counted.

    ``guess`` says that the parameter speaks of variables that no argument says.
    """
    if state.effects.lowered and (guess or policy.unknown_only(result)):
        state.effects.unchecked += 1
        return
    arg = node.args[index]
    found = state.info_of[arg]
    extra = {} if guess else policy.explained(result)
    extra["related"] = (*definition(state, arg), *of_global(state, node.op))
    if guess:
        extra["notes"] = ("no argument determines its shape variables",)
    argument, place = argument_of(state.module, node, index), of_argument(node, index)
    if result.never_fits:
        message = f"{argument} is {show(found)}, but {show(wanted)} is expected"
        state.add("D14-argument", "error", message, place, **extra)
        state.doubt(node)
        return
    if policy.unknown_only(result):
        known = f"{argument} is only known to be {show(found)}"
        message = f"{known}, but {show(wanted)} is expected"
    else:
        message = f"{argument} is {show(found)}, which may differ from the expected {show(wanted)}"
    extra["help"] = (
        f"check it at run time before the call: R.match_cast({named(arg)}, {written(wanted)})"
    )
    state.add("D14-argument", "warning", message, place, **extra)


def _report_conflict(
    state: DerivationState, node: ast.Call, function: FuncStructInfo, conflict: Conflict
) -> None:
    assert function.params is not None
    params = function.params
    said_by = [i for i, p in enumerate(params) if conflict.var in free_shape_vars(p)]
    (at,) = said_by if len(said_by) == 1 else (None,)
    extra: dict[str, object] = {}
    if conflict.relation is not None:
        extra |= policy.evidence(conflict.relation)
    extra["label"] = f"the parameters are ({', '.join(show(p) for p in params)})"
    related = [label for i in said_by for label in definition(state, node.args[i])]
    extra["related"] = (*related, *of_global(state, node.op))
    verb = "cannot be" if conflict.impossible else "may not be"
    both = f"both {show(conflict.first)} and {show(conflict.second)}"
    message = f"'{show(conflict.var)}' of {callee(node.op)} {verb} {both}"
    severity = "error" if conflict.impossible else "warning"
    state.add("D14-binding", severity, message, of_argument(node, at), **extra)
    if conflict.impossible:
        state.doubt(node)
