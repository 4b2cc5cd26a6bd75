"""The well-formedness of a module: its functions one after the other, then what concerns them
together.
"""

from __future__ import annotations

from collections.abc import Collection

from rlx.checker.well_formed.functions import (
    call_graph,
    can_be_entered,
    on_circle,
    reachable,
    recursive_result_is_annotated,
    symbol_is_name,
)
from rlx.checker.well_formed.state import WellFormedCheck
from rlx.checker.well_formed.traversal import walk_function
from rlx.grammar import ast
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.node import Node


def well_formed(
    module: ast.IRModule, holes: Collection[Node] = frozenset(), incomplete: bool = False
) -> list[Diagnostic]:
    """Every violation of WF01 to WF24 in a module, normalised or not.

    Parameters
    ----------
    holes
        Variables that a syntax error left without a definition: nothing is said of them.
    incomplete
        Whether syntax errors may have cost functions: nothing is said of functions that are not
        there.
    """
    state = WellFormedCheck(module, holes, incomplete)
    graph, state.as_values = call_graph(module)
    state.reachable = reachable(graph)
    for name, function in module.functions.items():
        if isinstance(function, ast.Function):
            state.global_name = name
            symbol_is_name(state, name, function.attrs, function)
            recursive_result_is_annotated(state, name, function, on_circle(graph, name))
            walk_function(state, function, name.name_hint)
        else:
            symbol_is_name(state, name, function.attrs, None)
    if not incomplete:
        can_be_entered(state)
    return state.diagnostics
