"""The report of a module's run-time checks. A check at an entry takes all calls into account."""

from __future__ import annotations

from collections.abc import Iterator

from rlx.checker.derive.module import module_
from rlx.checker.dynamic_checks.analysis import Analysis
from rlx.checker.dynamic_checks.entry_checks import is_private
from rlx.checker.dynamic_checks.model import DynamicCheck, summed_up
from rlx.checker.dynamic_checks.uses import stand_once
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.struct_infos import OBJECT

_ORDER = ("entry", "cast", "return")


def judged(module: ast.IRModule, trusting: bool, public: bool = True) -> tuple[DynamicCheck, ...]:
    """The checks of a module in normal form, in the order of the text.

    Parameters
    ----------
    public
        Whether to say something of the entries of functions of which not all calls are seen, too.
    """
    state = Analysis(module, trusting)
    module_(state)
    checks = list(state.checks)
    for function in state.entries:
        if public or not state.entries[function].open:
            checks += _entries(state, function)
    return tuple(sorted(checks, key=_position))


def _position(check: DynamicCheck) -> tuple[Span | tuple[()], int]:
    return check.span or (), _ORDER.index(check.kind)


def _entries(state: Analysis, function: ast.Function) -> Iterator[DynamicCheck]:
    """The checks of a function's parameters; a parameter that may be anything has none."""
    entry = state.entries[function]
    annotations = [p.struct_info_annotation or OBJECT for p in function.params]
    anyone = state.judgement(function.shape_vars).judge([None] * len(annotations), annotations)
    unused = stand_once(function, function.shape_vars)
    because = _callers(state, function) if entry.open else ""
    for index, param in enumerate(function.params):
        if not anyone[index]:
            continue
        check = DynamicCheck(
            "entry",
            param.annotation_span or param.span,
            state.names[function],
            param.name_hint,
            param,
            function,
            "needed",
            tuple(entry.parts(index, anyone[index], unused)),
        )
        yield summed_up(check, entry.never_fits, because)


def _callers(state: Analysis, function: ast.Function) -> str:
    """Why not all calls of a function are seen."""
    name = f"'{state.names[function]}'"
    if function in state.module.functions.values() and not is_private(function):
        return f"{name} may be called from outside the module"
    return f"{name} is used as a value, so some of its calls are unknown"
