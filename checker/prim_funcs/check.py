"""The check of a module's PrimFuncs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from rlx.checker.prim_funcs.names import enter_parameters, survey
from rlx.checker.prim_funcs.out_of_bounds import bounds
from rlx.checker.prim_funcs.regions import is_marked, regions
from rlx.checker.prim_funcs.state import PrimFuncCheck
from rlx.checker.prim_funcs.statements import statement
from rlx.grammar import tir
from rlx.grammar.ast import IRModule
from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.node import Node, Span


def prim_funcs(
    module: IRModule,
    source: Source | None = None,
    errors: Sequence[Span] = (),
    holes: Collection[Node] = frozenset(),
) -> list[Diagnostic]:
    """Every violation of TIR01 to TIR15 in the PrimFuncs of a module.

    Parameters
    ----------
    source
        The text that the module was read from. In a Python file, names may be captured.
    errors
        Where the text has syntax errors.
    holes
        Variables of which nothing is known: captured ones.
    """
    found: list[Diagnostic] = []
    known = {v.name_hint for v in module.functions} | set(module.type_vars)
    captured = _captures(module, source)
    for function in module.functions.values():
        if isinstance(function, tir.PrimFunc):
            text = None if source is None else source.text
            state = PrimFuncCheck(function, captured, text, known)
            state.holes = holes
            state.incomplete = any(_within(span, function.span) for span in errors)
            survey(state)
            enter_parameters(state)
            statement(state, function.body)
            if not state.diagnostics and not state.incomplete:
                bounds(state)
                regions(state)
                is_marked(state)
            found += state.diagnostics
    return found


def _captures(module: IRModule, source: Source | None) -> Callable[[str], bool]:
    """Whether a name may come from the Python around the functions: it stands there."""
    if source is None or not source.path.endswith(".py"):
        return lambda name: False
    text = source.text
    for function in module.functions.values():
        if function.span is not None:
            start, end = function.span
            text = text[:start] + " " * (end - start) + text[end:]
    return lambda name: re.search(rf"\b{re.escape(name)}\b", text) is not None


def _within(span: Span, whole: Span | None) -> bool:
    return whole is not None and whole[0] <= span[0] <= whole[1]
