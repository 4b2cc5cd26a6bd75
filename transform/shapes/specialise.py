"""The result's struct info of a function for arguments that are more precise than its signature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx.checker.normalize import normalize_function
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, GlobalVar, ShapeStructInfo, StructInfo, TensorStructInfo
from rlx.grammar.nodes.struct_infos import of_the_value
from rlx.grammar.stack import recursion_room
from rlx.solver.order import bind, compatibility, erase, free_vars, substitute
from rlx.solver.order.substitute import dimensions
from rlx.transform.builder.builder import BlockBuilder


def is_open(info: StructInfo) -> bool:
    """Whether a shape, a rank or an element type is unknown."""
    for part in of_the_value(info):
        match part:
            case TensorStructInfo(dtype=dtype):
                if dtype.is_void or dimensions(part) is None:
                    return True
            case ShapeStructInfo(values=None) | ast.ObjectStructInfo():
                return True
    return False


def says_more(builder: BlockBuilder, found: StructInfo, known: StructInfo) -> bool:
    """Whether one struct info is more precise than another."""
    narrower = compatibility(found, known, builder.prover).compatible
    return narrower and not compatibility(known, found, builder.prover).compatible


def specialised(builder: BlockBuilder, gv: GlobalVar, args: Sequence[Expr]) -> StructInfo | None:
    """The struct info of a function's body for these arguments, in the caller's variables; None if
    unknown.

    The dimensions of the arguments are substituted for those of the parameters.
    """
    function = builder.lookup_func(gv)
    if not isinstance(function, ast.Function) or len(function.params) != len(args):
        return None
    function = normalize_function(function)
    state = builder.derivation()
    in_scope = set(builder.shape_vars.values())
    infos = [erase(builder.struct_info(arg), (), in_scope) for arg in args]
    wanted = [param.struct_info_annotation for param in function.params]
    annotated = [(w, i) for w, i in zip(wanted, infos, strict=True) if w is not None]
    images = bind(
        tuple(w for w, _ in annotated),
        tuple(i for _, i in annotated),
        function.shape_vars,
        state.prover,
    ).mapping
    state.shape_vars |= in_scope
    outer = state.enter()
    state.bind_shape_vars(function.shape_vars)
    mapping: dict[Any, Any] = {}
    for var in function.shape_vars:
        image = images.get(var)
        if isinstance(image, tir.PrimExpr):
            state.prover.alias(var, image)
            mapping[var] = image
    for param, info, said in zip(function.params, infos, wanted, strict=True):
        state.bind(param, _better(info, said, mapping, state.prover))
    with recursion_room():
        found = substitute(state.info(function.body), mapping)
    state.leave(outer)
    found = erase(found, (), in_scope)
    return None if free_vars(found) else found


def _better(info: StructInfo, said: StructInfo | None, mapping: Any, prover: Any) -> StructInfo:
    """The struct info of a parameter: the argument's, or the annotation if it is narrower."""
    if said is None:
        return info
    promised = substitute(said, mapping)
    return promised if compatibility(promised, info, prover).compatible else info
