"""Subtyping: every value of one StructInfo is a value of the other, for all values of the
variables.

The rules only find the failing premises and the equations of dimensions;
:mod:`rlx.solver.order.compatibility` decides whether a failure is definite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.order.bind import instantiate
from rlx.solver.order.partial import demand
from rlx.solver.order.substitute import (
    Dimensions,
    apart,
    dimensions,
    identical,
    rank,
    rename_apart,
    same_device,
    same_text,
    same_type,
    unknown_type,
)
from rlx.solver.verdict import Proved, Refuted, Unknown, Verdict
from rlx.spec.registry import need, refuted, rule

if TYPE_CHECKING:
    from rlx.solver.prover import Prover

Path = tuple[tuple[str, int], ...]
"""A path inside an annotation: ``(("field", 1), ("parameter", 0), ("dimension", 2))``, all from
0.
"""


class Mismatch(Record):
    """A failing premise, or two dimensions that must be equal.

    Attributes
    ----------
    code
        The premise: ``SUB-tensor-dtype``.
    given, wanted
        The two mismatching annotations at ``path``. Inside a parameter of a function ``given`` is
        what callers pass.
    path
        Their path in the compared annotations.
    left, right
        The two dimensions, if dimensions differ.
    """

    code: str
    given: StructInfo
    wanted: StructInfo
    path: Path
    left: PrimExpr | None = None
    right: PrimExpr | None = None


def sides(equation: Mismatch) -> tuple[PrimExpr, PrimExpr]:
    """The two dimensions that must be equal."""
    assert equation.left is not None and equation.right is not None
    return equation.left, equation.right


class NotSubtype(Refuted):
    """Refuted, with the failing premise."""

    mismatch: Mismatch | None = None


class UndecidedDims(Unknown):
    """Unknown, with the dimensions that could not be compared."""

    mismatch: Mismatch | None = None


class Goal:
    """The state of one comparison: failed premises, and dimensions that must be equal.

    Two tuples that meet several times are compared once: what they require is the same.
    """

    __slots__ = ("_met", "equations", "failed", "path", "prover")

    def __init__(self, prover: Prover) -> None:
        self.prover = prover
        self.path: list[tuple[str, int]] = []
        self.failed: list[Mismatch] = []
        self.equations: list[Mismatch] = []
        self._met: dict[tuple[int, int], tuple[StructInfo, StructInfo]] = {}

    def is_new(self, given: StructInfo, wanted: StructInfo) -> bool:
        """Whether these two tuples meet for the first time."""
        key = id(given), id(wanted)
        if key in self._met:
            return False
        self._met[key] = given, wanted  # kept, so that the identities stay theirs
        return True

    def need(self, code: str, holds: bool, given: StructInfo, wanted: StructInfo) -> bool:
        """Whether a premise holds; one that fails is recorded."""
        if not need(code, holds):
            self.fail(code, given, wanted)
        return holds

    def fail(self, code: str, given: StructInfo, wanted: StructInfo) -> None:
        """Record a failing premise."""
        refuted(code)
        self.failed.append(Mismatch(code, given, wanted, tuple(self.path)))

    def equate(
        self, code: str, xs: Dimensions, ys: Dimensions, given: StructInfo, wanted: StructInfo
    ) -> None:
        """Record dimensions that must be equal; trivially equal ones are skipped.

        The premise holds so far: all equations are decided together afterwards.
        """
        need(code, True)
        step = "value" if type(wanted) is PrimStructInfo else "dimension"
        for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
            if not identical(x, y):
                path = (*self.path, (step, i))
                self.equations.append(Mismatch(code, given, wanted, path, x, y))

    def inside(self, step: str, index: int, given: StructInfo, wanted: StructInfo) -> None:
        """Compare two parts."""
        if given is not wanted:
            self.path.append((step, index))
            compare(given, wanted, self)
            self.path.pop()


def subtype(a: StructInfo, b: StructInfo, prover: Prover) -> Verdict:
    """Whether every value of ``a`` is a value of ``b``, for all values of the shape variables.

    A dimension of ``b`` must be defined wherever that of ``a`` is; ``Proved.divisors`` are then
    nonzero.

    Returns
    -------
    Verdict
        :class:`NotSubtype` has the failing premise and, if dimensions differ, values for which they
        do; :class:`UndecidedDims` the dimensions that could not be compared.
    """
    if a is b:
        return IDENTICAL
    goal = Goal(prover)
    compare(a, b, goal)
    if goal.failed:
        return NotSubtype({}, {}, "structure", None, goal.failed[0])
    return _all_equal(goal) if goal.equations else STRUCTURE


IDENTICAL = Proved("identical")
STRUCTURE = Proved("structure")


def _all_equal(goal: Goal) -> Verdict:
    """Whether all equations of a goal hold for all values."""
    undecided: UndecidedDims | None = None
    divisors: list[PrimExpr] = []
    means = STRUCTURE.means
    for equation in goal.equations:
        match _equal(equation, goal.prover):
            case NotSubtype() as verdict:
                refuted(equation.code)
                return verdict
            case UndecidedDims() as verdict:
                undecided = verdict if undecided is None else undecided
            case Proved(means=means, divisors=more):
                divisors += more
    return Proved(means, tuple(divisors)) if undecided is None else undecided


def _equal(equation: Mismatch, prover: Prover) -> Verdict:
    """Whether the two dimensions of an equation are equal for all values."""
    left, right = sides(equation)
    if apart(left, right):
        return NotSubtype({}, {}, "structure", None, equation)
    match prover.equal(left, right):
        case Refuted(example=example, values=values, means=means, overflow=overflow):
            return NotSubtype(example, values, means, overflow, equation)
        case Unknown(reason=reason):
            return STRUCTURE if same_text(left, right) else UndecidedDims(reason, equation)
        case verdict:
            return _where_given(equation, verdict, prover)


def _where_given(equation: Mismatch, proved: Verdict, prover: Prover) -> Verdict:
    """The verdict on two dimensions that are equal wherever both have a value: is one wanted where
    none is?
    """
    needed = demand(*sides(equation))
    if needed is None:
        return proved
    match prover.always(needed):
        case Refuted(example=example, values=values, means=means, overflow=overflow):
            return NotSubtype(example, values, means, overflow, equation)
        case Unknown(reason=reason):
            return UndecidedDims(reason, equation)
    return proved


def compare(a: StructInfo, b: StructInfo, goal: Goal) -> None:
    """Collect the conditions for ``a`` to be a subtype of ``b``."""
    kind = type(b)
    if kind is type(a):
        if a is not b:
            _RULES[kind](a, b, goal)
    elif kind is ObjectStructInfo:
        _object(a, b, goal)
    else:
        _other_kind(a, b, goal)


@rule("SUB-object", "subtyping")
def _object(a: StructInfo, b: StructInfo, goal: Goal) -> None:
    """Every value is an object."""


@rule("SUB-kind", "subtyping", refuses=True)
def _other_kind(a: StructInfo, b: StructInfo, goal: Goal) -> None:
    goal.need("SUB-kind-same", False, a, b)


@rule("SUB-tensor", "subtyping")
def _tensor(a: TensorStructInfo, b: TensorStructInfo, goal: Goal) -> None:
    given, wanted = a.dtype, b.dtype
    goal.need("SUB-tensor-dtype", same_type(given, wanted) or unknown_type(wanted), a, b)
    placed = b.vdevice is None or same_device(a.vdevice, b.vdevice)
    goal.need("SUB-tensor-device", placed, a, b)
    if goal.need("SUB-tensor-rank", rank(b) in (-1, rank(a)), a, b):
        _tensor_shape(a, b, goal)


def _tensor_shape(a: TensorStructInfo, b: TensorStructInfo, goal: Goal) -> None:
    """Compare the shapes of two tensors whose ranks do not forbid that they are equal."""
    if b.shape is None or a.shape is b.shape:
        need("SUB-tensor-shape", True)
        return
    xs, ys = dimensions(a), dimensions(b)
    if xs is not None and ys is not None and len(xs) == len(ys):
        goal.equate("SUB-tensor-shape", xs, ys, a, b)
    else:
        goal.fail("SUB-tensor-shape", a, b)


@rule("SUB-shape", "subtyping")
def _shape(a: ShapeStructInfo, b: ShapeStructInfo, goal: Goal) -> None:
    if not goal.need("SUB-shape-rank", rank(b) in (-1, rank(a)), a, b):
        return
    xs, ys = dimensions(a), dimensions(b)
    if goal.need("SUB-shape-values", ys is None or xs is not None, a, b) and xs and ys:
        goal.equate("SUB-shape-values", xs, ys, a, b)


@rule("SUB-prim", "subtyping")
def _prim(a: PrimStructInfo, b: PrimStructInfo, goal: Goal) -> None:
    if not goal.need("SUB-prim-dtype", same_type(a.dtype, b.dtype), a, b):
        return
    known = b.value is None or a.value is not None
    if goal.need("SUB-prim-value", known, a, b) and a.value is not None and b.value is not None:
        goal.equate("SUB-prim-value", (a.value,), (b.value,), a, b)


@rule("SUB-tuple", "subtyping")
def _tuple(a: TupleStructInfo, b: TupleStructInfo, goal: Goal) -> None:
    alike = goal.need("SUB-tuple-length", len(a.fields) == len(b.fields), a, b)
    if not alike or not goal.is_new(a, b):
        return
    for i, (x, y) in enumerate(zip(a.fields, b.fields, strict=True)):
        goal.inside("field", i, x, y)


def _callable(a: FuncStructInfo, b: FuncStructInfo, goal: Goal) -> None:
    """Choose the rule for two function types."""
    if b.params is None:
        _opaque(a, b, goal)
    else:
        _function(a, b, goal)


@rule("SUB-function", "subtyping")
def _function(a: FuncStructInfo, b: FuncStructInfo, goal: Goal) -> None:
    assert b.params is not None
    goal.need("SUB-function-purity", a.purity or not b.purity, a, b)
    if a.params is None:
        goal.fail("SUB-function-kind", a, b)
        return
    need("SUB-function-kind", True)
    if not goal.need("SUB-function-arity", len(a.params) == len(b.params), a, b):
        return
    b = rename_apart(b)
    args = b.params or ()
    if a.binders:
        args = tuple(name_dimensions(p, q) for p, q in zip(a.params, args, strict=True))
    instance = instantiate(a, args, goal.prover)
    for i, (param, arg) in enumerate(zip(instance.params, args, strict=True)):
        goal.inside("parameter", i, arg, param)
    goal.inside("result", 0, instance.ret, b.ret)


def name_dimensions(pattern: StructInfo, info: StructInfo) -> StructInfo:
    """``info`` with new names for its unnamed dimensions, if ``pattern`` binds some.

    A function that takes every tensor of rank 1 is one that takes a tensor of ``d0`` elements, for
    every ``d0``; so a function that binds ``n`` there can be used instead.
    """
    match pattern, info:
        case TensorStructInfo(), TensorStructInfo(shape=None) if dimensions(info) is None:
            if dimensions(pattern) and rank(pattern) == info.ndim:
                dims = ShapeExpr(_names(info.ndim))
                return TensorStructInfo(dims, info.dtype, info.ndim, info.vdevice)
        case ShapeStructInfo(), ShapeStructInfo(values=None) if pattern.values:
            if rank(pattern) == info.ndim:
                return ShapeStructInfo(_names(info.ndim), info.ndim)
        case PrimStructInfo(value=tir.Var()), PrimStructInfo(value=None):
            if pattern.dtype == info.dtype:
                return PrimStructInfo(info.dtype, tir.Var("d0", info.dtype))
        case TupleStructInfo(fields=ps), TupleStructInfo(fields=fs) if len(ps) == len(fs):
            return TupleStructInfo(
                tuple(name_dimensions(p, f) for p, f in zip(ps, fs, strict=True))
            )
    return info


def _names(count: int) -> tuple[tir.Var, ...]:
    return tuple(tir.Var(f"d{i}") for i in range(count))


@rule("SUB-opaque", "subtyping")
def _opaque(a: FuncStructInfo, b: FuncStructInfo, goal: Goal) -> None:
    goal.need("SUB-opaque-purity", a.purity or not b.purity, a, b)
    given, wanted = opaque_result(a), opaque_result(b)
    if given is None or wanted is None:
        alike = a.params is None and a.derive_func == b.derive_func
        goal.need("SUB-opaque-derivation", alike or wanted is OBJECT, a, b)
    else:
        goal.inside("result", 0, given, wanted)


def says_nothing(info: FuncStructInfo) -> bool:
    """Whether every function has this type: it gives neither parameters nor a result."""
    opaque = info.params is None and not info.purity
    return opaque and (info.derive_func is not None or type(info.ret) is ObjectStructInfo)


def opaque_result(info: FuncStructInfo) -> StructInfo | None:
    """The result of every call of an opaque function; None if each call declares its own, and for a
    closure.

    A closure may accept more arguments than its type allows, and return other results for them.

    ``empty`` derives Object, and so is the same as a function annotated with the result Object.
    """
    if info.derive_func == "empty":
        return OBJECT
    if info.derive_func is not None or info.params is not None:
        return None
    return OBJECT if type(info.ret) is ObjectStructInfo else info.ret


_RULES: dict[type[StructInfo], Callable[..., None]] = {
    ObjectStructInfo: _object,
    TensorStructInfo: _tensor,
    ShapeStructInfo: _shape,
    PrimStructInfo: _prim,
    TupleStructInfo: _tuple,
    FuncStructInfo: _callable,
}
