"""D02 to D10, D12 and D13: expressions, branches and sequences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from rlx.checker.derive.bindings import bind
from rlx.checker.derive.doubts import Doubt
from rlx.checker.derive.environment import AliasProver, DerivationScope, arithmetic_condition
from rlx.checker.derive.message_text import definition, own, show, written
from rlx.checker.derive.state import DerivationState
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import BOOL, INT64, LARGEST, DataType
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.operators.rule_helpers import numbers_in
from rlx.solver.order import lub
from rlx.spec.registry import need, rule

_BYTE = 8
_ROUNDED = 1 + 2**-25
"""The factor up to which a number is rounded to the largest one of float32."""


def literal_is_valid(state: DerivationState, node: ast.Constant) -> bool:
    """Whether a constant has a value: its element type is one of numbers, which holds those that
    are written.

    An integer beyond a type of less than a byte is a warning only: TVM accepts it and keeps its low
    bits. So is a number beyond a float type, which becomes infinity.
    """
    kind, value = node.data.dtype, node.data.value
    if not need("D03-element-type", kind.code != "handle" and kind.lanes == 1):
        message = f"the elements of a constant must be numbers or Booleans, not {kind}"
        state.add("D03-element-type", "error", message, node.span)
        return False
    misfit = next((n for n in numbers_in(value) if not _holds(kind, n)), None)
    if misfit is None:
        return need("D03-fits", True)
    kept = kind.is_float or (kind.bits < _BYTE and math.isfinite(misfit))
    severity = "warning" if kept else "error"
    message = f"{misfit} is out of range for {kind}"
    state.add("D03-fits", severity, message, node.span, notes=_limits(kind))
    return kept


def check_scalar(state: DerivationState, node: ast.PrimValue) -> None:
    """A literal in a scalar is a value of its type, as TVM requires (D04)."""
    for part in tir.postorder(node.value):
        if isinstance(part, tir.FloatImm | tir.IntImm) and part.dtype.lanes == 1:
            kind, number = part.dtype, part.value
            if not need("D04-fits", kind.code == "handle" or _holds(kind, number)):
                message = f"{number} is out of range for {kind}"
                state.add("D04-fits", "error", message, node.span, notes=_limits(kind))


def _holds(kind: DataType, number: float) -> bool:
    """Floats are rounded, but not to infinity; where an integer is asked for, a fraction is cut
    off.
    """
    if not kind.is_integer:
        largest = LARGEST.get(str(kind), math.inf) * _ROUNDED
        return not math.isfinite(number) or abs(number) <= largest
    low, high = _range(kind)
    return math.isfinite(number) and low <= math.trunc(number) <= high


def _range(kind: DataType) -> tuple[int, int]:
    if kind.code == "uint":
        return 0, (1 << kind.bits) - 1
    return -(1 << kind.bits - 1), (1 << kind.bits - 1) - 1


def _limits(kind: DataType) -> tuple[str, ...]:
    if not kind.is_integer:
        return (f"the largest number of {kind} is {LARGEST[str(kind)]:g}",)
    low, high = _range(kind)
    return (f"the range of {kind} is {low} to {high}",)


EXTERNAL = ast.FuncStructInfo(None, OBJECT, False, "default")
"""The struct info of every packed function about which nothing more is said."""


@rule("D02", "derivation")
def variable(
    state: DerivationState, var: ast.Var | ast.GlobalVar | ast.ErrorExpr
) -> ast.StructInfo:
    """A variable that Γ does not know was reported by well-formedness, and what could not be read
    when it was read: say nothing more about them.
    """
    state.doubt(var)
    return OBJECT


@rule("D03", "derivation")
def constant(state: DerivationState, node: ast.Constant) -> ast.StructInfo:
    data = node.data
    if data.shape is None:  # the text leaves the data out: an annotation knows better
        state.doubt(node, Doubt.UNSAID)
        return ast.TensorStructInfo(None, data.dtype)
    if data.value is not None and not literal_is_valid(state, node):
        state.doubt(node)
        return ast.TensorStructInfo(None, data.dtype, len(data.shape))
    key = (data.shape, data.dtype)
    found = state.constants.get(key)
    if found is None:
        shape = ast.ShapeExpr(tuple(tir.IntImm(extent) for extent in data.shape))
        found = state.constants[key] = ast.TensorStructInfo(shape, data.dtype, len(data.shape))
    return found


@rule("D04", "derivation")
def prim_value(state: DerivationState, node: ast.PrimValue) -> ast.StructInfo:
    if type(node.value) is not tir.IntImm or node.value.dtype != INT64:
        check_scalar(state, node)
    return ast.PrimStructInfo(tir.type_of(node.value), node.value)


@rule("D05", "derivation")
def string(state: DerivationState, node: ast.StringImm) -> ast.StructInfo:
    return OBJECT


@rule("D06", "derivation")
def data_type(state: DerivationState, node: ast.DataTypeImm) -> ast.StructInfo:
    return OBJECT


@rule("D07", "derivation")
def tuple_(state: DerivationState, node: ast.Tuple) -> ast.StructInfo:
    info = ast.TupleStructInfo(tuple([state.info(field) for field in node.fields]))
    state.inherit(node, node.fields)
    return info


@rule("D08", "derivation")
def shape(state: DerivationState, node: ast.ShapeExpr) -> ast.StructInfo:
    return ast.ShapeStructInfo(node.values, len(node.values))


@rule("D12", "derivation")
def tuple_get_item(state: DerivationState, node: ast.TupleGetItem) -> ast.StructInfo:
    info = state.info(node.tuple_value)
    state.inherit(node, (node.tuple_value,))
    if not isinstance(info, ast.TupleStructInfo):
        if not state.poisoned(node.tuple_value):
            message = f"only a tuple can be indexed with {node.index}, but this is {show(info)}"
            state.add("D12-tuple", "error", message, _place(node), **_about(state, node, info))
            state.doubt(node)
        return OBJECT
    need("D12-tuple", True)
    # A field with an error is still a field.
    if not need("D12-index", node.index in range(len(info.fields))) and info not in state.captured:
        count = len(info.fields)
        have = f"its fields are 0 to {count - 1}" if count else "it is empty"
        message = f"the tuple has no field {node.index}: {have}"
        related = definition(state, node.tuple_value)
        state.add("D12-index", "error", message, _place(node), label=show(info), related=related)
        state.doubt(node)
        return OBJECT
    return info.fields[node.index]


def _about(
    state: DerivationState, node: ast.TupleGetItem, info: ast.StructInfo
) -> dict[str, object]:
    extra: dict[str, object] = {"related": definition(state, node.tuple_value)}
    if type(info) is ast.ObjectStructInfo:
        wanted = ast.TupleStructInfo((OBJECT,) * (max(node.index, 0) + 1))
        value = show(node.tuple_value)
        extra["help"] = f"cast it to a tuple first: R.match_cast({value}, {written(wanted)})"
    elif isinstance(info, ast.ShapeStructInfo) and info.values is not None:
        dims = info.values[node.index : node.index + 1] if node.index >= 0 else ()
        extra["help"] = f"write the dimension itself: {show(dims[0])}" if dims else None
    elif isinstance(info, ast.TensorStructInfo):
        index = f'R.const({node.index}, "int64")'
        extra["help"] = f"take a part of it: R.take({show(node.tuple_value)}, {index}, axis=0)"
    return extra


def _place(node: ast.TupleGetItem) -> Span | None:
    return node.span or own(node.tuple_value)


@rule("D13", "derivation")
def extern_func(state: DerivationState, node: ast.ExternFunc) -> ast.StructInfo:
    return node.struct_info or EXTERNAL


@rule("D09", "derivation")
def if_(state: DerivationState, node: ast.If) -> ast.StructInfo:
    condition = state.info(node.cond)
    if not state.poisoned(node.cond):
        _check_condition(state, node, condition)
    with branch_facts(state, condition, True):
        then = state.info(node.true_branch)
    with branch_facts(state, condition, False):
        other = state.info(node.false_branch)
    state.inherit(node, (node.true_branch, node.false_branch))
    return then if then is other else lub(then, other, state.prover)


def branch_facts(
    state: DerivationState, condition: ast.StructInfo, holds: bool
) -> AbstractContextManager[None]:
    """Assume the condition (or its negation) in a branch, as far as arithmetic can express it."""
    known = arithmetic_condition(condition)
    if known is not None:
        return _assuming(state.prover, known, holds)
    return _NOTHING  # a value of another type than its annotation says is reported where it stands


_NOTHING = nullcontext()


@contextmanager
def _assuming(prover: AliasProver, known: tir.PrimExpr, holds: bool) -> Iterator[None]:
    prover.push()
    prover.assume(known if holds else tir.Not(known))
    try:
        yield
    finally:
        prover.pop()


def _check_condition(state: DerivationState, node: ast.If, info: ast.StructInfo) -> None:
    """A Boolean tensor of rank 0, or a Boolean scalar (ledger 29)."""
    answer = _is_condition(info)
    if need("D09-condition", answer == "yes"):
        return
    span = node.cond_span or node.span
    must = "the condition must be a Boolean tensor of rank 0 or a Boolean scalar"
    related = definition(state, node.cond)
    match answer:
        case "no":
            message = f"{must}, but it is {show(info)}"
            state.add("D09-condition", "error", message, span, related=related)
        case "maybe":
            message = f"{must}, but it is only known to be {show(info)}"
            cast = f'R.match_cast({show(node.cond)}, R.Tensor((), dtype="bool"))'
            help = f"check it at run time: {cast}"
            state.add("D09-condition", "warning", message, span, related=related, help=help)


def _is_condition(info: ast.StructInfo) -> str:
    match info:
        case ast.TensorStructInfo(dtype=dtype, ndim=ndim):
            if ndim > 0 or not (dtype.is_void or dtype == BOOL):
                return "no"
            return "yes" if ndim == 0 and dtype == BOOL else "maybe"
        case ast.PrimStructInfo(dtype=dtype):
            return "yes" if dtype == BOOL else "no"
        case ast.ObjectStructInfo():
            return "maybe"
    return "no"


@rule("D10", "derivation")
def seq_expr(state: DerivationState, node: ast.SeqExpr) -> ast.StructInfo:
    outer = state.enter()
    effects = state.effects
    outside = effects.dataflow
    for block in node.blocks:
        effects.dataflow = outside or type(block) is ast.DataflowBlock
        for binding in block.bindings:
            bind(state, binding)
    effects.dataflow = outside
    return end(state, node, outer)


def end(state: DerivationState, node: ast.SeqExpr, outer: DerivationScope) -> ast.StructInfo:
    """Leave a sequence, all of whose bindings are known: what it yields, in terms of what outlives
    it.
    """
    info = state.info(node.body)
    state.inherit(node, (node.body,))
    info = state.outlived(info)
    scope = state.scope
    state.leave(outer)
    return state.erased(info) if scope.shape_vars or scope.shapes else info
