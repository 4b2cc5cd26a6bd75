"""D01: in which order global functions are derived."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rlx.grammar import ast
from rlx.grammar.ast import GlobalVar
from rlx.grammar.visit import called_globals

Functions = Mapping[GlobalVar, ast.Function]


def bottom_up(functions: Functions) -> Iterator[GlobalVar]:
    """Functions in an order in which one without a result annotation comes before its callers.

    Where such functions call each other in a circle, the order inside the circle is that of the
    text.
    """
    silent = {gv for gv, f in functions.items() if f.ret_struct_info is None}
    if not silent:
        yield from functions
        return
    begun: set[GlobalVar] = set()
    for root in functions:
        if root in begun:
            continue
        begun.add(root)
        stack = [(root, _callees(functions[root], silent))]
        while stack:
            gv, callees = stack[-1]
            callee = next((c for c in callees if c not in begun), None)
            if callee is None:
                stack.pop()
                yield gv
            else:
                begun.add(callee)
                stack.append((callee, _callees(functions[callee], silent)))


def _callees(function: ast.Function, among: set[GlobalVar]) -> Iterator[GlobalVar]:
    return (gv for gv in called_globals(function) if gv in among)
