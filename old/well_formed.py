"""The well-formedness criteria of 2022: OWF01 to OWF16, as rules for the walk of
:mod:`rlx.checker.well_formed`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from rlx.checker.well_formed import traversal
from rlx.checker.well_formed.functions import call_graph, on_circles
from rlx.checker.well_formed.state import WalkRule, WellFormedCheck
from rlx.checker.well_formed.traversal import end, enter, walk_expression
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.visit import argument_places, circles, expressions, places
from rlx.old.annotations import has_older_words
from rlx.old.expressions import is_boolean
from rlx.old.shape_exprs import RuntimeDepShape, inside
from rlx.operators import lookup
from rlx.spec.registry import rule


class OlderCriteria(WellFormedCheck):
    """The walk over one module.

    Attributes
    ----------
    names
        The names of the variables that the current function has bound so far.
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
    if state.may_export:
        return
    if (var in state.in_scope and home is not state.block and home not in state.blocks_around) or (
        var not in state.in_scope and var in state.bound
    ):
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
    state.bound[var] = None
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
    """The place of an annotation."""
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


BY_NAME = frozenset(f"relax.{name}" for name in ("call_tir", "call_dps_packed", "call_pure_packed"))
"""Operators whose first argument names a function from outside."""


@rule("OWF06", "well-formed")
def in_dataflow(state: OlderCriteria, node: ast.If | ast.Call, span: Span | None) -> None:
    """A dataflow block has no If, and does not call back the function that holds it."""
    if state.block is None:
        return
    if isinstance(node, ast.If):
        help = "end the dataflow block before the if"
        state.report("OWF06-if", "a dataflow block contains an if", span, help=help)
        return
    callee, own = node.op, state.global_name
    back = isinstance(callee, ast.Var) and callee in state.holders
    if back or (own is not None and callee is own):
        message = "a dataflow block calls the function that it stands in"
        state.report("OWF06-recursion", message, span)
    elif isinstance(callee, ast.GlobalVar) and own in state.circles.get(callee, ()):
        assert own is not None
        message = f"a dataflow block calls {callee.name_hint!r}, which can call {own.name_hint!r}"
        state.report("OWF06-mutual", message, span)


@rule("OWF07", "well-formed")
def recursive_result(
    state: OlderCriteria, name: ast.Var | ast.GlobalVar, function: ast.Function
) -> None:
    """The result of a function that can call itself is annotated."""
    if function.ret_struct_info is not None:
        return
    if isinstance(name, ast.GlobalVar):
        recursive = name in state.recursive
    else:
        calls = (expr for expr in expressions(function.body) if isinstance(expr, ast.Call))
        recursive = any(call.op is name for call in calls)
    if recursive:
        message = f"{name.name_hint!r} is recursive, so its result must be annotated"
        help = "annotate it: `-> R.Tensor[…]`"
        state.report("OWF07-annotation", message, function.name_span or name.span, help=help)


@rule("OWF08", "well-formed", refuses=True)
def operator_as_value(state: OlderCriteria, node: ast.Op, span: Span | None) -> None:
    """An operator stands only where it is called."""
    name = node.op_name.replace("relax.", "R.", 1)
    state.report(
        "OWF08-value", f"the operator `{name}` cannot be used as a value", span or node.span
    )


@rule("OWF09", "well-formed", refuses=True)
def extern_as_value(state: OlderCriteria, node: ast.ExternFunc, span: Span | None) -> None:
    """A packed function stands only where it is called."""
    message = f"the packed function {node.global_symbol!r} cannot be used as a value"
    state.report("OWF09-value", message, span or node.span)


@rule("OWF10", "well-formed")
def type_arguments(state: OlderCriteria, call: ast.Call) -> None:
    """A call of a packed function has one type argument, a call of a closure none."""
    given = len(call.sinfo_args)
    pure = call.op_name == "relax.call_pure_packed"
    if isinstance(call.op, ast.ExternFunc) or pure:
        if given != 1:
            message = f"a call of a packed function has one type argument, this one has {given}"
            help = "give its result type: `type_args=R.Tensor[_, _]`"
            state.report("OWF10-one", message, call.span, help=help)
    elif given and not isinstance(call.op, ast.Op):
        message = "a call of a closure has no type arguments"
        state.report("OWF10-none", message, next(iter(call.sinfo_spans), call.span))


