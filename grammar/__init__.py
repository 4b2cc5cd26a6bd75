"""The syntax of Relax: nodes, parser, printer and dialects.

:mod:`rlx.grammar.ast` has the nodes of Relax, and :mod:`rlx.grammar.tir` those of PrimFuncs and
dimensions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.grammar import ast, dtype, tir
    from rlx.grammar.ast import IRModule
    from rlx.grammar.diagnostic import Diagnostic, Edit, Source
    from rlx.grammar.dialects import DIALECTS
    from rlx.grammar.equal import first_difference, structural_equal
    from rlx.grammar.formatting import format_text
    from rlx.grammar.node import replace
    from rlx.grammar.parser import ParseError, parse, parse_expr, parse_prim_expr, parse_struct_info
    from rlx.grammar.printer import print_module, print_node
    from rlx.grammar.rewrite import Rewriter, rebuild
    from rlx.grammar.visit import free_vars, walk

_HOMES = {
    "DIALECTS": "dialects",
    "Diagnostic": "diagnostic",
    "Edit": "diagnostic",
    "IRModule": "ast",
    "ParseError": "parser",
    "Rewriter": "rewrite",
    "Source": "diagnostic",
    "ast": "",
    "dtype": "",
    "first_difference": "equal",
    "format_text": "formatting",
    "free_vars": "visit",
    "parse": "parser",
    "parse_expr": "parser",
    "parse_prim_expr": "parser",
    "parse_struct_info": "parser",
    "print_module": "printer",
    "print_node": "printer",
    "rebuild": "rewrite",
    "replace": "node",
    "structural_equal": "equal",
    "tir": "",
    "walk": "visit",
}

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
    return lazy.found(__name__, name, _HOMES)
