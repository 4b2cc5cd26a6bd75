"""Least upper bounds and greatest lower bounds of StructInfo.

Shapes are compared modulo arithmetic: shapes that are not proved equal count as different. If there
is no lower bound, the result is None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import (
    Expr,
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    VDevice,
)
from rlx.grammar.nodes.dtype import VOID, DataType
from rlx.grammar.nodes.node import all_same
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.order.bind import bind, bound_by, unify
from rlx.solver.order.partial import lower, upper
from rlx.solver.order.substitute import (
    Dimensions,
    Image,
    Key,
    dimensions,
    rank,
    rename_apart,
    same_device,
    same_type,
    substitute,
    unknown_type,
)
from rlx.solver.order.subtype import opaque_result, subtype
from rlx.spec.registry import rule

if TYPE_CHECKING:
    from rlx.solver.prover import Prover


Choose = Callable[[Dimensions, Dimensions, "Prover"], Dimensions | None]
"""Selects the dimensions of a bound: those that follow, or those that are followed."""


class KnownBounds:
    """The bounds of tuples that one comparison has found.

    Two tuples may meet several times in two annotations that share their parts.
    """

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, int], tuple[StructInfo, StructInfo, Any]] = {}

    def of(
        self, kind: str, a: StructInfo, b: StructInfo, make: Callable[[], StructInfo | None]
    ) -> Any:
        """The bound of two tuples, made at their first meeting."""
        key = kind, id(a), id(b)
        if key not in self._found:
            # The tuples are kept, so that the identities stay theirs.
            self._found[key] = a, b, make()
        return self._found[key][2]


def lub(
    a: StructInfo, b: StructInfo, prover: Prover, known: KnownBounds | None = None
) -> StructInfo:
    """The least upper bound; ``a`` itself if ``b`` adds nothing.

    Parameters
    ----------
    known
        The bounds already found by the comparison that this one is part of.

    Notes
    -----
    The specification's ``unify_struct_info``, corrected (ledger 1 to 5).
    """
    if a is b:
        return a
    kind = type(a)
    if kind is not type(b) or kind is ObjectStructInfo:
        return _different(a, b)
    return _LUB[kind](a, b, prover, known or KnownBounds())


def glb(
    a: StructInfo, b: StructInfo, prover: Prover, known: KnownBounds | None = None
) -> StructInfo | None:
    """The greatest lower bound, or None if there is none (or none is found); ``known`` as for
    :func:`lub`.
    """
    if a is b:
        return a
    kind = type(a)
    if kind is type(b) and kind is not ObjectStructInfo:
        return _GLB[kind](a, b, prover, known or KnownBounds())
    return _one_of(a, b)


@rule("LUB-object", "least upper bound")
def _different(a: StructInfo, b: StructInfo) -> StructInfo:
    return OBJECT


@rule("GLB-object", "greatest lower bound")
def _one_of(a: StructInfo, b: StructInfo) -> StructInfo | None:
    if type(a) is ObjectStructInfo:
        return b
    return a if type(b) is ObjectStructInfo else None


def _tensor(
    like: TensorStructInfo,
    shape: Expr | None,
    dtype: DataType,
    ndim: int,
    vdevice: VDevice | None,
) -> TensorStructInfo:
    """A tensor of these fields, ``like`` itself if it has them."""
    same = shape is like.shape and dtype is like.dtype and vdevice is like.vdevice
    return like if same and ndim == rank(like) else TensorStructInfo(shape, dtype, ndim, vdevice)


def _bound_of_shapes(
    a: TensorStructInfo, b: TensorStructInfo, prover: Prover, choose: Choose
) -> tuple[bool, Expr | None]:
    """Whether both say the same dimensions, one by one or by the same variable; and the shape that
    says so.
    """
    if a.shape is b.shape and a.shape is not None:
        return True, a.shape
    xs, ys = dimensions(a), dimensions(b)
    dims = None if xs is None or ys is None else choose(xs, ys, prover)
    if dims is None:
        return False, None
    return True, a.shape if dims is xs else ShapeExpr(dims)


@rule("LUB-tensor", "least upper bound")
def _join_tensors(
    a: TensorStructInfo, b: TensorStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo:
    ndim = rank(a) if rank(a) == rank(b) else -1
    _, shape = _bound_of_shapes(a, b, prover, upper)
    dtype = a.dtype if same_type(a.dtype, b.dtype) else VOID
    vdevice = a.vdevice if same_device(a.vdevice, b.vdevice) else None
    return _tensor(a, shape, dtype, ndim, vdevice)


@rule("GLB-tensor", "greatest lower bound")
def _meet_tensors(
    a: TensorStructInfo, b: TensorStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo | None:
    both = a.shape is not None and b.shape is not None
    same, shape = _bound_of_shapes(a, b, prover, lower) if both else (True, a.shape or b.shape)
    contradiction = (
        not same
        or (rank(a) >= 0 and rank(b) >= 0 and rank(a) != rank(b))
        or not (unknown_type(a.dtype) or unknown_type(b.dtype) or same_type(a.dtype, b.dtype))
        or not (a.vdevice is None or b.vdevice is None or same_device(a.vdevice, b.vdevice))
    )
    if contradiction:
        return None
    dtype = b.dtype if unknown_type(a.dtype) else a.dtype
    return _tensor(a, shape, dtype, max(rank(a), rank(b)), a.vdevice or b.vdevice)


@rule("LUB-shape", "least upper bound")
def _join_shapes(
    a: ShapeStructInfo, b: ShapeStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo:
    if rank(a) < 0 or rank(a) != rank(b):
        return a if rank(a) < 0 else ShapeStructInfo()
    xs, ys = dimensions(a), dimensions(b)
    dims = xs if xs is None or ys is None else upper(xs, ys, prover)
    if xs is None or (ys is not None and dims is xs):
        return a
    return ShapeStructInfo(None if ys is None else dims, rank(a))


@rule("GLB-shape", "greatest lower bound")
def _meet_shapes(
    a: ShapeStructInfo, b: ShapeStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo | None:
    if rank(a) >= 0 and rank(b) >= 0 and rank(a) != rank(b):
        return None
    xs, ys = dimensions(a), dimensions(b)
    if xs is not None and ys is not None:
        dims = lower(xs, ys, prover)
        if dims is None:
            return None
        return a if dims is xs else ShapeStructInfo(dims, rank(a))
    return b if ys is not None or rank(a) < 0 else a


@rule("LUB-prim", "least upper bound")
def _join_prims(
    a: PrimStructInfo, b: PrimStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo:
    if not same_type(a.dtype, b.dtype):
        return OBJECT
    if a.value is None:
        return a
    dims = None if b.value is None else upper((a.value,), (b.value,), prover)
    if dims is None:
        return PrimStructInfo(a.dtype)
    (value,) = dims
    return a if value is a.value else b


@rule("GLB-prim", "greatest lower bound")
def _meet_prims(
    a: PrimStructInfo, b: PrimStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo | None:
    if not same_type(a.dtype, b.dtype):
        return None
    if a.value is None or b.value is None:
        return b if a.value is None else a
    dims = lower((a.value,), (b.value,), prover)
    if dims is None:
        return None
    (value,) = dims
    return a if value is a.value else b


@rule("LUB-tuple", "least upper bound")
def _join_tuples(
    a: TupleStructInfo, b: TupleStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo:
    if len(a.fields) != len(b.fields):
        return OBJECT

    def joined() -> StructInfo:
        fields = tuple(lub(x, y, prover, known) for x, y in zip(a.fields, b.fields, strict=True))
        return a if all_same(fields, a.fields) else TupleStructInfo(fields)

    found: StructInfo = known.of("lub", a, b, joined)
    return found


@rule("GLB-tuple", "greatest lower bound")
def _meet_tuples(
    a: TupleStructInfo, b: TupleStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo | None:
    def met() -> StructInfo | None:
        fields = _meet_all(a.fields, b.fields, prover, known)
        if fields is None:
            return None
        return a if all_same(fields, a.fields) else TupleStructInfo(fields)

    found: StructInfo | None = known.of("glb", a, b, met)
    return found


def _meet_all(
    xs: tuple[StructInfo, ...], ys: tuple[StructInfo, ...], prover: Prover, known: KnownBounds
) -> tuple[StructInfo, ...] | None:
    """The lower bounds of corresponding annotations, None unless all exist."""
    if len(xs) != len(ys):
        return None
    met: list[StructInfo] = []
    for x, y in zip(xs, ys, strict=True):
        both = glb(x, y, prover, known)
        if both is None:
            return None
        met.append(both)
    return tuple(met)


def _join_callables(
    a: FuncStructInfo, b: FuncStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo:
    if a.params is None or b.params is None:
        return _join_opaque(a, b, prover, known)
    return _join_functions(a, b, prover, known)


def _meet_callables(
    a: FuncStructInfo, b: FuncStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo | None:
    if a.params is None and b.params is None:
        return _meet_opaque(a, b, prover, known)
    return _meet_functions(a, b, prover, known)


@rule("LUB-function", "least upper bound")
def _join_functions(
    a: FuncStructInfo, b: FuncStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo:
    """Callable with what both accept: parameters are met, with the variables of both free to
    choose.
    """
    assert a.params is not None
    assert b.params is not None
    least = FuncStructInfo(None, OBJECT, a.purity and b.purity, "empty")
    if len(a.params) != len(b.params):
        return least
    f, g = rename_apart(a), rename_apart(b)
    solution = unify(f.params or (), g.params or (), (*f.binders, *g.binders))
    f_params, f_ret = _instance(f, solution)
    g_params, g_ret = _instance(g, solution)
    params = _meet_all(f_params, g_params, prover, known)
    if params is None:
        return least
    ret = lub(f_ret, g_ret, prover, known)
    binders = bound_by((*f.binders, *g.binders), params, ret)
    if binders is None:
        return least
    if not a.binders and ret is a.ret and all_same(params, a.params) and b.purity >= a.purity:
        return a
    return FuncStructInfo(params, ret, a.purity and b.purity, None, binders)


def _instance(
    func: FuncStructInfo, mapping: dict[Key, Image]
) -> tuple[tuple[StructInfo, ...], StructInfo]:
    """Parameters and result with some of the function's own variables replaced."""
    params = tuple(substitute(p, mapping) for p in func.params or ())
    return params, substitute(func.ret, mapping)


