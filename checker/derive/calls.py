"""D14: calls of operators, packed functions and closures, their arguments, and forbidden effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rlx.checker.derive import policy
from rlx.checker.derive.doubts import Doubt
from rlx.checker.derive.environment import arithmetic_condition
from rlx.checker.derive.message_text import (
    argument_of,
    callee,
    definition,
    named,
    of_argument,
    of_global,
    own,
    show,
    written,
)
from rlx.checker.derive.state import DerivationState, Effects
from rlx.checker.lowered.objects import LOWERED
from rlx.checker.memory import IN_PLACE
from rlx.grammar.diagnostic import Edit
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import same
from rlx.grammar.nodes.promises import promises
from rlx.grammar.nodes.struct_infos import OBJECT, numbers, of_the_value
from rlx.grammar.suggest import did_you_mean
from rlx.grammar.wording import counted
from rlx.operators import is_known, lookup, similar
from rlx.operators.derived_dimensions import shortened
from rlx.operators.foreign_names import argument_order
from rlx.solver.order import (
    Compatibility,
    Conflict,
    Instance,
    free_shape_vars,
    instantiate,
    substitute_prim,
)
from rlx.solver.order.subtype import name_dimensions
from rlx.spec.registry import need, rule


@rule("D14", "derivation")
def call(state: DerivationState, node: ast.Call) -> ast.StructInfo:
    info_of = state.info_of
    for arg in node.args:
        if arg not in info_of:
            state.info(arg)
    if type(node.op) is ast.Op:
        return _call_operator(state, node, node.op)
    return _call_function(state, node)


def _call_operator(state: DerivationState, node: ast.Call, op: ast.Op) -> ast.StructInfo:
    """An operator knows the struct info of its calls, and whether they have effects."""
    operator = lookup(op.op_name)
    if operator is None:
        # Nothing is known of the result, so an annotation is believed.
        state.doubt(node, Doubt.UNSAID if is_known(op.op_name) else Doubt.WRONG)
        state.unknown_operators.add(op.op_name)
        _report_unknown(state, node, op.op_name)
        if node.sinfo_args:
            return default_derive(node)
        return OBJECT
    need("D14-operator", True)
    if op.op_name in IN_PLACE:
        state.overwrites = True
    if op.op_name in LOWERED:
        state.lowered = True
    if not operator.pure:
        check_effect(state, node, op)
    outer, state.call = state.call, node
    before = len(state.diagnostics)
    info = operator.derive(node, state)
    state.call = outer
    if (state.doubts or len(state.diagnostics) > before) and _is_doubted(state, node, before):
        return info
    if op.op_name == "relax.assert_op" and node.args:
        asserted = arithmetic_condition(state.info(node.args[0]))
        if asserted is not None:
            state.remember(asserted)
    return info


def _is_doubted(state: DerivationState, node: ast.Call, before: int) -> bool:
    """Whether an argument of a call is wrong, or something was reported after the first ``before``
    diagnostics; the call is then doubted.
    """
    state.inherit(node, node.args)
    why = state.spoiled(node)
    if why is None:
        severities = {found.severity for found in state.diagnostics[before:]}
        reported = {"error": Doubt.WRONG, "warning": Doubt.WARNED}
        why = max((reported[s] for s in severities & reported.keys()), default=None)
    if why is not None:
        state.doubt(node, why)
    return why is not None


SUGGESTED = 200
"""The number of unknown operators of a text for which a similar one is looked for."""


def _report_unknown(state: DerivationState, node: ast.Call, name: str) -> None:
    """A note on what is allowed, an error on every other operator that has no declaration."""
    shown = name.replace("relax.", "R.")
    where = node.op_span or node.span
    if is_known(name):
        message = (
            f"calls of `{shown}` are not checked; the annotations of their results are trusted"
        )
        state.add("D14-operator", "note", message, where, mistake=("operator", name))
        return
    extra: dict[str, object] = {"mistake": ("operator", name)}
    meant = similar(name) if len(state.unknown_operators) <= SUGGESTED else ()
    if meant:
        order = argument_order(name, len(node.args))
        whole = _reordered(node, meant[0], order)
        extra["help"] = did_you_mean(meant if whole is None else [whole], "`")
        span = node.op_span
        # Under another name than R, the letter in front is not to be replaced.
        if len(meant) == 1 and span is not None and span[1] - span[0] == len(shown):
            if whole is not None and node.span is not None:
                extra["edit"] = Edit(node.span, whole)
            elif order == tuple(range(len(node.args))):
                extra["edit"] = Edit(span, meant[0])
    else:
        extra["help"] = (
            f"if you define this operator yourself, allow it: --allow-operator {shown[2:]}"
        )
    state.add("D14-operator", "error", f"unknown operator `{shown}`", where, **extra)


def _reordered(node: ast.Call, name: str, order: tuple[int, ...] | None) -> str | None:
    """The call with another operator, if that takes the arguments in another order and all of them
    are variables.
    """
    if order is None or order == tuple(range(len(order))) or node.attrs:
        return None
    if not all(isinstance(arg, ast.Var) for arg in node.args):
        return None
    return f"{name}({', '.join(show(node.args[k]) for k in order)})"


def _call_function(state: DerivationState, node: ast.Call) -> ast.StructInfo:
    """Purity first, then the signature or what the call itself says (ledger 17)."""
    function = state.info(node.op)
    if state.poisoned(node.op):
        state.doubt(node)
        if not isinstance(function, ast.FuncStructInfo) or function.params is None:
            return OBJECT
    if not isinstance(function, ast.FuncStructInfo):
        return _not_a_function(state, node, function)
    need("D14-callee", True)
    if isinstance(node.op, ast.GlobalVar) and _lacks_results(state, node, node.op):
        state.doubt(node)
        return OBJECT
    if not function.purity:
        check_effect(state, node, node.op)
        state.overwrites |= isinstance(node.op, ast.GlobalVar)  # it may be a PrimFunc
    if function.params is None:
        return opaque_result(node, function)
    return _call_closure(state, node, function)


def _lacks_results(state: DerivationState, node: ast.Call, callee: ast.GlobalVar) -> bool:
    """Report a call of a PrimFunc that passes its inputs only, as `R.call_tir` does."""
    prim_func = state.prim_func(callee)
    if prim_func is None or len(node.args) >= len(prim_func.params):
        return False
    name = callee.name_hint
    passed = ", ".join(map(show, node.args)) + ("," if len(node.args) == 1 else "")
    results = [prim_func.buffer_map.get(p) for p in prim_func.params[len(node.args) :]]
    shown = [
        written(ast.TensorStructInfo(ast.ShapeExpr(_as_dims(buffer.shape)), buffer.dtype))
        for buffer in results
        if buffer is not None
    ]
    listed = shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"
    state.add(
        "D14-arity",
        "error",
        f"{name!r} is a PrimFunc, which stores its results into its last parameters",
        node.span,
        related=of_global(state, callee),
        label=f"passes {len(node.args)} of {len(prim_func.params)} arguments",
        help=f"write `R.call_tir(cls.{name}, ({passed}), {state.dialect.out_info}={listed})`",
    )
    return True


def _as_dims(shape: tuple[tir.PrimExpr, ...]) -> tuple[tir.PrimExpr, ...]:
    """The shape of a buffer as that of a tensor, whose literals are int64."""
    return tuple(tir.IntImm(d.value) if isinstance(d, tir.IntImm) else d for d in shape)


def _not_a_function(state: DerivationState, node: ast.Call, info: ast.StructInfo) -> ast.StructInfo:
    extra: dict[str, object] = {"related": definition(state, node.op)}
    if type(info) is ast.ObjectStructInfo:
        wanted = ast.FuncStructInfo(tuple(state.info(a) for a in node.args), OBJECT)
        extra["help"] = (
            f"cast it to a function type first: R.match_cast({show(node.op)}, {written(wanted)})"
        )
    message = f"only a function can be called, but {callee(node.op)} is {show(info)}"
    state.add("D14-callee", "error", message, own(node.op) or node.span, **extra)
    state.doubt(node)
    return OBJECT


def opaque_result(node: ast.Call, function: ast.FuncStructInfo) -> ast.StructInfo:
    """The result of a call of a packed function: as the call declares it, else as the annotation
    does, else Object.
    """
    if function.derive_func == "default":
        return default_derive(node)
    if function.derive_func is None:
        return function.ret
    return OBJECT


def default_derive(node: ast.Call) -> ast.StructInfo:
    """`default_derive`: the type arguments of the call."""
    match node.sinfo_args:
        case ():
            return OBJECT
        case (only,):
            return only
    return ast.TupleStructInfo(node.sinfo_args)


def _no_self(state: DerivationState, node: ast.Call) -> str | None:
    """The help for a function whose first parameter is `self`."""
    function = state.module.functions.get(node.op) if isinstance(node.op, ast.GlobalVar) else None
    params = function.params if isinstance(function, ast.Function) else ()
    if not params or params[0].name_hint != "self":
        return None
    return "remove the parameter `self`: the functions of a module do not take the module"


def _call_closure(
    state: DerivationState, node: ast.Call, function: ast.FuncStructInfo
) -> ast.StructInfo:
    """Bind the shape variables, compare the arguments, and keep what outlives the call of the
    result.
    """
    assert function.params is not None
    if not need("D14-arity", len(function.params) == len(node.args)):
        expected, given = len(function.params), len(node.args)
        takes = f"{callee(node.op)} takes {counted(expected, 'argument')}"
        message = f"{takes}, but {given} {'is' if given == 1 else 'are'} given"
        related = of_global(state, node.op) or definition(state, node.op)
        label = show(function)
        help = _no_self(state, node) if expected == given + 1 else None
        state.add("D14-arity", "error", message, node.span, related=related, label=label, help=help)
        state.doubt(node)
        return OBJECT if function.binders else function.ret
    instance = check_arguments(state, node, function)
    _check_promises(state, node, instance)
    state.inherit(node, node.args)
    return state.erased(shortened(instance.ret, state))


FORCE_PURE = "relax.force_pure"


def effects_of(function: ast.Function) -> Effects:
    """The effects that the body of a function may have; a function that declares nothing is pure."""
    lowered = forced(function.attrs)
    pure = function.is_pure is not False and not lowered
    return Effects(pure, lowered)


def forced(attrs: Mapping[str, object]) -> bool:
    """Whether attributes say that effects inside a function do not count."""
    return bool(attrs.get(FORCE_PURE))


def check_effect(state: DerivationState, node: ast.Call, function: ast.Expr) -> None:
    """Report a call that may have effects where none is allowed."""
    effects = state.effects
    if effects.dataflow:
        where = "in a dataflow block"
        help = "move it out of the block"
    elif effects.pure:
        where = "in a pure function"
        help = "declare the function impure: @R.function(pure=False)"
    else:
        need("D14-impure", True)
        return
    name = _name(function)
    message = f"a call of {name} may have effects, which are not allowed {where}"
    if isinstance(function, ast.ExternFunc):
        help += ", or declare that this call has no effects: R.call_pure_packed"
    state.add("D14-impure", "error", message, own(node) or node.span, help=help)


def _name(function: ast.Expr) -> str:
    if isinstance(function, ast.Op):
        return f"'{function.op_name.removeprefix('relax.')}'"
    return callee(function)


def check_arguments(
    state: DerivationState, node: ast.Call, function: ast.FuncStructInfo
) -> Instance:
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
        device = wanted.vdevice if isinstance(wanted, ast.TensorStructInfo) else None
        if device is not None and isinstance(given, ast.TensorStructInfo) and given.vdevice is None:
            state.places.append((node, index, device))
        if not blamed or blamed.isdisjoint(free_shape_vars(function.params[index])):
            result = policy.mismatch(state, "D14-argument", given, wanted, nameless)
            if result is not None and not policy.repeated(state, node.args[index], result):
                named_by = function.params[index] if nameless else wanted
                guess = not result.never_fits and _mentions(result, instance.unbound)
                _blame(state, node, index, named_by, result, guess)
    return instance


def _check_promises(state: DerivationState, node: ast.Call, instance: Instance) -> None:
    """Report sizes beyond what attributes of the callee promise: no run checks them, and its memory
    may be planned for less.
    """
    callee = state.module.functions.get(node.op) if isinstance(node.op, ast.GlobalVar) else None
    if not isinstance(callee, ast.Function) or instance.binding.conflicts or state.spoiled(node):
        return
    images = instance.binding.mapping
    for promise in promises(callee):
        (var,) = tir.free_vars(promise)
        image = images.get(var)
        if not isinstance(image, tir.PrimExpr):
            continue
        relation = policy.relation_of([substitute_prim(promise, {var: image})], state.prover)
        if need("D14-promise", relation.kind == "always"):
            continue
        given = f"{var.name} is {show(image)} here"
        message = f"{_name(node.op)} promises {show(promise)} by an attribute, and {given}"
        extra = policy.decision_on(relation, message).extra
        severity = "note" if relation.kind == "unknown" else "warning"
        related = of_global(state, node.op)
        state.add("D14-promise", severity, message, node.span, related=related, **extra)


def _exchanged(
    state: DerivationState,
    node: ast.Call,
    found: Sequence[ast.StructInfo],
    wanted: Sequence[ast.StructInfo],
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


def same_kind(given: ast.StructInfo, wanted: ast.StructInfo) -> bool:
    """Whether kind, rank and element type of two annotations do not contradict each other."""
    match given, wanted:
        case ast.ObjectStructInfo(), _:
            return True
        case _, ast.ObjectStructInfo():
            return True
        case ast.TensorStructInfo() as a, ast.TensorStructInfo() as b:
            ranks = a.ndim < 0 or b.ndim < 0 or a.ndim == b.ndim
            return ranks and (a.dtype.is_void or b.dtype.is_void or a.dtype == b.dtype)
        case ast.PrimStructInfo() as p, ast.PrimStructInfo() as q:
            return p.dtype == q.dtype
    return type(given) is type(wanted)


def _report_exchanged(
    state: DerivationState,
    node: ast.Call,
    found: Sequence[ast.StructInfo],
    wanted: Sequence[ast.StructInfo],
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
    params: Sequence[ast.StructInfo], found: tuple[ast.StructInfo, ...], instance: Instance
) -> tuple[ast.StructInfo, ...]:
    """Arguments of known rank with names for their dimensions, where any dimensions will do.

    That is so where each dimension of the parameter binds a variable that stands nowhere else.
    """
    uses = Counter(v for p in params for e in _dimensions(p) for v in tir.free_vars(e))
    free = {v for v in instance.binding.unbound if uses[v] == 1}  # type: ignore[index]
    named = [
        name_dimensions(p, s) if free.issuperset(_dimensions(p)) else s
        for p, s in zip(params, found, strict=True)
    ]
    return same(found, named)


def _dimensions(info: ast.StructInfo) -> Iterator[tir.PrimExpr]:
    """The dimensions that a parameter speaks of, those of its parts included."""
    for part in of_the_value(info):
        yield from free_shape_vars(part) if isinstance(part, ast.FuncStructInfo) else numbers(part)


def _mentions(result: Compatibility, variables: Sequence[tir.Var]) -> bool:
    """Whether it comes down to variables of the callee that no argument says."""
    if result.relation is None or result.reason is None:
        return False
    return not set(variables).isdisjoint(free_shape_vars(result.reason.wanted))


def _blame(
    state: DerivationState,
    node: ast.Call,
    index: int,
    wanted: ast.StructInfo,
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
    extra = {} if guess else policy.notes_for(result)
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
    state: DerivationState, node: ast.Call, function: ast.FuncStructInfo, conflict: Conflict
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
