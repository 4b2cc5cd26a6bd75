"""D11: the effect of a binding on Γ and Σ, and the equations from a successful check."""

from __future__ import annotations

from rlx.checker.derive import naming, policy, values
from rlx.checker.derive.equations import learn, learn_signed
from rlx.checker.derive.message_text import definition, named, show, written
from rlx.checker.derive.naming import signature
from rlx.checker.derive.state import DerivationState
from rlx.grammar.diagnostic import Label
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import StructInfo, TupleStructInfo
from rlx.grammar.nodes.dtype import VOID
from rlx.grammar.nodes.node import Span, replace
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.solver.order import Compatibility, disjoint, substitute
from rlx.solver.order import bind as bind_dimensions
from rlx.spec.registry import need, rule


@rule("D11", "binding")
def bind(state: DerivationState, binding: ast.Binding) -> None:
    state.statistics.place = binding
    if type(binding) is ast.VarBinding:
        value = binding.value
        if type(value) is ast.Function:
            _bind_function(state, binding, value)
        else:
            _bind_value(state, binding, state.info(value))
    elif isinstance(binding, ast.MatchCast):
        _bind_cast(state, binding)


def parameter(state: DerivationState, var: ast.Var) -> StructInfo:
    """A parameter is what its annotation says, or any value."""
    wanted = var.struct_info_annotation or OBJECT
    info = naming.with_known_shapes(state, wanted, var.annotation_span)
    state.bind(var, info)
    if info is OBJECT and not isinstance(wanted, ast.ObjectStructInfo):
        state.doubt(var)  # its annotation has an error
    return info


def _bind_value(state: DerivationState, binding: ast.VarBinding, found: StructInfo) -> None:
    """An annotation wins over what was derived, as long as the two can be one value's."""
    var = binding.var
    wanted = var.struct_info_annotation
    naming.hold(state, var, binding.value)
    values.name(state, var, binding.value)
    found = values.earlier_type(state, var, found)
    if state.signed:
        learn_signed(state, found)
    if wanted is None:
        state.inherit(var, (binding.value,))
        state.bind(var, found)
        if var.name_hint == "_":
            _report_unbound(state, binding, found)
        return
    wanted = naming.with_known_shapes(state, wanted, var.annotation_span, binding.value)
    state.bind(var, naming.kept(found, wanted))
    if state.poisoned(binding.value):
        state.believed.add(var)
        return
    result = policy.mismatch(state, "D11-annotation", found, wanted)
    if result is not None and not policy.repeated(state, binding.value, result):
        _report_annotation(state, binding, found, wanted, result)


def _report_unbound(state: DerivationState, binding: ast.VarBinding, found: StructInfo) -> None:
    """A value that stands alone: TVM refuses to read it."""
    name = binding.var.span  # empty where the statement has none
    if name is None or name[0] < name[1] or state.poisoned(binding.value):
        return
    if isinstance(found, TupleStructInfo) and not found.fields:
        return
    what = "call" if isinstance(binding.value, ast.Call) else "expression"
    message = f"the value of this {what}, {show(found)}, is not bound to a name"
    help = "TVM reads such a statement only if it has no value: write `name = …`, or remove it"
    state.add("PARSE-unbound", "warning", message, binding.span, help=help)


def _bind_function(state: DerivationState, binding: ast.VarBinding, literal: ast.Function) -> None:
    """A function literal knows itself by its annotation, or else by its signature (ledger 19)."""
    state.info_of[binding.var] = binding.var.struct_info_annotation or signature(literal)
    unfinished = binding.var.struct_info_annotation is None and literal.ret_struct_info is None
    if unfinished:
        state.doubt(binding.var)
    found = state.info(literal)
    if binding.var in state.captured:  # its head could not be read
        state.doubt(binding.var)
        state.bind(binding.var, ast.FuncStructInfo(None, OBJECT, False))
        return
    if unfinished:
        state.doubts.pop(binding.var, None)
    _bind_value(state, binding, found)


_TEXTS: dict[type, str] = {ast.StringImm: "a string", ast.DataTypeImm: "a data type"}
"""Literals that are only Objects."""


def _bind_cast(state: DerivationState, binding: ast.MatchCast) -> None:
    """A cast is warned of only if no value passes it (ledger 20)."""
    from rlx.checker.dynamic_checks.comparisons import always_fails

    found = state.info(binding.value)
    settled = _settled(state, binding, found)
    state.bind_scalars(binding.shape_vars, (settled,))
    target = naming.with_known_shapes(state, settled, binding.struct_info_span)
    literal = _TEXTS.get(type(binding.value))
    if literal is not None and not isinstance(target, ast.ObjectStructInfo):
        message = f"this cast to {show(target)} always fails: the value is {literal}"
        state.add("D11-cast", "warning", message, binding.struct_info_span or binding.span)
    elif not state.poisoned(binding.value):
        images = bind_dimensions((target,), (found,), binding.shape_vars, state.prover).mapping
        shown = found
        never = always_fails(state.prover, binding.shape_vars, state.info_of, found, target)
        earlier = state.named.of(binding.value)
        if never is None and isinstance(earlier, ast.Var) and earlier is not binding.value:
            shown = state.info_of.get(earlier, found)  # of which this is a wider name
            never = always_fails(state.prover, binding.shape_vars, state.info_of, shown, target)
        if never is None:
            need("D11-cast", True)
            learn(state, found, target, images)
            values.refine(state, binding.value, target)
        else:
            apart = disjoint(shown, substitute(target, images), state.prover)
            _report_cast(state, binding, shown, target, apart, never)
    var = binding.var
    if var is None:
        return
    wanted = var.struct_info_annotation
    if wanted is not None:
        wanted = naming.with_known_shapes(state, wanted, var.annotation_span)
    values.name(state, var, binding.value)
    state.bind(var, _believed(wanted or target, found))
    if wanted is not None:
        result = policy.mismatch(state, "D11-cast-annotation", target, wanted)
        if result is not None:
            _report_cast_annotation(state, var, target, wanted, result)
        elif not binding.by_shape and policy.allows_more(state, wanted, target):
            message = f"{var.name_hint!r} is cast to {show(target)}, and annotated {show(wanted)}"
            help = "TVM reads the annotation of a cast only if it is the same type: leave it out"
            span = var.annotation_span or var.span
            state.add("PARSE-cast-annotation", "warning", message, span, help=help)