@rule("GLB-function", "greatest lower bound")
def _meet_functions(
    a: FuncStructInfo, b: FuncStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo | None:
    """Callable with what either accepts: parameters are joined.

    Of two generic functions one has to be below the other, or their variables have to correspond.
    Where a joined parameter no longer says dimensions that one of the two says, a function generic
    in these dimensions is below both as well, and nothing is the greatest.
    """
    if a.params is None or b.params is None:
        return _meet_with_opaque(b, a) if a.params is None else _meet_with_opaque(a, b)
    if len(a.params) != len(b.params):
        return None
    for one, other in ((a, b), (b, a)):
        if subtype(one, other, prover).proved:
            return one
    f = rename_apart(a)
    renaming = _correspondence(b, f, prover)
    if renaming is None:
        return None
    b_params, b_ret = _instance(b, renaming)
    pairs = list(zip(f.params or (), b_params, strict=True))
    params = tuple(lub(x, y, prover, known) for x, y in pairs)
    if any(_blurs(j, p, prover) for j, pair in zip(params, pairs, strict=True) for p in pair):
        return None
    ret = glb(f.ret, b_ret, prover, known)
    binders = None if ret is None else bound_by(f.binders, params, ret)
    if ret is None or binders is None:
        return None
    return FuncStructInfo(params, ret, a.purity or b.purity, None, binders)


def _meet_with_opaque(a: FuncStructInfo, b: FuncStructInfo) -> StructInfo | None:
    """A closure and an opaque function of which nothing is known but whether it is pure."""
    if opaque_result(b) is not OBJECT:
        return None
    if a.purity >= b.purity:
        return a
    return FuncStructInfo(a.params, a.ret, b.purity, None, a.binders)


def _blurs(joined: StructInfo, part: StructInfo, prover: Prover) -> bool:
    """Whether a parameter that counts its dimensions came from one that says them."""
    if joined is part:
        return False
    match joined, part:
        case TensorStructInfo(shape=None), TensorStructInfo(shape=Expr()):
            return rank(joined) > 0
        case ShapeStructInfo(values=None), ShapeStructInfo(values=tuple()):
            return rank(joined) > 0
        case PrimStructInfo(value=None), PrimStructInfo(value=PrimExpr()):
            return True
        case TupleStructInfo(fields=js), TupleStructInfo(fields=ps):
            return any(_blurs(j, p, prover) for j, p in zip(js, ps, strict=True))
        case FuncStructInfo(params=tuple()), FuncStructInfo(params=tuple()):
            # Its own parameters are met, which keeps their dimensions.
            return _blurs(joined.ret, part.ret, prover)
        case FuncStructInfo(), _:
            return joined is not part and not (
                subtype(joined, part, prover).proved and subtype(part, joined, prover).proved
            )
    return False


def _correspondence(
    g: FuncStructInfo, f: FuncStructInfo, prover: Prover
) -> dict[Key, Image] | None:
    """The renaming of the variables of ``g`` to those of ``f`` at the same places, if it is one to
    one.
    """
    if len(f.binders) != len(g.binders):
        return None
    mapping = bind(g.params or (), f.params or (), g.binders, prover).mapping
    images = {v for v in mapping.values() if type(v) is tir.Var}
    return mapping if images == set(f.binders) else None


@rule("LUB-opaque", "least upper bound")
def _join_opaque(
    a: FuncStructInfo, b: FuncStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo:
    purity = a.purity and b.purity
    match opaque_result(a), opaque_result(b):
        case StructInfo() as x, StructInfo() as y:
            ret = lub(x, y, prover, known)
            if ret is not OBJECT:
                return FuncStructInfo(None, ret, purity)
        case _ if a.params is None and b.params is None and a.derive_func == b.derive_func:
            return FuncStructInfo(None, OBJECT, purity, a.derive_func)
    return FuncStructInfo(None, OBJECT, purity, "empty")


@rule("GLB-opaque", "greatest lower bound")
def _meet_opaque(
    a: FuncStructInfo, b: FuncStructInfo, prover: Prover, known: KnownBounds
) -> StructInfo | None:
    purity = a.purity or b.purity
    x, y = opaque_result(a), opaque_result(b)
    if x is OBJECT or y is OBJECT:
        other = b if x is OBJECT else a
        return FuncStructInfo(None, other.ret, purity, other.derive_func)
    if x is not None and y is not None:
        ret = glb(x, y, prover, known)
        return None if ret is None else FuncStructInfo(None, ret, purity)
    if x is y and a.derive_func == b.derive_func:
        return FuncStructInfo(None, OBJECT, purity, a.derive_func)
    return None


_LUB: dict[type[StructInfo], Callable[..., StructInfo]] = {
    TensorStructInfo: _join_tensors,
    ShapeStructInfo: _join_shapes,
    PrimStructInfo: _join_prims,
    TupleStructInfo: _join_tuples,
    FuncStructInfo: _join_callables,
}

_GLB: dict[type[StructInfo], Callable[..., StructInfo | None]] = {
    TensorStructInfo: _meet_tensors,
    ShapeStructInfo: _meet_shapes,
    PrimStructInfo: _meet_prims,
    TupleStructInfo: _meet_tuples,
    FuncStructInfo: _meet_callables,
}
