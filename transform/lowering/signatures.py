"""Signatures and types of functions as texts in lowered programs and executables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.node import replace
from rlx.grammar.print.printer import print_module


def printed(functions: Mapping[ast.GlobalVar, Any], module: IRModule) -> str:
    """The text of a module with these functions."""
    return print_module(IRModule(functions, {}, module.global_infos))


def signature(gv: ast.GlobalVar, function: ast.Function, module: IRModule) -> str:
    """A function without its body."""
    empty = replace(function, body=ast.SeqExpr((), ast.Tuple(())), comments=())
    return printed({gv: empty}, module)


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
