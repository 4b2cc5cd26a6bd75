"""Binding of a signature's shape variables by the arguments of a call.

A variable is bound where it appears alone: as a dimension of a tensor or of a shape, or as the
value of a scalar. Dimensions that only mention it (``2 * n``) are compared after it is bound.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.order.substitute import (
    Dimensions,
    Image,
    Key,
    dimensions,
    free_shape_vars,
    identical,
    substitute,
    substitute_prim,
)
from rlx.solver.verdict import Relation
from rlx.spec.registry import decide, judged, rule

if TYPE_CHECKING:
    from rlx.solver.prover import Prover


class Conflict(Record):
    """Two images of one variable that are not equal for all values.

    ``relation`` is the result of their comparison: if it is ``"never"``, the call is impossible;
    otherwise it may be possible (ledger 12). It is None if an image is the value of a variable, so
    that nothing is known.
    """

    var: Key
    first: Image
    second: Image
    relation: Relation | None

    @property
    def impossible(self) -> bool:
        """Whether the two images differ for all values of the variables."""
        return self.relation is not None and self.relation.kind == "never"


class Instantiation(Record):
    """The images of the variables given by the arguments.

    Attributes
    ----------
    mapping
        The first image of each variable that has one.
    conflicts
        The further images that are not proved equal to the first.
    unbound
        The variables without an image, because the dimensions of an argument are unknown.
    """

    mapping: dict[Key, Image]
    conflicts: tuple[Conflict, ...]
    unbound: tuple[Key, ...]


class Instance(Record):
    """A function type at one call, without bound variables.

    Variables without an image are replaced by new ones of the same name, so that they are not
    confused with the caller's (in a recursive function); ``unbound`` lists the new variables.
    """

    params: tuple[StructInfo, ...]
    ret: StructInfo
    binding: Instantiation
    unbound: tuple[tir.Var, ...]


class _Matcher:
    """State of one match: which variables may be bound, the images found, and the tuples that
    were matched.
    """

    __slots__ = ("binders", "images", "met")

    def __init__(self, binders: Collection[Key]) -> None:
        self.binders = frozenset(binders)
        self.images: list[tuple[Key, Image]] = []
        self.met: set[tuple[int, int]] = set()

    def match(self, pattern: StructInfo, info: StructInfo) -> None:
        """Note the images in one parameter."""
        kind = type(pattern)
        action = _MATCHES.get(kind)
        if action is not None and kind is type(info):
            action(pattern, info, self)

    def dims(self, pattern: Dimensions, given: Dimensions) -> None:
        """Note the images among the dimensions, if there are equally many."""
        if len(pattern) == len(given):
            for p, g in zip(pattern, given, strict=True):
                if type(p) is tir.Var and p in self.binders:
                    self.images.append((p, g))


@judged("binding", "bind")
def bind(
    params: Sequence[StructInfo],
    args: Sequence[StructInfo],
    binders: Collection[Key],
    prover: Prover,
) -> Instantiation:
    """Bind the variables of a signature by the arguments.

    Parameters
    ----------
    params, args
        The annotations of the parameters and of the arguments; surplus elements of the longer list
        are ignored.
    binders
        The variables to bind: shape variables, and Relax variables in ``shape=``.

    Notes
    -----
    The specification's ``get_shape_var_mapping``, corrected (ledger 11 to 14).
    """
    matcher = _Matcher(binders)
    for param, arg in zip(params, args, strict=False):
        matcher.match(param, arg)
    mapping: dict[Key, Image] = {}
    conflicts: list[Conflict] = []
    for var, image in matcher.images:
        first = mapping.setdefault(var, image)
        if first is not image:
            conflicts.extend(_conflict(var, first, image, prover))
    unbound = tuple(b for b in binders if b not in mapping)
    return Instantiation(mapping, tuple(conflicts), unbound)


def instantiate(func: FuncStructInfo, args: Sequence[StructInfo], prover: Prover) -> Instance:
    """The parameters and the result of a closure type for arguments of these annotations."""
    params = func.params or ()
    if not func.binders:
        return Instance(params, func.ret, Instantiation({}, (), ()), ())
    binding = bind(params, args, func.binders, prover)
    fresh = [(v, tir.Var(v.name, v.dtype)) for v in binding.unbound if isinstance(v, tir.Var)]
    mapping = dict(binding.mapping)
    mapping.update(fresh)
    return Instance(
        tuple(substitute(p, mapping) for p in params),
        substitute(func.ret, mapping),
        binding,
        tuple(new for _, new in fresh),
    )


@rule("BIND-conflict", "instantiation")
def _conflict(var: Key, first: Image, second: Image, prover: Prover) -> list[Conflict]:
    """The conflict between two images of one variable, if there is one."""
    relation: Relation | None = None
    alike = False
    if isinstance(first, PrimExpr) and isinstance(second, PrimExpr):
        alike = identical(first, second)
        relation = None if alike else prover.relate(first, second)
    elif isinstance(first, ast.ShapeExpr) and isinstance(second, ast.ShapeExpr):
        if len(first.values) == len(second.values):
            relation = prover.relate_all(list(zip(first.values, second.values, strict=True)))
        else:
            relation = Relation("never")
    alike = alike or (relation is not None and relation.kind == "always")
    if decide("BIND-conflict-agree", alike):
        return []
    return [Conflict(var, first, second, relation)]


@rule("BIND-tensor", "instantiation")
def _tensor(pattern: TensorStructInfo, info: TensorStructInfo, matcher: _Matcher) -> None:
    shape = pattern.shape
    if isinstance(shape, ast.Var) and shape in matcher.binders:
        if info.shape is not None:
            matcher.images.append((shape, info.shape))
        return
    expected, given = dimensions(pattern), dimensions(info)
    if expected and given:
        matcher.dims(expected, given)


@rule("BIND-shape", "instantiation")
def _shape(pattern: ShapeStructInfo, info: ShapeStructInfo, matcher: _Matcher) -> None:
    if pattern.values and info.values:
        matcher.dims(pattern.values, info.values)


@rule("BIND-prim", "instantiation")
def _prim(pattern: PrimStructInfo, info: PrimStructInfo, matcher: _Matcher) -> None:
    if pattern.value is not None and info.value is not None:
        matcher.dims((pattern.value,), (info.value,))


@rule("BIND-tuple", "instantiation")
def _tuple(pattern: TupleStructInfo, info: TupleStructInfo, matcher: _Matcher) -> None:
    key = id(pattern), id(info)
    if len(pattern.fields) == len(info.fields) and key not in matcher.met:
        matcher.met.add(key)
        for p, i in zip(pattern.fields, info.fields, strict=True):
            matcher.match(p, i)


@rule("BIND-function", "instantiation")
def _function(pattern: FuncStructInfo, info: FuncStructInfo, matcher: _Matcher) -> None:
    """Match parameters; what either function binds itself is nothing outside of it (ledger 13)."""
    if pattern.params is None or info.params is None or len(pattern.params) != len(info.params):
        return
    inner = _Matcher(matcher.binders.difference(pattern.binders))
    for p, i in zip(pattern.params, info.params, strict=True):
        inner.match(p, i)
    own = set(info.binders)
    for var, image in inner.images:
        if not (isinstance(image, PrimExpr) and own.intersection(tir.free_vars(image))):
            matcher.images.append((var, image))


_MATCHES: dict[type[StructInfo], Callable[..., None]] = {
    TensorStructInfo: _tensor,
    ShapeStructInfo: _shape,
    PrimStructInfo: _prim,
    TupleStructInfo: _tuple,
    FuncStructInfo: _function,
}


def unify(
    xs: Sequence[StructInfo], ys: Sequence[StructInfo], flexible: Collection[tir.Var]
) -> dict[Key, Image]:
    """Values of flexible variables that make corresponding dimensions of two lists equal.

    Unlike in :func:`bind`, both sides may have flexible variables. Equations without a variable
    that appears alone are not solved; the caller compares the results.
    """
    equations: list[tuple[PrimExpr, PrimExpr]] = []
    met: set[tuple[int, int]] = set()
    for x, y in zip(xs, ys, strict=True):
        _corresponding(x, y, equations, met)
    solution: dict[Key, Image] = {}
    for left, right in equations:
        a, b = substitute_prim(left, solution), substitute_prim(right, solution)
        for var, image in ((a, b), (b, a)):
            if var in flexible and var not in tir.free_vars(image):
                assert isinstance(var, tir.Var)
                step: dict[Key, Image] = {var: image}
                for solved, old in solution.items():
                    assert isinstance(old, PrimExpr)
                    solution[solved] = substitute_prim(old, step)
                solution[var] = image
                break
    return solution


def _corresponding(
    x: StructInfo,
    y: StructInfo,
    equations: list[tuple[PrimExpr, PrimExpr]],
    met: set[tuple[int, int]],
) -> None:
    """Pairs of dimensions that stand at the same place outside of function types."""
    match x, y:
        case ((TensorStructInfo() | ShapeStructInfo()), (TensorStructInfo() | ShapeStructInfo())):
            xs, ys = dimensions(x), dimensions(y)
            if type(x) is type(y) and xs and ys and len(xs) == len(ys):
                equations.extend(zip(xs, ys, strict=True))
        case PrimStructInfo(value=PrimExpr() as a), PrimStructInfo(value=PrimExpr() as b):
            equations.append((a, b))
        case TupleStructInfo(fields=f), TupleStructInfo(fields=g) if len(f) == len(g):
            if (id(x), id(y)) in met:
                return
            met.add((id(x), id(y)))
            for inner_x, inner_y in zip(f, g, strict=True):
                _corresponding(inner_x, inner_y, equations, met)


def bound_by(
    candidates: Sequence[tir.Var], params: Sequence[StructInfo], ret: StructInfo
) -> tuple[tir.Var, ...] | None:
    """The candidates that are binders of a function type with these parameters and this result.

    None if one is mentioned but never appears alone in the parameters, so that no call binds it.
    """
    if not candidates:
        return ()
    matcher = _Matcher(candidates)
    for param in params:
        matcher.match(param, param)
    bound = {var for var, _ in matcher.images}
    mentioned = {v for part in (*params, ret) for v in free_shape_vars(part)}
    binders = tuple(v for v in candidates if v in mentioned)
    return binders if bound.issuperset(binders) else None
