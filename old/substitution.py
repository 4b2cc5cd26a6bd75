"""The shape of a call from the shape of the function's result: the document's three procedures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, Var
from rlx.grammar.nodes.node import replace
from rlx.old.repeated import once_for_each
from rlx.old.shape_exprs import (
    UNKNOWN,
    RuntimeDepShape,
    all_parts,
    can_prove_equal,
    can_prove_not_equal,
    is_closed,
)
from rlx.old.shape_exprs import text as shape_text
from rlx.solver.order.substitute import substitute_prim
from rlx.solver.prover import Prover
from rlx.spec.registry import refuted, rule


class UnificationError(Exception):
    """The shape of an argument can never be that of the parameter; ``code`` names the premise."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        refuted(code)
        self.code = code


ShapeVarMapping = dict[tir.Var, tir.PrimExpr]


@once_for_each
@rule("OS-map", "procedure")
def map_shape_vars(
    param_shape: Expr, arg_shape: Expr, shape_var_mapping: ShapeVarMapping, prover: Prover
) -> bool:
    """Match the shape of a parameter with that of an argument, and record its variables.

    Returns
    -------
    bool
        Whether the shapes certainly match.

    Raises
    ------
    UnificationError
        If they never match.
    """
    match param_shape, arg_shape:
        case (RuntimeDepShape(), _) | (_, RuntimeDepShape()):
            return False
        case ast.ShapeExpr(values=wanted), ast.ShapeExpr(values=given):
            if len(wanted) != len(given):
                count = f"expected {len(wanted)} dimensions, found {len(given)}"
                message = f"{shape_text(arg_shape)} has {count}"
                raise UnificationError("OS-map-rank", message)
            pairs = zip(wanted, given, strict=True)
            fits = [_map_dim(p, a, shape_var_mapping, prover) for p, a in pairs]
            return all(fits)
        case ast.Tuple(fields=wanted), ast.Tuple(fields=given):
            if len(wanted) != len(given):
                message = f"expected a tuple of {len(wanted)} fields, found {len(given)}"
                raise UnificationError("OS-map-length", message)
            parts = zip(wanted, given, strict=True)
            return all(map_shape_vars(p, a, shape_var_mapping, prover) for p, a in parts)
        case ast.TupleGetItem(), ast.TupleGetItem():
            return param_shape.index == arg_shape.index and map_shape_vars(
                param_shape.tuple_value, arg_shape.tuple_value, shape_var_mapping, prover
            )
        case ast.Call(), ast.Call():
            return True
        case (ast.Call() | ast.TupleGetItem(), _) | (_, ast.Call() | ast.TupleGetItem()):
            return False
    message = (
        f"expected a shape of the form {shape_text(param_shape)}, found {shape_text(arg_shape)}"
    )
    raise UnificationError("OS-map-construct", message)


def _map_dim(
    param_dim: tir.PrimExpr, arg_dim: tir.PrimExpr, mapping: ShapeVarMapping, prover: Prover
) -> bool:
    """A variable is mapped when it is met first; everything else is compared (ledger OLDMAP)."""
    if isinstance(param_dim, tir.Var) and param_dim not in mapping:
        mapping[param_dim] = arg_dim
        return True
    if any(var not in mapping for var in tir.free_vars(param_dim)):
        return False
    wanted = substitute_prim(param_dim, mapping)
    if can_prove_equal(ast.ShapeExpr((wanted,)), ast.ShapeExpr((arg_dim,)), prover):
        return True
    if can_prove_not_equal(wanted, arg_dim, prover):
        message = f"expected the dimension {wanted}, found {arg_dim}"
        raise UnificationError("OS-map-dimension", message)
    return False


@once_for_each
@rule("OVARS", "procedure")
def substitute_vars(
    target: Expr, var_mapping: Mapping[Var, Expr], shape_var_mapping: Mapping[tir.Var, tir.PrimExpr]
) -> Expr:
    """A shape computation with its variables replaced, all at once."""

    def inner(part: Expr) -> Expr:
        return substitute_vars(part, var_mapping, shape_var_mapping)

    match target:
        case Var():
            return var_mapping.get(target, target)
        case ast.ShapeExpr(values=values):
            return ast.ShapeExpr(tuple(substitute_prim(dim, shape_var_mapping) for dim in values))
        case ast.Tuple(fields=fields):
            return ast.Tuple(tuple(map(inner, fields)))
        case ast.TupleGetItem(tuple_value=value, index=index):
            return ast.TupleGetItem(inner(value), index)
        case ast.Call(args=args):
            return replace(target, args=tuple(map(inner, args)))
    return target


@rule("OSUBST", "procedure")
def substitute_shape(
    func_params: Sequence[Var],
    arg_exprs: Sequence[Expr],
    ret_shape: Expr,
    shape_: Callable[[Expr], Expr],
    in_scope: Collection[Expr | tir.Var],
    prover: Prover,
) -> Expr:
    """The shape of a call's result, by beta-reduction of the shape of the function's result.

    Parameters
    ----------
    shape_
        Gives the `shape_` of a parameter or an argument.
    in_scope
        The Relax variables and shape variables in scope at the call.

    Raises
    ------
    UnificationError
        If an argument can never have the shape of its parameter.
    """
    var_mapping = dict(zip(func_params, arg_exprs, strict=True))
    shape_var_mapping: ShapeVarMapping = {}
    matched = [
        map_shape_vars(shape_(param), shape_(arg), shape_var_mapping, prover)
        for param, arg in zip(func_params, arg_exprs, strict=True)
    ]
    if not all(matched) or not _may_stand_in_calls(ret_shape, var_mapping):
        return UNKNOWN
    new_shape = substitute_vars(ret_shape, var_mapping, shape_var_mapping)
    return new_shape if is_closed(new_shape, in_scope, in_scope) else UNKNOWN  # type: ignore[arg-type]


def _may_stand_in_calls(shape: Expr, mapping: Mapping[Var, Expr]) -> bool:
    """Whether the arguments that a shape's calls would be given are variables and constants."""
    named = (
        mapping[part] for part in all_parts(shape) if isinstance(part, Var) and part in mapping
    )
    return all(isinstance(arg, (Var, ast.Constant)) for arg in named)
