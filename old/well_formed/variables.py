"""Criteria about variables and shape variables: OWF01 to OWF05, OWF11, OWF12, OWF15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rlx.checker.well_formed.functions import call_graph, on_circles
from rlx.checker.well_formed.state import WellFormedCheck
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.visit import circles
from rlx.old.annotations import has_older_words
from rlx.old.shape_exprs import inside
from rlx.operators import lookup
from rlx.spec.registry import rule


class OlderCriteria(WellFormedCheck):
    """The walk over one module.

    Attributes
    ----------
    names
        The names of the variables that the function at hand has bound so far.
    recursive
        The global functions that can call themselves.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.names: set[str] = set()
        graph = call_graph(self.module).calls
        self.circles, self.recursive = circles(graph), on_circles(graph)


@rule("OWF01", "well-formed")
def dataflow_variable(state: OlderCriteria, var: ast.DataflowVar, span: Span | None) -> None:
    """A dataflow variable is used in the block that binds it."""
    home = state.in_scope.get(var)
    if (var in state.in_scope and home is not state.block and home not in state.blocks_around) or (
        var not in state.in_scope and var in state.bound
    ):
        _escaped(state, var, span)


def _escaped(state: OlderCriteria, var: ast.Var, span: Span | None) -> None:
    message = f"{var.name_hint!r} is a dataflow variable, and its block has ended"
    help = f"add R.output({var.name_hint}) to the end of the block"
    state.report("OWF01-escape", message, span, help=help)


def bind_dataflow_variable(state: OlderCriteria, var: ast.DataflowVar) -> None:
    """A dataflow variable is bound in a dataflow block (OWF01)."""
    if state.block is None:
        message = f"{var.name_hint!r} is a dataflow variable bound outside of a dataflow block"
        state.report("OWF01-bind", message, var.span)


@rule("OWF02", "well-formed")
def bind_variable(state: OlderCriteria, var: ast.Var) -> None:
    """A variable is bound once."""
    if var in state.bound:
        state.report("OWF02-twice", f"{var.name_hint!r} is bound a second time", var.span)
    if isinstance(var, ast.DataflowVar):
        bind_dataflow_variable(state, var)
    if var.shape_var is not None:  # a scalar, as dimensions may name them since 0.26
        message = f"{var.name_hint!r} is used in a dimension: in 2022 only shape variables can be"
        state.report("OMIX-value-kind", message, var.span)
    state.bound.add(var)
    state.names.add(var.name_hint)
    state.enter(var, state.block)


def global_is_defined(state: OlderCriteria, var: ast.GlobalVar, span: Span | None) -> None:
    """A global variable is the name of a function of the module (OWF02)."""
    if var not in state.module.functions and var.name_hint not in state.module.lost:
        message = f"the module has no function {var.name_hint!r}"
        state.report("OWF02-global", message, span or var.span)


@rule("OWF03", "well-formed")
def use_variable(state: OlderCriteria, var: ast.Var, span: Span | None) -> None:
    """A variable is used behind its binding, inside of its scope."""
    if var in state.captured:
        return
    if isinstance(var, ast.DataflowVar):
        dataflow_variable(state, var, span or var.span)
    elif var in state.in_scope:
        return
    elif var in state.bound or var.name_hint in state.names:
        message = f"the scope of {var.name_hint!r} has ended"
        state.report("OWF03-scope", message, span or var.span)
    elif var.name_hint in state.later:
        message = f"{var.name_hint!r} is used before it is bound"
        state.report("OWF03-before", message, span or var.span)
    else:
        message = f"{var.name_hint!r} is not defined"
        state.report("OWF02-undefined", message, span or var.span)


@rule("OWF04", "well-formed")
def result_annotation(state: OlderCriteria, function: ast.Function) -> None:
    """The annotation of a result mentions shape variables of the signature or from around it."""
    info = function.ret_struct_info
    if info is None:
        return
    annotation(state, info, function.ret_span, result=True)