@rule("OWF13", "well-formed")
def has_entry(state: OlderCriteria) -> None:
    """Some function of the module can be called from outside."""
    functions = state.module.functions
    if not functions or any(f.attrs.get("global_symbol") for f in functions.values()):
        return
    first = next(iter(functions.values()))
    message = "no function of the module can be called from outside: all are private"
    state.report("OWF13-entry", message, first.name_span or first.span, severity="warning")


@rule("OWF14", "well-formed")
def symbol_is_name(state: OlderCriteria, name: ast.GlobalVar) -> None:
    """The global symbol of a function is its name."""
    function = state.module.functions[name]
    symbol = function.attrs.get("global_symbol")
    if isinstance(symbol, str) and symbol != name.name_hint:
        message = f"the function {name.name_hint!r} has the global symbol {symbol!r}"
        state.report("OWF14-name", message, function.name_span or name.span)


@rule("OWF16", "well-formed", refuses=True)
def shape_of_run_time(state: OlderCriteria, node: ast.Expr, span: Span | None) -> None:
    """RuntimeDepShape stands only in annotations."""
    message = "RuntimeDepShape is allowed only in annotations: it has no value"
    state.report("OWF16-place", message, span)


@rule("OMIX-value", "well-formed")
def has_older_form(
    state: OlderCriteria, node: ast.PrimValue | ast.StringImm | ast.DataTypeImm, span: Span | None
) -> None:
    """Scalars, strings and data types are no values: operators take them as attributes."""
    if is_boolean(node):
        return
    kind = {ast.PrimValue: "scalar", ast.StringImm: "string"}.get(type(node), "data type")
    message = f"a {kind} is not a value in the specification of 2022"
    help = "use a tensor of rank 0: `R.const(…)`" if kind == "scalar" else None
    state.report("OMIX-value-kind", message, span or node.span, help=help)


LATER = frozenset(
    f"relax.{name}"
    for name in (
        *("call_tir_inplace", "call_tir_with_grad", "call_inplace_packed", "call_py_func"),
        *("call_builtin_with_ctx", "invoke_closure", "invoke_pure_closure", "make_closure"),
        *("to_vdevice", "hint_on_device", "assert_op", "null_value"),
    )
)
"""Operators that came with the later specification and are part of its system."""


@rule("OMIX-operator", "well-formed")
def operator_is_older(state: OlderCriteria, call: ast.Call) -> None:
    """An operator is none of those that belong to the later system."""
    name = call.op_name
    if name in LATER or name.startswith(
        ("relax.vm.", "relax.memory.", "relax.builtin.", "relax.dist.")
    ):
        shown = name.replace("relax.", "R.", 1)
        message = f"the specification of 2022 has no `{shown}`"
        state.report("OMIX-operator-name", message, call.op_span or call.span)


ATTRIBUTES = (ast.PrimValue, ast.StringImm, ast.DataTypeImm)
"""Expressions that operators take as attributes, and nothing else takes as a value."""


def well_formed(module: ast.IRModule, captured: Collection[Node] = frozenset()) -> list[Diagnostic]:
    """Every violation of OWF01 to OWF16 in a module, and every word that only the later system has.

    Parameters
    ----------
    captured
        As for :func:`rlx.checker.well_formed.well_formed`.
    """
    state = OlderCriteria(module, RULES, captured)
    for name, function in module.functions.items():
        symbol_is_name(state, name)
        if isinstance(function, ast.Function):
            state.global_name, state.names = name, set()
            recursive_result(state, name, function)
            _function(state, function, None)
    if not module.bare and not module.lost:
        has_entry(state)
    return state.diagnostics


def _variable(state: OlderCriteria, var: ast.Var, span: Span | None) -> None:
    if isinstance(var, ast.DataflowVar) and captures(state, var, span or var.span):
        return
    use_variable(state, var, span)


def _shape(state: OlderCriteria, expr: ast.ShapeExpr, span: Span | None) -> None:
    for dim in expr.values:
        dimension(state, dim, span or expr.span, "OWF05-unbound")


