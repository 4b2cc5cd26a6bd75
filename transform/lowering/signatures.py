"""Signatures and types of functions as texts in lowered programs and executables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.node import replace
from rlx.grammar.print.printer import print_module
from rlx.semantics.struct_info_of import SIGNATURE
from rlx.solver.order.erase import erase
from rlx.solver.order.substitute import substitute


def printed(functions: Mapping[ast.GlobalVar, Any], module: IRModule) -> str:
    """The text of a module with these functions."""
    return print_module(IRModule(functions, {}, module.global_infos))


def signature(
    gv: ast.GlobalVar,
    function: ast.Function,
    module: IRModule,
    known: ast.StructInfo | None = None,
) -> str:
    """A function without its body; ``known`` is its type, whose result counts where the function
    has no annotation of it.
    """
    empty = replace(function, body=ast.SeqExpr((), ast.Tuple(())), comments=())
    if function.ret_struct_info is None and isinstance(known, ast.FuncStructInfo):
        empty = _with_result(empty, known)
    return printed({gv: empty}, module)


def _with_result(function: ast.Function, known: ast.FuncStructInfo) -> ast.Function:
    """A function with the result of its type, and the dimensions of parameters that it mentions."""
    bound = {*function.shape_vars, *known.binders}
    named = {v: tir.Var(_name(v.name), v.dtype) for v in known.binders if not v.name.isidentifier()}
    binders = tuple(
        dict.fromkeys((*function.shape_vars, *(named.get(v, v) for v in known.binders)))
    )
    result = substitute(erase(known.ret, frozenset(), frozenset(bound)), named)
    params = tuple(
        replace(param, struct_info_annotation=substitute(info, named)) if named else param
        for param, info in zip(function.params, known.params or (), strict=False)
    )
    params = (*params, *function.params[len(params) :])
    return replace(function, params=params, ret_struct_info=result, shape_vars=binders)


def _name(text: str) -> str:
    """A name for a dimension that a text calls `s[0]`."""
    return "".join(letter if letter.isalnum() else "_" for letter in text)


def kept_signature(
    gv: ast.GlobalVar,
    function: ast.Function,
    module: IRModule,
    known: ast.StructInfo | None = None,
) -> ast.Function:
    """The function with its signature as an attribute, unless it has one."""
    if SIGNATURE in function.attrs:
        return function
    kept = {SIGNATURE: signature(gv, function, module, known)}
    return replace(function, attrs={**function.attrs, **kept})


def function_type(info: ast.FuncStructInfo, sizes: Sequence[tir.Var], module: IRModule) -> str:
    """A function whose second parameter has the type; its first parameter binds the shape
    variables.
    """
    shape = ast.ShapeStructInfo(tuple(sizes), len(sizes))
    head = ast.Function(
        (ast.Var("sizes", shape), ast.Var("f", info)),
        ast.SeqExpr((), ast.Tuple(())),
        None,
        shape_vars=tuple(sizes),
    )
    return printed({ast.GlobalVar("check"): head}, module)