@rule("OWF05", "well-formed")
def dimension(state: OlderCriteria, dim: tir.PrimExpr, span: Span | None, code: str) -> None:
    """The shape variables of a dimension have a value."""
    for var in tir.free_vars(dim):
        if not (var in state.shape_vars or var in state.captured or state.may_bind):
            message = f"the shape variable {var.name!r} has no value here"
            help = None
            if dim is not var:
                message += f": a dimension such as `{dim}` does not bind it"
                help = f"bind it first, by a dimension that is {var.name} alone"
            state.report(code, message, span or var.span, help=help)


def pattern(state: OlderCriteria, dims: Iterable[tir.PrimExpr], span: Span | None) -> None:
    """Dimensions that bind the shape variables standing alone, from left to right (OWF05)."""
    for dim in dims:
        if isinstance(dim, tir.Var):
            if dim not in state.shape_vars:
                state.enter_shapes((dim,))
        else:
            dimension(state, dim, span, "OWF05-unbound")


def annotation(
    state: OlderCriteria,
    info: StructInfo,
    span: Span | None,
    *,
    binds: bool = False,
    result: bool = False,
) -> None:
    """Everything about an annotation: its words, its rank, its shape variables."""
    has_older_words(
        info, lambda code, message: state.report(code, message, span or info_span(info))
    )
    _dimensions(state, info, span, binds, "OWF04-unbound" if result else "OWF05-unbound")


def info_span(info: StructInfo) -> Span | None:
    """Where an annotation stands."""
    found: Span | None = getattr(info, "span", None)
    return found


def _dimensions(
    state: OlderCriteria, info: StructInfo, span: Span | None, binds: bool, code: str
) -> None:
    match info:
        case ast.TensorStructInfo(shape=ast.ShapeExpr(values=values)):
            annotated_rank(state, info, span)
            if binds:
                pattern(state, values, span)
            else:
                for dim in values:
                    dimension(state, dim, span, code)
        case ast.TensorStructInfo(shape=ast.Var() as var):
            use_variable(state, var, span)
        case ast.TensorStructInfo(shape=shape) if shape is not None:
            annotated_call(state, shape, span)
        case ast.TupleStructInfo(fields=fields):
            for field in fields:
                _dimensions(state, field, span, binds, code)


@rule("OWF11", "well-formed")
def annotated_rank(state: OlderCriteria, info: ast.TensorStructInfo, span: Span | None) -> None:
    """The rank of a type is the number of dimensions beside it."""
    assert isinstance(info.shape, ast.ShapeExpr)
    given = len(info.shape.values)
    if info.ndim not in (-1, given):
        message = f"the annotation has {given} dimensions, but its rank is {info.ndim}"
        state.report("OWF11-rank", message, span or info.span)


@rule("OWF15", "well-formed")
def annotated_call(state: OlderCriteria, shape: ast.Expr, span: Span | None) -> None:
    """A call in a shape annotation is pure, and its arguments are variables and constants."""
    match shape:
        case ast.Call(op=op, args=args, attrs=attrs):
            operator = lookup(op.op_name) if isinstance(op, ast.Op) else None
            pure = operator.pure if operator is not None else bool(attrs.get("pure"))
            if not pure:
                message = "a call in a shape annotation may have side effects"
                state.report("OWF15-pure", message, span or shape.span)
            for arg in args:
                if isinstance(arg, ast.Var):
                    use_variable(state, arg, span)
                elif not isinstance(arg, ast.Constant):
                    message = (
                        "an argument of a call in a shape annotation must be a variable or constant"
                    )
                    state.report("OWF15-argument", message, span or shape.span)
        case ast.ShapeExpr(values=values):
            for dim in values:
                dimension(state, dim, span, "OWF05-unbound")
        case _:
            for part in inside(shape):
                annotated_call(state, part, span)


@rule("OWF12", "well-formed")
def captures(state: OlderCriteria, var: ast.DataflowVar, span: Span | None) -> bool:
    """Whether a function in a dataflow block uses a dataflow variable from around it."""
    home = state.in_scope.get(var)
    if home is None or home not in state.blocks_around or home is state.block:
        return False
    message = f"a function uses the dataflow variable {var.name_hint!r} of the block around it"
    state.report("OWF12-captured", message, span, help="pass it as an argument")
    return True
