"""A module is derived: its functions bottom up, each from its signature and its body."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from rlx.checker.derive import calls, expressions, naming, policy
from rlx.checker.derive.bindings import parameter
from rlx.checker.derive.calls import effects_of
from rlx.checker.derive.environment import DerivationScope
from rlx.checker.derive.equations import learn_sizes
from rlx.checker.derive.message_text import named, show, written
from rlx.checker.derive.naming import signature
from rlx.checker.derive.state import DerivationState, Effects, Rule
from rlx.grammar.diagnostic import Diagnostic, Label
from rlx.grammar.dialects import Dialect
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import HANDLE, INT64
from rlx.grammar.nodes.node import Node, Record, Span
from rlx.grammar.nodes.promises import promises
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.visit import called_globals, callees_first
from rlx.grammar.stack import recursion_room
from rlx.operators.derived_dimensions import bounded
from rlx.solver.budget import Statistics
from rlx.spec.registry import rule


class OuterState(NamedTuple):
    """The state that a function replaces when it begins, and the result that its annotation
    promises.
    """

    scope: DerivationScope
    effects: Effects
    promises: tuple[tir.PrimExpr, ...]
    wanted: ast.StructInfo | None


def begin(state: DerivationState, node: ast.Function) -> OuterState:
    """Enter a function: its signature is known from here on. Its body is not looked at."""
    outer, effects, promised = state.enter(), state.effects, state.prover.promises
    state.effects = effects_of(node)
    state.prover.promises = (*promised, *promises(node))
    state.bind_scalars(node.shape_vars, [p.struct_info_annotation for p in node.params])
    for param in node.params:
        learn_sizes(state, parameter(state, param))
    wanted = node.ret_struct_info
    if wanted is not None:
        wanted = naming.with_known_shapes(state, wanted, node.ret_span)
    return OuterState(outer, effects, promised, wanted)


def end(
    state: DerivationState, node: ast.Function, body: ast.StructInfo, opened: OuterState
) -> ast.StructInfo:
    """Leave a function whose body is of this struct info; the struct info of the function."""
    wanted = opened.wanted
    if wanted is not None and not state.poisoned(node.body):
        _check_result(state, node, body, wanted)
    _tell_unchecked(state, node)
    state.effects, state.prover.promises = opened.effects, opened.promises
    # The result may mention the shape variables of the signature, but no parameter (ledger 31).
    state.shapes.difference_update(state.scope.shapes)
    state.scope.shapes.clear()
    result = node.ret_struct_info or bounded(state.erased(body))
    state.leave(opened.scope)
    if wanted is None:
        state.inherit(node, (node.body,))
    return signature(node, result, state.held)


@rule("D15", "derivation")
def function(state: DerivationState, node: ast.Function) -> ast.StructInfo:
    opened = begin(state, node)
    return end(state, node, state.info(node.body), opened)


def _check_result(
    state: DerivationState, node: ast.Function, found: ast.StructInfo, wanted: ast.StructInfo
) -> None:
    """The annotation is what callers rely on, so the body has to keep it (ledger 32)."""
    state.statistics.place = node
    result = policy.mismatch(state, "D15-result", found, wanted)
    if result is None or policy.repeated(state, node.body, result):
        return
    if state.effects.lowered and policy.unknown_only(result):
        state.effects.unchecked += 1
        return
    extra = policy.notes_for(result)
    extra["related"] = (Label(node.ret_span, "the annotation"),) if node.ret_span else ()
    body = node.body.body if isinstance(node.body, ast.SeqExpr) else node.body
    extra["label"] = show(found)
    promised = f"the result is annotated {show(wanted)}"
    place = _result_span(node)
    if result.never_fits:
        severity, message = "error", f"{promised}, but the body yields {show(found)}"
        returned = state.named.of(body)
        if isinstance(returned, ast.Var) and returned in state.believed:
            name = returned.name_hint
            message = f"{name!r} is returned and annotated {show(found)}, but {promised}"
            place = returned.annotation_span or place
        state.doubt(node)
        state.doubt(node.body)
    else:
        severity = "warning"
        known = (
            "the body is only known to yield"
            if policy.unknown_only(result)
            else ("the body may yield a different value:")
        )
        message = f"{promised}, but {known} {show(found)}"
        extra["help"] = (
            "check it at run time before the return:"
            f" R.match_cast({named(body)}, {written(wanted)})"
        )
    state.add("D15-result", severity, message, place, **extra)


def _tell_unchecked(state: DerivationState, node: ast.Function) -> None:
    """One note for all that a lowered function leaves to run time."""
    count = state.effects.unchecked
    if not count:
        return
    what = (
        "1 value of unknown shape is used"
        if count == 1
        else f"{count} values of unknown shape are used"
    )
    message = f"{what} where a known shape is expected; run-time checks decide"
    notes = ("the function has relax.force_pure, so rlx assumes that its calls check the shapes",)
    state.add("D15-unchecked", "note", message, node.name_span or node.span, notes=notes)


def _result_span(node: ast.Function) -> Span | None:
    body = node.body
    if isinstance(body, ast.SeqExpr) and body.body_span:
        return body.body_span
    return node.ret_span or node.name_span or node.span


Functions = Mapping[ast.GlobalVar, ast.Function]


def bottom_up(functions: Functions, first: Collection[ast.GlobalVar]) -> Iterator[ast.GlobalVar]:
    """Functions in an order in which those of ``first`` come before their callers."""
    if not first or len(functions) == 1:
        return iter(functions)
    return callees_first(
        {gv: [c for c in called_globals(f) if c in first] for gv, f in functions.items()}
    )


_NOTHING = ast.TupleStructInfo(())


@rule("D16", "derivation")
def prim_func(function: tir.PrimFunc) -> ast.FuncStructInfo:
    """Its buffers are mutated, so a direct call has effects; `call_tir` is the pure way (ledger
    33). One that only computes a scalar is pure.
    """
    buffers = function.buffer_map
    mentioned = {v for b in buffers.values() for extent in b.shape for v in tir.free_vars(extent)}
    wide = {v: tir.Var(v.name) for v in mentioned if v.dtype != INT64}
    binders: dict[tir.Var, None] = {}
    params = tuple(
        [_parameter(p, buffers.get(p), mentioned, binders, wide) for p in function.params]
    )
    ret = _NOTHING if function.ret_type is None else ast.PrimStructInfo(function.ret_type)
    pure = not any(param.dtype == HANDLE for param in function.params) and _only_returns(function)
    return ast.FuncStructInfo(params, ret, pure, None, tuple(binders))


def _only_returns(function: tir.PrimFunc) -> bool:
    """Whether a body is the return of a scalar that is computed without calls."""
    match function.body:
        case tir.Evaluate(value=tir.Call(op="ret", args=(result,))):
            return not any(isinstance(each, tir.Call) for each in tir.postorder(result))
    return False


def _parameter(
    param: tir.Var,
    buffer: tir.Buffer | None,
    mentioned: set[tir.Var],
    binders: dict[tir.Var, None],
    wide: dict[tir.Var, tir.Var],
) -> ast.StructInfo:
    """A buffer is a tensor; a scalar a Prim, whose value counts if a shape mentions it; a bare
    handle anything.
    """
    if buffer is not None:
        shape = tuple([_widened(extent, wide) for extent in buffer.shape])
        binders.update(dict.fromkeys(e for e in shape if isinstance(e, tir.Var)))
        return ast.TensorStructInfo(ast.ShapeExpr(shape), buffer.dtype, len(shape))
    if param.dtype == HANDLE:
        return OBJECT
    if param in mentioned:
        value = wide.get(param, param)
        binders[value] = None
        return ast.PrimStructInfo(param.dtype, value)
    return ast.PrimStructInfo(param.dtype)


def _widened(extent: tir.PrimExpr, wide: dict[tir.Var, tir.Var]) -> tir.PrimExpr:
    """An extent as a dimension of a tensor, which is int64 whatever the kernel counts with."""

    def widen(node: tir.PrimExpr) -> tir.PrimExpr | None:
        match node:
            case tir.IntImm(value=value, dtype=dtype) if dtype != INT64:
                return tir.IntImm(value)
            case tir.Var():
                return wide.get(node)
        return None

    if isinstance(extent, (tir.IntImm, tir.Var)):
        return widen(extent) or extent
    (found,) = tir.transform((extent,), widen)
    return found


RULES: Mapping[type[Node], Rule] = {
    ast.Var: expressions.variable,
    ast.DataflowVar: expressions.variable,
    ast.GlobalVar: expressions.variable,
    ast.Op: expressions.variable,
    ast.Constant: expressions.constant,
    ast.PrimValue: expressions.prim_value,
    ast.StringImm: expressions.string,
    ast.DataTypeImm: expressions.data_type,
    ast.ErrorExpr: expressions.variable,
    ast.Tuple: expressions.tuple_,
    ast.ShapeExpr: expressions.shape,
    ast.If: expressions.if_,
    ast.SeqExpr: expressions.seq_expr,
    ast.TupleGetItem: expressions.tuple_get_item,
    ast.ExternFunc: expressions.extern_func,
    ast.Call: calls.call,
    ast.Function: function,
}
"""The rule for each kind of expression."""


class Derivation(Record):
    """The result of deriving a module.

    Attributes
    ----------
    info
        Struct info of every variable, global variable and expression.
    casts
        What the casts that compare shapes alone (of 2022) give their values.
    diagnostics
        In the order found.
    proved, refuted, unknown
        How many proof obligations there were of each kind.
    statistics
        What the prover was asked.
    poison
        Expressions that are wrong already.
    overwrites
        Whether some call overwrites an argument in place.
    lowered
        Whether the module handles memory or shapes by itself.
    places
        Arguments of which no device is known, with those that are expected: what propagation looks
        at.
    """

    info: Mapping[Node, ast.StructInfo]
    casts: Mapping[ast.MatchCast, ast.StructInfo]
    diagnostics: tuple[Diagnostic, ...]
    proved: int
    refuted: int
    unknown: int
    statistics: Statistics
    poison: frozenset[Node]
    overwrites: bool
    lowered: bool
    places: tuple[tuple[ast.Call, int, ast.VDevice], ...]


def derive(
    module: ast.IRModule,
    unknown_operators: set[str] | None = None,
    captured: Collection[Node] = (),
    words: Dialect | None = None,
) -> Derivation:
    """Derive the struct info of everything in a module.

    Parameters
    ----------
    module
        Well-formed or not: what a variable that is not bound would be is left open without a word,
        as well-formedness reports it.
    unknown_operators
        Operators about which something was said already; those of this module are added.
    captured
        Variables, shape variables and annotations whose meaning Python around the program gives.
    words
        The version whose words messages use; None for the newest.
    """
    with recursion_room():
        unknown = set() if unknown_operators is None else unknown_operators
        state = DerivationState(module, RULES, unknown, captured, words)
        module_(state)
    return Derivation(
        state.info_of,
        state.casts,
        tuple(state.diagnostics),
        state.proved + state.discharged,
        state.refuted,
        state.unknown,
        state.statistics,
        frozenset(filter(state.poisoned, state.doubts)),
        state.overwrites,
        state.lowered,
        tuple(state.places),
    )


def known_infos(module: ast.IRModule) -> Mapping[Node, ast.StructInfo]:
    """The struct info of everything in a module without errors: as :func:`derive` gives it, but
    without a proof of any obligation.
    """
    with recursion_room():
        state = DerivationState(module, RULES, set())
        state.judges = False
        module_(state)
    return state.info_of


@rule("D01", "module")
def module_(state: DerivationState) -> None:
    """Annotated functions are known to all; one without a result annotation to those derived after
    it, as are the mistakes of a function.
    """
    relax: dict[ast.GlobalVar, ast.Function] = {}
    for gv, function in state.module.functions.items():
        if isinstance(function, tir.PrimFunc):
            state.info_of[gv] = prim_func(function)
        else:
            relax[gv] = function
            state.info_of[gv] = signature(function)
            if gv in state.captured:  # its head could not be read
                state.info_of[gv] = ast.FuncStructInfo(None, OBJECT, False)
            if function.ret_struct_info is None or gv in state.captured:
                state.doubt(gv)
    for gv in bottom_up(relax, relax):
        function = relax[gv]
        info = state.info(function)
        if function.ret_struct_info is None and gv not in state.captured:
            state.info_of[gv] = info
            state.doubts.pop(gv, None)
        if state.poisoned(function):
            state.doubt(gv)
