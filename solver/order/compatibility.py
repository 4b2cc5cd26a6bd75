"""Compatibility: whether a value of one StructInfo may be passed where another one is expected.

Subtyping determines the failing premises. Compatibility classifies each failure: it is definite, or
only missing information that a run-time check could provide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, NoReturn

from rlx.grammar.nodes.ast import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.order.mismatch_text import where, why
from rlx.solver.order.partial import demand
from rlx.solver.order.substitute import apart, rank, same_text, unknown_type
from rlx.solver.order.subtype import Goal, Mismatch, Path, compare, sides
from rlx.solver.verdict import Relation
from rlx.spec.registry import judged, need, refuted, rule

if TYPE_CHECKING:
    from rlx.solver.prover import Prover


Kind = Literal["compatible", "possible", "incompatible"]


class Compatibility(Record):
    """Whether a value may be passed, and the reason if not.

    Attributes
    ----------
    kind
        ``"compatible"``: always. ``"possible"``: some values fit, or this is unknown.
        ``"incompatible"``: no value fits (with every shape variable at least 1).
    reason
        The failing premise; None if compatible. Its code is that of this judgement
        (``COMPAT-tensor-dtype``); ``left`` and ``right`` are the differing dimensions.
    relation
        The relation of the dimensions, if they differ.
    """

    kind: Kind
    reason: Mismatch | None = None
    relation: Relation | None = None

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a compatibility has no truth value (compatible, possible or incompatible): compare"
            f" its kind (here {self.kind!r})"
        )

    @property
    def compatible(self) -> bool:
        """Whether every value may be passed."""
        return self.kind == "compatible"

    @property
    def never_fits(self) -> bool:
        """Whether it is certain that no value may be passed."""
        return self.kind == "incompatible"

    @property
    def message(self) -> str:
        """The mismatch with both values and its location; empty if compatible."""
        if self.reason is None:
            return ""

        place = where(self.path[:-1] if self.reason.left is not None else self.path)
        return f"{place}: {why(self.reason)}" if place else why(self.reason)

    @property
    def path(self) -> Path:
        """The path to the mismatch in the annotations."""
        return self.reason.path if self.reason else ()

    @property
    def counterexample(self) -> Mapping[str, int] | None:
        """Values of shape variables for which dimensions differ."""
        return None if self.relation is None else self.relation.counterexample

    @property
    def assumption(self) -> PrimExpr | None:
        """A condition under which the dimensions are equal."""
        return None if self.relation is None else self.relation.assumption

    @property
    def zero_saves(self) -> bool:
        """Whether otherwise different dimensions agree if a variable is 0."""
        return self.relation is not None and self.relation.zero_saves


COMPATIBLE = Compatibility("compatible")


@judged("comparison", "compatibility")
def compatibility(a: StructInfo, b: StructInfo, prover: Prover) -> Compatibility:
    """Whether a value annotated ``a`` may be used where ``b`` is expected.

    Notes
    -----
    The specification's ``check_compatibility``, corrected (ledger 16 to 26).
    """
    if a is b:
        return COMPATIBLE
    goal = Goal(prover)
    compare(a, b, goal)
    if not goal.failed and not goal.equations:
        return COMPATIBLE
    doubtful: Compatibility | None = None
    for mismatch in goal.failed:
        weighed = _weigh(mismatch)
        if weighed.kind == "incompatible":
            return weighed
        doubtful = weighed if doubtful is None else doubtful
    if goal.equations:
        joint = solve(goal.equations, prover)
        if joint.kind == "incompatible" or doubtful is None:
            return joint
    assert doubtful is not None
    return doubtful


def _weigh(mismatch: Mismatch) -> Compatibility:
    """The meaning of a failing premise of subtyping for compatibility."""
    _, rule_name, premise = mismatch.code.split("-")
    given, wanted = mismatch.given, mismatch.wanted
    hope = _HOPES[rule_name](premise, given, wanted)
    code = f"COMPAT-{rule_name}-{premise}"
    refuted(code)
    reason = Mismatch(code, given, wanted, mismatch.path)
    return Compatibility("possible" if hope else "incompatible", reason)


@rule("COMPAT-kind", "compatibility")
def _kind(premise: str, given: StructInfo, wanted: StructInfo) -> bool:
    """An Object may be a value of any kind."""
    return type(given) is ObjectStructInfo


@rule("COMPAT-tensor", "compatibility")
def _tensor(premise: str, given: TensorStructInfo, wanted: TensorStructInfo) -> bool:
    match premise:
        case "dtype":
            return unknown_type(given.dtype)
        case "rank":
            return rank(given) < 0
        case "device":
            return given.vdevice is None
    return True


@rule("COMPAT-shape", "compatibility")
def _shape(premise: str, given: ShapeStructInfo, wanted: ShapeStructInfo) -> bool:
    return premise == "values" or rank(given) < 0


@rule("COMPAT-prim", "compatibility")
def _prim(premise: str, given: PrimStructInfo, wanted: PrimStructInfo) -> bool:
    return premise == "value"


@rule("COMPAT-tuple", "compatibility")
def _tuple(premise: str, given: TupleStructInfo, wanted: TupleStructInfo) -> bool:
    return False


@rule("COMPAT-function", "compatibility")
def _function(premise: str, given: FuncStructInfo, wanted: FuncStructInfo) -> bool:
    return premise == "kind"


@rule("COMPAT-opaque", "compatibility")
def _opaque(premise: str, given: FuncStructInfo, wanted: FuncStructInfo) -> bool:
    return premise == "derivation"


_HOPES: dict[str, Callable[..., bool]] = {
    "kind": _kind,
    "tensor": _tensor,
    "shape": _shape,
    "prim": _prim,
    "tuple": _tuple,
    "function": _function,
    "opaque": _opaque,
}
"""Whether a value may still fit, by the kind of the failed rule."""


@rule("COMPAT-joint", "compatibility")
def solve(equations: list[Mismatch], prover: Prover, directed: bool = True) -> Compatibility:
    """Decide all equations of dimensions together, under one assignment of the variables.
    `directed`: whether the expected dimensions must be defined wherever the given ones are.
    """
    for equation in equations:
        if apart(*sides(equation)):
            return _blame(equation, Relation("never"))
    relation = prover.relate_all([sides(e) for e in equations])
    match relation.kind:
        case "always":
            found = None
        case "unknown" if len(left := _not_alike(equations)) < len(equations):
            return solve(left, prover, directed) if left else COMPATIBLE
        case _:
            found = _culprit(equations, relation, prover)
    if found is None:
        need("COMPAT-joint-solvable", True)
        return _where_given(equations, prover) if directed else COMPATIBLE
    culprit, alone = found
    if alone is not None:
        return _blame(culprit, alone)
    code = "COMPAT-joint-solvable"
    refuted(code)
    reason = Mismatch(code, culprit.given, culprit.wanted, culprit.path[:-1])
    return Compatibility(_kind_of(relation), reason, relation)


def _not_alike(equations: list[Mismatch]) -> list[Mismatch]:
    """The equations whose sides are not written alike."""
    return [equation for equation in equations if not same_text(*sides(equation))]


def _where_given(equations: list[Mismatch], prover: Prover) -> Compatibility:
    """The judgement where all dimensions are equal wherever they have values: is one expected where
    none is?
    """
    for equation in equations:
        needed = demand(*sides(equation))
        if needed is not None:
            relation = prover.relate(needed, prim_exprs.TRUE)
            if relation.kind != "always":
                return _blame(equation, relation)
    return COMPATIBLE


def _kind_of(relation: Relation) -> Kind:
    return "incompatible" if relation.kind == "never" else "possible"


def _blame(equation: Mismatch, relation: Relation) -> Compatibility:
    """The judgement where one equation is at fault by itself."""
    code = equation.code.replace("SUB", "COMPAT", 1)
    refuted(code)
    left, right = sides(equation)
    reason = Mismatch(code, equation.given, equation.wanted, equation.path, left, right)
    return Compatibility(_kind_of(relation), reason, relation)


def _culprit(
    equations: list[Mismatch], relation: Relation, prover: Prover
) -> tuple[Mismatch, Relation | None] | None:
    """The equation to blame, and how it fails by itself, if all fail like that together; None where
    each holds.
    """
    if len(equations) == 1:
        return equations[0], relation
    kinds: dict[str, tuple[Mismatch, Relation]] = {}
    for equation in equations:
        alone = prover.relate(*sides(equation))
        kinds.setdefault(alone.kind, (equation, alone))
    for kind in ("never", "sometimes", "unknown"):
        if kind in kinds:
            culprit, alone = kinds[kind]
            if relation.kind == "unknown":
                return culprit, alone
            return culprit, relation if kind == relation.kind else None
    return None
