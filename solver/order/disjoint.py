"""Disjointness: two annotations without a common value. A cast between them always fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rlx.grammar.nodes.ast import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.solver.order.bind import instantiate
from rlx.solver.order.compatibility import Compatibility, solve
from rlx.solver.order.substitute import (
    dimensions,
    rank,
    rename_apart,
    same_device,
    same_type,
    unknown_type,
)
from rlx.solver.order.subtype import Goal, name_dimensions, opaque_result, subtype
from rlx.spec.registry import rule

if TYPE_CHECKING:
    from rlx.solver.prover import Prover


def meet_is_empty(a: StructInfo, b: StructInfo, prover: Prover) -> bool:
    """Whether certainly no value belongs to both, with every shape variable at least 1."""
    return disjoint(a, b, prover) is not None


def disjoint(a: StructInfo, b: StructInfo, prover: Prover) -> Compatibility | None:
    """The reason why no value belongs to both, or None if one may.

    Unlike incompatibility, this is symmetric: missing information is no reason, and a pure function
    is also an impure one.
    """
    if a is b:
        return None
    goal = Goal(prover)
    _apart(a, b, goal)
    if goal.failed:
        return Compatibility("incompatible", goal.failed[0])
    if goal.equations:
        joint = solve(goal.equations, prover, directed=False)
        if joint.kind == "incompatible":
            return joint
    return None


def _apart(a: StructInfo, b: StructInfo, goal: Goal) -> None:
    """Collect what keeps two annotations apart, and the dimensions a common value makes equal."""
    kind = type(a)
    if a is b or kind is ObjectStructInfo or type(b) is ObjectStructInfo:
        return
    if kind is type(b):
        _RULES[kind](a, b, goal)
    else:
        _other_kind(a, b, goal)


@rule("MEET-kind", "meeting", refuses=True)
def _other_kind(a: StructInfo, b: StructInfo, goal: Goal) -> None:
    goal.need("MEET-kind-same", False, a, b)


@rule("MEET-tensor", "meeting")
def _tensor(a: TensorStructInfo, b: TensorStructInfo, goal: Goal) -> None:
    unknown = unknown_type(a.dtype) or unknown_type(b.dtype)
    goal.need("MEET-tensor-dtype", unknown or same_type(a.dtype, b.dtype), a, b)
    unplaced = a.vdevice is None or b.vdevice is None
    goal.need("MEET-tensor-device", unplaced or same_device(a.vdevice, b.vdevice), a, b)
    _dimensions("MEET-tensor-rank", "MEET-tensor-shape", a, b, goal)


@rule("MEET-shape", "meeting")
def _shape(a: ShapeStructInfo, b: ShapeStructInfo, goal: Goal) -> None:
    _dimensions("MEET-shape-rank", "MEET-shape-values", a, b, goal)


def _dimensions(
    rank_code: str,
    dims_code: str,
    a: TensorStructInfo | ShapeStructInfo,
    b: TensorStructInfo | ShapeStructInfo,
    goal: Goal,
) -> None:
    if not goal.need(rank_code, -1 in (rank(a), rank(b)) or rank(a) == rank(b), a, b):
        return
    xs, ys = dimensions(a), dimensions(b)
    if xs is not None and ys is not None and len(xs) == len(ys):
        goal.equate(dims_code, xs, ys, a, b)


@rule("MEET-prim", "meeting")
def _prim(a: PrimStructInfo, b: PrimStructInfo, goal: Goal) -> None:
    same = goal.need("MEET-prim-dtype", same_type(a.dtype, b.dtype), a, b)
    if same and a.value is not None and b.value is not None:
        goal.equate("MEET-prim-value", (a.value,), (b.value,), a, b)


@rule("MEET-tuple", "meeting")
def _tuple(a: TupleStructInfo, b: TupleStructInfo, goal: Goal) -> None:
    alike = goal.need("MEET-tuple-length", len(a.fields) == len(b.fields), a, b)
    if not alike or not goal.is_new(a, b):
        return
    for i, (x, y) in enumerate(zip(a.fields, b.fields, strict=True)):
        _inside("field", i, x, y, goal)


def _inside(step: str, index: int, a: StructInfo, b: StructInfo, goal: Goal) -> None:
    goal.path.append((step, index))
    _apart(a, b, goal)
    goal.path.pop()


@rule("MEET-function", "meeting")
def _function(a: FuncStructInfo, b: FuncStructInfo, goal: Goal) -> None:
    if a.params is None or b.params is None:
        if a.params is not b.params:
            _opaque_result(a, b, goal)
    elif goal.need("MEET-function-arity", len(a.params) == len(b.params), a, b):
        for f, g in ((a, b), (b, a)):
            if _results(f, g, goal):
                return


def _opaque_result(a: FuncStructInfo, b: FuncStructInfo, goal: Goal) -> None:
    """A closure among opaque functions yields what both say of the result."""
    x, y = (rename_apart(f).ret if f.params is not None else opaque_result(f) for f in (a, b))
    if x is not None and y is not None:
        _inside("result", 0, x, y, goal)


def _results(a: FuncStructInfo, b: FuncStructInfo, goal: Goal) -> bool:
    """Compare the results of a call that both functions accept; whether such a call is known.

    A function in both types is called with the parameters of ``b``. If ``a`` accepts them, what it
    returns belongs to both results.
    """
    b = rename_apart(b)
    args = tuple(name_dimensions(p, q) for p, q in zip(a.params or (), b.params or (), strict=True))
    instance = instantiate(a, args, goal.prover)
    accepted = all(
        subtype(arg, param, goal.prover).status == "proved"
        for arg, param in zip(args, instance.params, strict=True)
    )
    if accepted:
        _inside("result", 0, instance.ret, b.ret, goal)
    return accepted


_RULES: dict[type[StructInfo], Callable[..., None]] = {
    TensorStructInfo: _tensor,
    ShapeStructInfo: _shape,
    PrimStructInfo: _prim,
    TupleStructInfo: _tuple,
    FuncStructInfo: _function,
}
