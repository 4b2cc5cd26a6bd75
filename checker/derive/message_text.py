"""Names of values, and places, in the messages of the derivation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rlx.grammar.diagnostic import Label
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Var
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.struct_infos import all_parts, numbers
from rlx.operators.context import Place

if TYPE_CHECKING:
    from rlx.checker.derive.environment import Environment


def show(node: Node) -> str:
    """A node in short form: ``Tensor((n, 4), float32)``."""
    from rlx.grammar.print.show import show as shown

    return shown(node)


def written(node: Node) -> str:
    """A struct info as a program writes it: ``R.Tensor((n, 4), dtype="float32")``; in short form if
    it has a dimension that is too long for that.
    """
    from rlx.grammar.print.long_dimensions import is_long
    from rlx.grammar.print.printer import print_struct_info

    if any(is_long(dim) for part in all_parts(node) for dim in numbers(part)):  # type: ignore[arg-type]
        return show(node)
    return print_struct_info(node)  # type: ignore[arg-type]


def named(value: Node) -> str:
    """A variable's name, to write a cast of it; dots for any other expression."""
    return value.name_hint if isinstance(value, Var) else "…"


def values(example: Mapping[str, int]) -> str:
    """``n = 1, m = 2``"""
    return ", ".join(f"{name} = {value}" for name, value in example.items())


def callee(expr: Node) -> str:
    """The function that a call calls, quoted; ``the callee`` where it has no name."""
    name = getattr(expr, "name_hint", None) or getattr(expr, "global_symbol", None)
    return f"'{name}'" if name else "the callee"


def argument_of(module: ast.IRModule, call: ast.Call, index: int) -> str:
    """``the argument 'x' of 'f'``; with a number where the parameter has no known name."""
    function = module.functions.get(call.op) if isinstance(call.op, ast.GlobalVar) else None
    number = f"argument {index}"
    if isinstance(function, ast.Function) and index < len(function.params):
        number = f"the argument {function.params[index].name_hint!r}"
    return f"{number} of {callee(call.op)}"


def argument(call: ast.Call, at: Place) -> ast.Expr | None:
    """The argument that a place names, if it names one."""
    if isinstance(at, str):
        return None
    if isinstance(at, int):
        if at < len(call.args):
            return call.args[at]
        given = call.attrs.get(_keyword(call, at))
        return given if isinstance(given, ast.Expr) else None
    return at


def _keyword(call: ast.Call, at: int) -> str:
    """The name of a parameter of an operator."""
    from rlx.operators import lookup

    operator = lookup(call.op.op_name) if isinstance(call.op, ast.Op) else None
    parameters = operator.parameters if operator else ()
    return {place: parameter.name for place, parameter in enumerate(parameters)}.get(at, "")


def of_argument(call: ast.Call, at: Place) -> Span | None:
    """The span of an argument, or of the call where that is not known."""
    if at is None:
        return call.span
    if isinstance(at, str):
        return call.attr_spans[at][0] if at in call.attr_spans else call.span
    if not isinstance(at, int):
        index = next((i for i, a in enumerate(call.args) if a is at), None)
        if index is None:
            return of_field(call, at) or own(at) or call.span
        at = index
    if at < len(call.arg_spans):
        return call.arg_spans[at]
    if at < len(call.args):
        return own(call.args[at]) or call.span
    _, span = call.attr_spans.get(_keyword(call, at), (None, call.span))
    return span


def of_field(call: ast.Call, at: ast.Expr) -> Span | None:
    """The span of a value that stands in a tuple among the arguments."""
    for arg in call.args:
        if isinstance(arg, ast.Tuple):
            for field, span in zip(arg.fields, arg.field_spans, strict=False):
                if field is at:
                    return span
    return None


def own(expr: ast.Expr) -> Span | None:
    """The place of an expression that stands in one place only."""
    return None if isinstance(expr, (ast.Var, ast.GlobalVar, ast.Op)) else expr.span  # type: ignore[attr-defined]


def definition(state: Environment, expr: ast.Expr | None) -> tuple[Label, ...]:
    """The binding of a variable, and what is known of it."""
    if not isinstance(expr, ast.Var) or expr.span is None:
        return ()
    info = state.info_of.get(expr)
    if info is None:
        return ()
    return (Label(expr.span, f"{expr.name_hint}: {show(info)}"),)


def of_global(state: Environment, gv: ast.Expr) -> tuple[Label, ...]:
    """The place of a global function's definition."""
    function = state.module.functions.get(gv) if isinstance(gv, ast.GlobalVar) else None
    if function is None or function.name_span is None:
        return ()
    return (Label(function.name_span, "defined here"),)