def _believed(target: StructInfo, found: StructInfo) -> StructInfo:
    """The type of a value after a cast: a cast does not make a function pure."""
    match target, found:
        case ast.FuncStructInfo(purity=True), ast.FuncStructInfo(purity=True):
            return target
        case ast.FuncStructInfo(purity=True), ast.FuncStructInfo():
            return replace(target, purity=False)
        case ast.FuncStructInfo(params=None, purity=True), _:
            return replace(target, purity=False)
        case ast.TupleStructInfo(fields=targets), _:
            parts = found.fields if isinstance(found, ast.TupleStructInfo) else ()
            if len(parts) != len(targets):
                parts = (OBJECT,) * len(targets)
            fields = tuple(map(_believed, targets, parts))
            if any(a is not b for a, b in zip(fields, targets, strict=True)):
                return replace(target, fields=fields)
    return target


def _settled(state: DerivationState, binding: ast.MatchCast, found: StructInfo) -> StructInfo:
    """The type that a cast gives its value; a match of shapes alone keeps the kind, the element
    type and the device of the value.
    """
    target = binding.struct_info
    if not binding.by_shape:
        return target
    match target:
        case ast.TensorStructInfo(shape=ast.ShapeExpr(values=values), dtype=data_type):
            pass
        case ast.ShapeStructInfo(values=tuple() as values):
            data_type = VOID
        case _:
            return target
    span = target.span
    match found:
        case ast.ShapeStructInfo():
            target = ast.ShapeStructInfo(values, len(values), span)
        case ast.TensorStructInfo(dtype=known, vdevice=device):
            kind = data_type if known.is_void else known
            shape = ast.ShapeExpr(values, span)
            target = ast.TensorStructInfo(shape, kind, len(values), device, span)
    state.casts[binding] = target
    return target


def _report_annotation(
    state: DerivationState,
    binding: ast.VarBinding,
    found: StructInfo,
    wanted: StructInfo,
    result: Compatibility,
) -> None:
    var = binding.var
    extra = policy.notes_for(result)
    extra["related"] = _annotated(var)
    extra["label"] = show(found)
    span = binding.value_span or binding.span
    name = var.name_hint
    if result.never_fits:
        message = f"'{name}' is annotated {show(wanted)}, but its value is {show(found)}"
        state.add("D11-annotation", "error", message, span, **extra)
        state.doubt(var)  # what follows from the wrong annotation is no second mistake
        if isinstance(wanted, TupleStructInfo):
            state.info_of[var] = OBJECT  # nor is a field that only one of them has
        return
    if policy.unknown_only(result):
        message = (
            f"'{name}' is annotated {show(wanted)}, but its value is only known to be {show(found)}"
        )
    else:
        message = f"'{name}' is annotated {show(wanted)}, but its value may differ: {show(found)}"
    extra["help"] = f"check it at run time: R.match_cast({named(binding.value)}, {written(wanted)})"
    state.add("D11-annotation", "warning", message, span, **extra)


def _report_cast(
    state: DerivationState,
    binding: ast.MatchCast,
    found: StructInfo,
    target: StructInfo,
    apart: Compatibility | None,
    reason: str,
) -> None:
    message = f"this cast to {show(target)} always fails: the value is {show(found)}"
    extra: dict[str, object] = {"notes": (reason,)} if apart is None else policy.notes_for(apart)
    extra["related"] = definition(state, binding.value)
    span = binding.struct_info_span or binding.span
    state.add("D11-cast", "warning", message, span, **extra)


def _report_cast_annotation(
    state: DerivationState,
    var: ast.Var,
    target: StructInfo,
    wanted: StructInfo,
    result: Compatibility,
) -> None:
    severity, doubt = ("error", "") if result.never_fits else ("warning", ", which may differ")
    message = f"'{var.name_hint}' is annotated {show(wanted)}, but is cast to {show(target)}{doubt}"
    span = var.annotation_span or var.span
    state.add("D11-cast-annotation", severity, message, span, **policy.notes_for(result))


def _annotated(var: ast.Var) -> tuple[Label, ...]:
    span: Span | None = var.annotation_span or var.span
    return (Label(span, "the annotation"),) if span else ()
