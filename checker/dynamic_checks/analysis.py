"""Guarantees at every place of a module, and the report of its run-time checks.

The rules of the derivation run once more, with one difference: an annotation that is not checked is
not trusted. An annotation that is not proved, and what a call says of the result of a packed
function or of a function that came as a value, are claims; the derivation follows them, the
judgement of a check must not. A check at an entry takes all calls into account.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from rlx.checker.derive import calls, naming, values
from rlx.checker.derive.calls import effects_of
from rlx.checker.derive.expressions import end
from rlx.checker.derive.module import RULES, module_
from rlx.checker.derive.naming import signature
from rlx.checker.derive.state import DerivationState, Rule
from rlx.checker.dynamic_checks.comparisons import PartJudge
from rlx.checker.dynamic_checks.entry_checks import EntryCalls, is_private, settle
from rlx.checker.dynamic_checks.model import DynamicCheck, summed_up
from rlx.checker.dynamic_checks.uses import Survey, stand_once
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.struct_infos import OBJECT, fields_or_itself
from rlx.grammar.nodes.visit import bindings_in
from rlx.operators.derived_dimensions import bounded
from rlx.spec.registry import decide, rule

ALLOCATING = frozenset({"relax.call_tir", "relax.call_tir_with_grad", "relax.call_dps_packed"})
"""Operators that create their results themselves, of the shapes and types that the call says."""


class Analysis(DerivationState):
    """The derivation of what is guaranteed, and the checks judged on the way.

    Attributes
    ----------
    trusting
        Whether claims are believed all the same.
    checks
        In the order found.
    functions
        The function that a global variable, or a variable bound to a literal, stands for.
    entries
        What the calls of each function say of its entry.
    used
        The variables that stand somewhere else than as what is called.
    idle
        The variables of which no check asks: nothing is derived of them.
    """

    def __init__(self, module: ast.IRModule, trusting: bool) -> None:
        super().__init__(module, _RULES, set())
        self.trusting = trusting
        self.checks: list[DynamicCheck] = []
        self.functions: dict[Node, ast.Function] = dict(module.relax_functions.items())
        self.names: dict[Node, str] = {f: gv.name_hint for gv, f in module.functions.items()}
        survey = Survey(module)
        self.used, self.idle = survey.as_values, survey.idle
        self.entries = {
            f: EntryCalls(not is_private(f) or gv in self.used) for gv, f in self.functions.items()
        }
        self.written: set[tir.Var] = set()
        self.results: dict[Node, tuple[ast.Function, StructInfo]] = {}
        self.owners: list[ast.Function] = []
        self._unused: dict[ast.Function, set[tir.Var]] = {}

    def info(self, expr: ast.Expr) -> StructInfo:
        """The guaranteed type of an expression; a PrimFunc is not a closure, whatever its signature
        says.
        """
        if isinstance(self.module.functions.get(expr), tir.PrimFunc):  # type: ignore[call-overload]
            return OBJECT
        return super().info(expr)

    def unused(self) -> set[tir.Var]:
        """The shape variables that occur once in the signature of the current outermost function."""
        outermost, *_ = self.owners
        if outermost not in self._unused:
            self._unused[outermost] = stand_once(outermost)
        return self._unused[outermost]

    def judgement(self, binders: Sequence[tir.Var] = ()) -> PartJudge:
        """A judgement of what is checked here."""
        return PartJudge(self.prover, binders, self.info_of, self.written)

    def proves(self, found: StructInfo, wanted: StructInfo) -> bool:
        """Whether every value of which ``found`` is guaranteed passes a check against
        ``wanted``.
        """
        if found is wanted:
            return True
        (parts,) = self.judgement().judge([found], [wanted])
        return all(part.is_proved for part in parts)


def sequence(state: Analysis, node: ast.SeqExpr) -> StructInfo:
    """D10, with the facts of its casts still known where the result is checked."""
    outer = state.enter()
    for binding in bindings_in(node):
        if isinstance(binding, ast.MatchCast):
            _cast(state, binding)
        else:
            _value(state, binding)
    if node in state.results:
        _result(state, *state.results.pop(node), state.info(node.body))
    return end(state, node, outer)


def _value(state: Analysis, binding: ast.VarBinding) -> None:
    """An annotation counts if it is proved."""
    var, value = binding.var, binding.value
    if var in state.idle:
        return
    if isinstance(value, ast.Function):
        # A local function is known by its own signature.
        state.functions[var] = value
        state.entries[value] = EntryCalls(var in state.used)
        state.names[value] = f"{state.names[state.owners[-1]]}.{var.name_hint}"
        state.info_of[var] = signature(value)
        state.bind(var, state.info(value))
        return
    found = state.info(value)
    wanted = var.struct_info_annotation
    naming.hold(state, var, value)
    values.name(state, var, value)
    found = values.earlier_type(state, var, found)
    state.inherit(var, (value,))
    if wanted is not None:
        wanted = naming.with_known_shapes(state, wanted, var.annotation_span)
    state.bind(var, _annotated(state, found, wanted))


@rule("CHECK-annotation", "dynamic check")
def _annotated(state: Analysis, found: StructInfo, wanted: StructInfo | None) -> StructInfo:
    """The type that remains under an annotation that no run checks: what follows believes it, so it
    may not say more than what is proved.
    """
    if wanted is None:
        return found
    if decide("CHECK-annotation-proved", state.trusting or state.proves(found, wanted)):
        return naming.kept(found, wanted)
    return OBJECT


def _cast(state: Analysis, binding: ast.MatchCast) -> None:
    """Judge a cast, whose target is guaranteed afterwards."""
    found = state.info(binding.value)
    target = naming.with_known_shapes(state, binding.struct_info, binding.struct_info_span)
    _forget(state, binding.shape_vars)
    judgement = state.judgement(binding.shape_vars)
    (parts,) = judgement.judge([found], [target])
    if binding.var is None:  # else what is derived of it mentions them
        parts = [settle(part, state.unused()) for part in parts]
    owner = state.owners[-1]
    subject = binding.value.name_hint if isinstance(binding.value, ast.Var) else "the value"
    check = summed_up(
        DynamicCheck(
            "cast",
            binding.struct_info_span or binding.span,
            state.names[owner],
            subject,
            binding,
            owner,
            "needed",
            tuple(parts),
        ),
        judgement.contradictory,
    )
    state.checks.append(check)
    state.bind_shape_vars(binding.shape_vars)
    state.written.update(binding.shape_vars)
    _learn(state, judgement)
    if binding.var is not None or check.status != "redundant":  # else nothing is left of it
        values.refine(state, binding.value, target)
    if binding.var is not None:
        values.name(state, binding.var, binding.value)
        said = binding.var.struct_info_annotation
        if said is not None:
            said = naming.with_known_shapes(state, said, binding.var.annotation_span)
        state.bind(binding.var, _annotated(state, target, said))


def _forget(state: Analysis, variables: Sequence[tir.Var]) -> None:
    """Modules made by programs may use one object for variables of two functions."""
    for var in variables:
        state.prover.aliases.pop(var, None)


def _learn(state: Analysis, judgement: PartJudge) -> None:
    """Record the numbers of shape variables that a successful check gives."""
    prover = state.prover
    for var, image in judgement.images.items():
        if image is not None:
            prover.alias(var, image)
            if var in judgement.sizes and not isinstance(image, tir.Var | tir.IntImm):
                state.remember(tir.GE(image, tir.IntImm(0)))
        elif var not in judgement.sizes:
            prover.declare(var)
    for left, right in judgement.equations:
        state.remember(tir.EQ(left, right))


def function(state: Analysis, node: ast.Function) -> StructInfo:
    """D15: parameters are what the entry checks, the result is judged before its scope ends."""
    outer, effects = state.enter(), state.effects
    state.effects = effects_of(node)
    _forget(state, node.shape_vars)
    state.bind_shape_vars(node.shape_vars)
    state.written.update(node.shape_vars)
    state.owners.append(node)
    _parameters(state, node)
    wanted = node.ret_struct_info
    if wanted is not None:
        state.results[node.body] = node, naming.with_known_shapes(state, wanted, node.ret_span)
    body = state.info(node.body)
    state.owners.pop()
    state.effects = effects
    state.shapes.difference_update(state.scope.shapes)
    state.scope.shapes.clear()
    result = wanted or bounded(state.erased(body))
    state.leave(outer)
    return signature(node, result, state.held)


def _parameters(state: Analysis, node: ast.Function) -> None:
    annotations: list[StructInfo] = []
    for param in node.params:
        info = naming.with_known_shapes(
            state, param.struct_info_annotation or OBJECT, param.annotation_span
        )
        annotations.append(info)
        state.bind(param, info)
    judgement = state.judgement(node.shape_vars)
    judgement.judge([None] * len(annotations), annotations)
    _learn(state, judgement)


def _result(state: Analysis, node: ast.Function, wanted: StructInfo, found: StructInfo) -> None:
    """Judge the check of a function's result."""
    if isinstance(wanted, ast.ObjectStructInfo):
        return
    judgement = state.judgement()
    (parts,) = judgement.judge([found], [wanted])
    check = DynamicCheck(
        "return",
        node.ret_span or node.name_span or node.span,
        state.names[node],
        "the result",
        node,
        node,
        "needed",
        tuple(parts),
    )
    state.checks.append(summed_up(check, judgement.contradictory))


