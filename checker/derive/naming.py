"""D17: variables that annotations name, scalars and shapes; and the signatures that are written
with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from rlx.checker.derive.message_text import show
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
)
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.nodes.node import Span, replace
from rlx.grammar.nodes.struct_infos import (
    OBJECT,
    all_parts,
    children,
    held_shape,
    mentioned,
    numbers,
    of_the_value,
    rebuilt,
)
from rlx.grammar.nodes.visit import bindings, expressions
from rlx.grammar.wording import counted
from rlx.solver.order import free_vars, substitute
from rlx.solver.order.substitute import rank
from rlx.solver.prim_exprs import MOST, lower_count, natural, smallest
from rlx.spec.registry import need, rule

if TYPE_CHECKING:
    from rlx.checker.derive.environment import Environment

"""The largest number of elements."""


@rule("D17", "derivation")
def scalar(state: Environment, var: ast.Var, shape_var: tir.Var, info: StructInfo) -> StructInfo:
    """The type of a variable that is a shape variable, too: it names the shape variable."""
    if state.poisoned(var):  # of this dimension nothing is known
        return info
    state.bind_shape_vars((shape_var,))
    if not isinstance(info, PrimStructInfo) or info.dtype != shape_var.dtype:
        message = (
            f"{var.name_hint!r} is used as a dimension, but it is {show(info)}, not an int64 scalar"
        )
        state.add("D17-dimension", "error", message, var.span)
        state.doubt(var)
        state.prover.declare(shape_var)
        return info
    need("D17-dimension", True)
    value = info.value
    if value is None:
        state.prover.declare(shape_var)
        state.signed.add(shape_var)
        return PrimStructInfo(info.dtype, shape_var)
    if value is not shape_var and shape_var not in tir.free_vars(value):
        state.prover.alias(shape_var, value)
        if not natural(value, state.signed):
            state.signed.add(shape_var)
    return info


def may_be_negative(
    shape_vars: Iterable[tir.Var], infos: Iterable[StructInfo | None]
) -> list[tir.Var]:
    """The variables of a signature or a cast that are scalars, and the size of no tensor or
    shape.
    """
    sizes: set[tir.PrimExpr] = set()
    for info in infos:
        for part in of_the_value(info) if info is not None else ():
            if isinstance(part, (TensorStructInfo, ShapeStructInfo)):
                sizes.update(numbers(part))
    return [var for var in shape_vars if var not in sizes]


def scalars(function: ast.Function) -> Iterator[tir.Var]:
    """The shape variables of a function, and of those in it, that may be negative."""
    for node in expressions(function):
        if isinstance(node, ast.Function):
            named = [param.shape_var for param in node.params if param.shape_var is not None]
            infos = [param.struct_info_annotation for param in node.params]
            yield from may_be_negative((*node.shape_vars, *named), infos)
    for binding in bindings(function):
        if isinstance(binding, ast.MatchCast):
            yield from may_be_negative(binding.shape_vars, (binding.struct_info,))
        elif isinstance(binding, ast.VarBinding) and binding.var.shape_var is not None:
            yield binding.var.shape_var


def with_known_shapes(
    state: Environment, info: StructInfo, span: Span | None, value: ast.Expr | None = None
) -> StructInfo:
    """An annotation in which the known shapes replace the variables that it gives for shapes (D17).

    Where the ``value`` that is annotated is wrong already, nothing is reported.
    """
    if type(info) is TensorStructInfo and type(info.shape) is ShapeExpr:
        return _by_shape(info)
    info = rebuilt(info, _by_shape)
    if not _names_a_shape(info):
        return info
    known: dict[tir.Var | ast.Var, tir.PrimExpr | ast.Expr] = {}
    for var in free_vars(info):
        if _is_shape(state, var, span, state.poisoned(value)):
            known[var] = shape_of(state, var)
        else:
            known[var] = var
    unbound = any(isinstance(v, ast.Var) and v not in state.info_of for v in known)
    if unbound or not _ranks_agree(state, info, known, span):
        # Which shape, or which of the two ranks, is meant is not known, and was reported.
        return TensorStructInfo(dtype=info.dtype) if type(info) is TensorStructInfo else OBJECT
    return substitute(info, known)


def _by_shape(info: StructInfo) -> StructInfo:
    """An annotation that is no tuple, with the number of its dimensions as rank (WF10-rank)."""
    match info:
        case TensorStructInfo(shape=ast.ShapeExpr(values=dims)) if info.ndim != len(dims):
            return replace(info, ndim=len(dims))
        case ShapeStructInfo(values=tuple() as dims) if info.ndim != len(dims):
            return replace(info, ndim=len(dims))
    return info


def _names_a_shape(info: StructInfo) -> bool:
    if type(info) is TensorStructInfo:
        return isinstance(info.shape, ast.Var)
    return bool(children(info)) and any(isinstance(var, ast.Var) for var in mentioned(info))


def _is_shape(state: Environment, var: ast.Var, span: Span | None, quiet: bool) -> bool:
    info = state.info_of.get(var)
    if info is None or quiet or state.poisoned(var) or isinstance(info, ShapeStructInfo):
        return isinstance(info, ShapeStructInfo)
    message = f"{var.name_hint!r} is used as a tensor's shape, but it is {show(info)}"
    state.add("D17-shape", "error", message, span or var.span)
    state.doubt(var)
    return False


def _ranks_agree(
    state: Environment,
    info: StructInfo,
    known: dict[tir.Var | ast.Var, tir.PrimExpr | ast.Expr],
    span: Span | None,
) -> bool:
    for part in all_parts(info):
        shape = held_shape(part)
        image = None if shape is None else known.get(shape)
        if shape is None or not isinstance(image, ShapeExpr):
            continue
        assert isinstance(part, TensorStructInfo)
        found = len(image.values)
        if part.ndim not in (-1, found):
            message = (
                f"the shape {shape.name_hint!r} has {counted(found, 'dimension')}, but the"
                f" annotation says ndim={part.ndim}"
            )
            state.add("D17-rank", "error", message, span or shape.span)
            return False
    return True


def shape_of(state: Environment, var: ast.Var) -> ast.Var | ShapeExpr:
    """The known shape that a variable holds: its dimensions, or a variable that holds the same
    shape.
    """
    root = state.held.get(var, var)
    if isinstance(root, ShapeExpr):
        return root
    info = state.info_of.get(root)
    if not isinstance(info, ShapeStructInfo) or rank(info) < 0:
        return root
    values = () if rank(info) == 0 else info.values
    if values is None:
        values = tuple([tir.Var(f"{root.name_hint}[{at}]", INT64) for at in range(info.ndim)])
        scope = state.home.get(root)
        if scope is not None:
            state.shape_vars.update(values)
            scope.shape_vars.extend(values)
        state.info_of[root] = ShapeStructInfo(values, len(values))
    found = state.held[root] = ShapeExpr(values)
    return found


def kept(found: StructInfo, wanted: StructInfo) -> StructInfo:
    """The type of a value under an annotation: the number of a scalar or shape that the annotation
    leaves open stays known.
    """
    match found, wanted:
        case PrimStructInfo(), PrimStructInfo(value=None) if found.dtype == wanted.dtype:
            return found
        case ShapeStructInfo(), ShapeStructInfo(values=None) if found.values is not None:
            return found if wanted.ndim in (-1, len(found.values)) else wanted
    return wanted


@rule("D19", "derivation")
def elements(state: Environment, var: ast.Var, info: TensorStructInfo | ShapeStructInfo) -> None:
    """A dimension is an int64, and a tensor has at most as many elements as one can count."""
    shape = info if type(info) is ShapeStructInfo else info.shape  # type: ignore[union-attr]
    values = getattr(shape, "values", None)
    if values is None:
        return
    counts = list(map(smallest, values))
    if counts and not need("D19-dimension", max(counts) <= MOST):
        dim, least = next(each for each in zip(values, counts, strict=True) if each[1] > MOST)
        message = f"{var.name_hint!r} is {show(info)}: {show(dim)} is at least {lower_count(least)}"
        help = f"no dimension is larger than 2**63 - 1, that is {MOST:,}"
        _too_large(state, var, "D19-dimension", message, help)
        return
    if shape is info:
        return
    least = prod(counts)
    if not need("D19-count", least <= MOST):
        message = f"{var.name_hint!r} is {show(info)}: it would have at least {lower_count(least)} elements"
        help = f"no tensor has more than 2**63 - 1 elements, that is {MOST:,}"
        _too_large(state, var, "D19-count", message, help)


def _too_large(state: Environment, var: ast.Var, code: str, message: str, help: str) -> None:
    state.add(code, "error", message, var.annotation_span or var.span, help=help)
    state.doubt(var)


def hold(state: Environment, var: ast.Var, value: ast.Expr) -> None:
    """Remember that two variables hold the same shape."""
    if isinstance(value, ast.Var) and type(state.info_of.get(value)) is ShapeStructInfo:
        state.held[var] = state.held.get(value, value)


def opened(
    function: ast.Function, parts: Sequence[StructInfo], held: Mapping[ast.Var, ast.Var | ShapeExpr]
) -> dict[ast.Var, ShapeExpr]:
    """Dimensions for the parameters of a signature that hold a shape of known rank, for its
    callers.

    A caller knows parameters by their places, so what a signature says of a shape by the name of a
    parameter it says by dimensions.
    """
    named = [info for info in parts if _names_a_shape(info)]
    used = {var for info in named for var in free_vars(info)}
    found: dict[ast.Var, ShapeExpr] = {}
    for param in function.params if used or held else ():
        info, known = param.struct_info_annotation, held.get(param)
        if isinstance(known, ShapeExpr) and (info is None or info.values is None):  # type: ignore[attr-defined]
            found[param] = known
        elif param in used and type(info) is ShapeStructInfo and info.values is None:
            fresh = [tir.Var(f"{param.name_hint}[{at}]", INT64) for at in range(rank(info))]
            if rank(info) >= 0:
                found[param] = ShapeExpr(tuple(fresh))
    return found


def signature(
    function: ast.Function,
    ret: StructInfo | None = None,
    held: Mapping[ast.Var, ast.Var | ast.ShapeExpr] | None = None,
) -> FuncStructInfo:
    """The struct info that a function's own annotations give it; Object where they are silent.

    ``held`` are the dimensions of shapes under which the result was derived.
    """
    params = tuple([p.struct_info_annotation or OBJECT for p in function.params])
    result = ret or function.ret_struct_info or OBJECT
    binders = function.shape_vars
    shapes = opened(function, (*params, result), held or {})
    if shapes:
        params = tuple(
            [
                ShapeStructInfo(shapes[p].values, len(shapes[p].values)) if p in shapes else info
                for p, info in zip(function.params, params, strict=True)
            ]
        )
        params = tuple([substitute(info, shapes) for info in params])
        result = substitute(result, shapes)
        binders = (*binders, *(v for s in shapes.values() for v in tir.free_vars(*s.values)))
    return FuncStructInfo(params, result, function.is_pure is not False, None, binders)
