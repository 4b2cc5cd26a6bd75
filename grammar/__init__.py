"""The syntax of Relax: nodes, parser, printer and dialects.

:mod:`rlx.grammar.nodes.ast` has the nodes of Relax, and :mod:`rlx.grammar.nodes.tir` those of PrimFuncs and
dimensions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.grammar.diagnostic import Diagnostic, Edit, Source
    from rlx.grammar.dialects import DIALECTS
    from rlx.grammar.nodes import ast, dtype, tir
    from rlx.grammar.nodes.ast import IRModule
    from rlx.grammar.nodes.equal import first_difference, structural_equal
    from rlx.grammar.nodes.node import replace, walk
    from rlx.grammar.nodes.rewrite import Rewriter, rebuild
    from rlx.grammar.nodes.visit import free_vars
    from rlx.grammar.print.formatting import format_text
    from rlx.grammar.print.printer import print_module, print_node
    from rlx.grammar.read.parser import (
        ParseError,
        parse,
        parse_expr,
        parse_prim_expr,
        parse_struct_info,
    )

__all__ = [
    "DIALECTS",
    "Diagnostic",
    "Edit",
    "IRModule",
    "ParseError",
    "Rewriter",
    "Source",
    "ast",
    "dtype",
    "first_difference",
    "format_text",
    "free_vars",
    "parse",
    "parse_expr",
    "parse_prim_expr",
    "parse_struct_info",
    "print_module",
    "print_node",
    "rebuild",
    "replace",
    "structural_equal",
    "tir",
    "walk",
]


def __getattr__(name: str) -> object:
    return lazy.public_name(__name__, name)