@rule("CHECK-call", "dynamic check")
def call(state: Analysis, node: ast.Call) -> StructInfo:
    """D14, as far as the result is checked at run time."""
    before = len(state.diagnostics)
    info = calls.call(state, node)
    if not isinstance(node.op, ast.Op):
        return _called(state, node, info)
    if node.sinfo_args:
        made = state.trusting or _makes(state, node, node.op.op_name)
        return info if decide("CHECK-call-made", made) else OBJECT
    doubtful = state.diagnostics[before:] or node in state.doubts
    return info if decide("CHECK-call-certain", not doubtful) else OBJECT


def _makes(state: Analysis, node: ast.Call, operator: str) -> bool:
    """Whether an operator itself makes the results that its call declares."""
    if operator in ALLOCATING:
        return True
    return operator == "relax.call_tir_inplace" and _overwrites(state, node)


def _overwrites(state: Analysis, node: ast.Call) -> bool:
    """Whether each result of a call in place is new, or an argument that is what is declared."""
    places, given = node.attrs.get("inplace_indices"), node.args[1]
    results = fields_or_itself(node.sinfo_args[0])
    if not isinstance(places, Sequence) or not isinstance(given, ast.Tuple):
        return False
    return len(places) == len(results) and all(
        place == -1 or (place in range(len(given.fields)) and state.proves(info, result))
        for place, result in zip(places, results, strict=True)
        for info in [OBJECT if place == -1 else state.info(given.fields[place])]
    )