def _scalar(state: OlderCriteria, expr: ast.PrimValue, span: Span | None) -> None:
    has_older_form(state, expr, span)
    dimension(state, expr.value, span or expr.span, "OWF05-unbound")


def _call(state: OlderCriteria, call: ast.Call, span: Span | None) -> None:
    span = call.span or span
    in_dataflow(state, call, span)
    type_arguments(state, call)
    operator_is_older(state, call)
    operator = isinstance(call.op, ast.Op)
    if not isinstance(call.op, (ast.Op, ast.ExternFunc)):
        walk_expression(state, call.op, call.op_span or span)
    named = call.op_name in BY_NAME
    for at, (arg, where) in enumerate(zip(call.args, argument_places(call), strict=True)):
        if not (named and at == 0 and isinstance(arg, ast.ExternFunc)):
            _argument(state, arg, where or span, operator)
    for value in call.attrs.values():
        if isinstance(value, ast.Expr):
            _argument(state, value, span, operator)
    for info, where in zip(
        call.sinfo_args, places(call.sinfo_spans, call.sinfo_args, span), strict=True
    ):
        annotation(state, info, where)


def _argument(state: OlderCriteria, arg: ast.Expr, span: Span | None, operator: bool) -> None:
    """An argument; operators take attributes, and tuples of them."""
    if operator and isinstance(arg, ast.Tuple):
        for field in arg.fields:
            _argument(state, field, span, operator)
    elif not (operator and isinstance(arg, ATTRIBUTES)):
        walk_expression(state, arg, span)
    elif isinstance(arg, ast.PrimValue):
        dimension(state, arg.value, span or arg.span, "OWF05-unbound")


def _if(state: OlderCriteria, expr: ast.If, span: Span | None) -> None:
    in_dataflow(state, expr, expr.cond_span or expr.span or span)
    walk_expression(state, expr.cond, expr.cond_span or span)
    if state.block is None:  # else the branches are where nothing may be
        for branch in (expr.true_branch, expr.false_branch):
            mark = len(state.added)
            walk_expression(state, branch, span)
            state.leave(mark)


def _binding(state: OlderCriteria, binding: ast.VarBinding, span: Span | None) -> None:
    var, value = binding.var, binding.value
    if isinstance(value, ast.Function):
        recursive_result(state, var, value)
        bind_variable(state, var)
        state.holders.add(var)
        _function(state, value, binding.value_span)
        state.holders.discard(var)
    else:
        walk_expression(state, value, binding.value_span)
        bind_variable(state, var)
    _annotation(state, var)


def _match(state: OlderCriteria, binding: ast.MatchCast, span: Span | None) -> None:
    """The pattern of a match of shapes, or the annotation that a cast checks."""
    walk_expression(state, binding.value, binding.value_span)
    info = binding.struct_info
    if isinstance(info, ast.ShapeStructInfo) and info.values is not None:
        pattern(state, info.values, binding.struct_info_span)
    else:
        annotation(state, info, binding.struct_info_span, binds=True)
    if binding.var is not None:
        bind_variable(state, binding.var)
        _annotation(state, binding.var)


def _annotation(state: OlderCriteria, var: ast.Var, binds: bool = False) -> None:
    info = var.struct_info_annotation
    if info is not None:
        annotation(state, info, var.annotation_span, binds=binds)


def _function(state: OlderCriteria, function: ast.Function, span: Span | None) -> None:
    around = enter(state, function)
    for param in function.params:
        _annotation(state, param, binds=True)
        bind_variable(state, param)
    result_annotation(state, function)
    walk_expression(state, function.body, span)
    end(state, around)


RULES: Mapping[type[Node], WalkRule] = {
    **traversal.RULES,
    ast.Var: _variable,
    ast.DataflowVar: _variable,
    ast.GlobalVar: global_is_defined,
    ast.ShapeExpr: _shape,
    ast.PrimValue: _scalar,
    ast.StringImm: has_older_form,
    ast.DataTypeImm: has_older_form,
    ast.Call: _call,
    ast.If: _if,
    ast.Function: _function,
    ast.Op: operator_as_value,
    ast.ExternFunc: extern_as_value,
    RuntimeDepShape: shape_of_run_time,
    ast.VarBinding: _binding,
    ast.MatchCast: _match,
}
