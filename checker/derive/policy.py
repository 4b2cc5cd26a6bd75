"""The severity of a mismatch: error, warning or note. All rules decide it here.

Certainly broken (for every assignment with all shape variables at least 1; a note says if one with
a 0 would save it) is an error; broken for some
values a warning with a counterexample and the assumption that would mend it; undecided arithmetic a
note for a proof obligation, a warning where the specification says "possibly".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from rlx.checker.derive.doubts import Doubt
from rlx.checker.derive.message_text import show, values
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import BOOL, lacking
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.struct_infos import all_parts
from rlx.solver.order import Compatibility, compatibility, free_shape_vars, free_vars, substitute
from rlx.solver.verdict import Relation
from rlx.spec.registry import need

if TYPE_CHECKING:
    from rlx.checker.derive.environment import Environment
    from rlx.solver.prover import Prover

_TRUE = tir.IntImm(1, BOOL)
_ZERO = "it fails if all shape variables are at least 1; if one of them is 0, it may hold"


class Decision(Record):
    """A decision about what to report; ``extra`` are fields of the diagnostic."""

    severity: str
    message: str
    extra: dict[str, object]


def relation_of(conditions: Iterable[tir.PrimExpr], prover: Prover) -> Relation:
    """The relation of conditions that are decided together."""
    return prover.relate_all([*map(_equation, conditions)])


def _equation(condition: tir.PrimExpr) -> tuple[tir.PrimExpr, tir.PrimExpr]:
    if type(condition) is tir.EQ:
        return condition.a, condition.b
    return condition, _TRUE


def decision_on(relation: Relation, message: str) -> Decision:
    """The diagnostic for a proof obligation that is not proved."""
    match relation.kind:
        case "never":
            return Decision("error", message, evidence(relation))
        case "sometimes":
            return Decision("warning", message, evidence(relation))
    reason = f"; {relation.reason}" if relation.reason else ""
    note = f"neither proved nor refuted{reason}"
    return Decision("note", message, {"notes": (note,)})


def evidence(relation: Relation) -> dict[str, object]:
    """The counterexample, and what would make it hold."""
    extra: dict[str, object] = {}
    notes: list[str] = []
    if relation.counterexample:
        extra["counterexample"] = relation.counterexample
        if relation.kind in ("sometimes", "unknown"):
            notes.append(f"it fails for {values(relation.counterexample)}")
    if relation.assumption is not None:
        notes.append(f"it holds if {show(relation.assumption)}")
    if relation.zero_saves:
        notes.append(_ZERO)
    if notes:
        extra["notes"] = tuple(notes)
    return extra


def mismatch(
    state: Environment,
    label: str,
    found: ast.StructInfo,
    wanted: ast.StructInfo,
    fresh: Collection[tir.Var] = (),
) -> Compatibility | None:
    """Why a value may not stand where another info is expected; None where it may.

    ``label`` is that of the premise, which then holds. ``fresh`` are shape variables that stand for something although no text binds them. Also None
    where well-formedness reports an annotation: nothing follows from it.
    """
    if found is wanted or not state.judges:
        need(label, True)
        return None
    wanted = _unplaced(found, wanted)
    result = compatibility(found, wanted, state.prover)
    if not result.compatible and (free_vars(found) or free_vars(wanted)):
        result = compatibility(_spelled(state, found), _spelled(state, wanted), state.prover)
    match result.kind:
        case "compatible":
            need(label, True)
            return None
        case "possible" if state.depends((found, wanted)):
            return None  # a number of the Python around decides
    return result if _meaningful(state, fresh, found, wanted) else None


def allows_more(state: Environment, wanted: ast.StructInfo, found: ast.StructInfo) -> bool:
    """Whether an annotation that takes what is found also takes other values."""
    if state.depends((found, wanted)):
        return False  # a number of the Python around decides
    said = compatibility(_spelled(state, wanted), _spelled(state, found), state.prover)
    return not said.compatible and typed(found) and typed(wanted)


def typed(info: ast.StructInfo) -> bool:
    """Whether the element types of an info exist."""
    tensors = (part for part in all_parts(info) if isinstance(part, ast.TensorStructInfo))
    return all(lacking(tensor.dtype) is None for tensor in tensors)


def _unplaced(found: ast.StructInfo, wanted: ast.StructInfo) -> ast.StructInfo:
    """The expected type without its device if none is known yet: propagation finds it afterwards."""
    if not (isinstance(found, ast.TensorStructInfo) and isinstance(wanted, ast.TensorStructInfo)):
        return wanted
    if found.vdevice is not None or wanted.vdevice is None:
        return wanted
    return ast.TensorStructInfo(wanted.shape, wanted.dtype, wanted.ndim)


def _spelled(state: Environment, info: ast.StructInfo) -> ast.StructInfo:
    """An info with the dimensions that its variables for shapes are known to hold."""
    known: dict[tir.Var | ast.Var, tir.PrimExpr | ast.Expr] = {}
    for var in free_vars(info):
        shape = state.info_of.get(var)
        if isinstance(shape, ast.ShapeStructInfo) and shape.values is not None:
            known[var] = ast.ShapeExpr(shape.values)
    return substitute(info, known)


def _meaningful(state: Environment, fresh: Collection[tir.Var], *infos: ast.StructInfo) -> bool:
    """Whether well-formedness has nothing to report about infos: their shape variables are in
    scope, and their element types exist.
    """
    known = state.shape_vars
    bound = (v in known or v in fresh for info in infos for v in free_shape_vars(info))
    return all(bound) and all(map(typed, infos))


def unknown_only(result: Compatibility) -> bool:
    """Whether information is missing, and nothing contradicts it."""
    return result.relation is None and not result.never_fits


def repeated(state: Environment, value: ast.Expr, result: Compatibility) -> bool:
    """Whether a warning that was reported before explains why information is missing."""
    return unknown_only(result) and state.doubts.get(value) is Doubt.WARNED


def notes_for(result: Compatibility) -> dict[str, object]:
    """Notes that say where two infos differ, with the counterexample."""
    extra = evidence(result.relation) if result.relation is not None else {}
    if result.path or result.relation is not None:
        notes = extra.get("notes", ())
        assert isinstance(notes, tuple)
        extra["notes"] = (result.message, *notes)
    return extra