def _called(state: Analysis, node: ast.Call, info: StructInfo) -> StructInfo:
    """A function of the module checks its result itself; of others nothing is known."""
    callee = state.functions.get(node.op)
    if not decide("CHECK-call-own", callee is not None) or callee is None:
        return info if state.trusting else OBJECT
    if len(callee.params) == len(node.args):
        wanted = [p.struct_info_annotation or OBJECT for p in callee.params]
        judgement = state.judgement(callee.shape_vars)
        judged = judgement.judge([state.info(arg) for arg in node.args], wanted)
        state.entries[callee].add(judged, judgement.contradictory)
    return info


_OWN: Mapping[type[Node], Callable[[Analysis, Any], StructInfo]] = {
    ast.Call: call,
    ast.SeqExpr: sequence,
    ast.Function: function,
}
_RULES: Mapping[type[Node], Rule] = {**RULES, **cast(Mapping[type[Node], Rule], _OWN)}


_ORDER = ("entry", "cast", "return")


def dynamic_checks(
    module: ast.IRModule, trusting: bool, public: bool = True
) -> tuple[DynamicCheck, ...]:
    """The checks of a module in normal form, in the order of the text.

    Parameters
    ----------
    public
        Whether to say something of the entries of functions of which not all calls are seen, too.
    """
    state = Analysis(module, trusting)
    module_(state)
    checks = list(state.checks)
    for function in state.entries:
        if public or not state.entries[function].open:
            checks += _entries(state, function)
    return tuple(sorted(checks, key=lambda check: (check.span or (), _ORDER.index(check.kind))))


def _entries(state: Analysis, function: ast.Function) -> Iterator[DynamicCheck]:
    """The checks of a function's parameters; a parameter that may be anything has none."""
    entry = state.entries[function]
    annotations = [p.struct_info_annotation or OBJECT for p in function.params]
    anyone = state.judgement(function.shape_vars).judge([None] * len(annotations), annotations)
    unused = stand_once(function, function.shape_vars)
    because = _callers(state, function) if entry.open else ""
    for index, param in enumerate(function.params):
        if not anyone[index]:
            continue
        check = DynamicCheck(
            "entry",
            param.annotation_span or param.span,
            state.names[function],
            param.name_hint,
            param,
            function,
            "needed",
            tuple(entry.parts(index, anyone[index], unused)),
        )
        yield summed_up(check, entry.never_fits, because)


def _callers(state: Analysis, function: ast.Function) -> str:
    """Why not all calls of a function are seen."""
    name = f"'{state.names[function]}'"
    if function in state.module.functions.values() and not is_private(function):
        return f"{name} may be called from outside the module"
    return f"{name} is used as a value, so some of its calls are unknown"
