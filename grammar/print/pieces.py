"""Printing of parts of modules: functions, expressions, annotations, dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rlx.grammar import dialects
from rlx.grammar.dialects import DEFAULT, Dialect
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.print.calls import ExprPrinter
from rlx.grammar.print.prim import PrimPrinter
from rlx.grammar.print.relax import FunctionPrinter
from rlx.grammar.print.tir import PrimFuncPrinter
from rlx.grammar.read.comments import Remarks
from rlx.grammar.stack import roomy

_INDENT = "    "


@roomy
def print_function(
    function: ast.Function | tir.PrimFunc, name: str = "main", dialect: str = DEFAULT
) -> str:
    """A function on its own, without a header; global functions are written ``cls.name``."""
    printer = function_printer(function, dialects.dialect(dialect), "Module", (), Remarks())
    return "\n".join(printer.print(name, "")) + "\n"


@roomy
def print_expr(expr: ast.Expr, dialect: str = DEFAULT) -> str:
    """A Relax expression; a function literal, branch or sequence has several lines."""
    if isinstance(expr, ast.Function):
        return print_function(expr, "function", dialect).rstrip("\n")
    if isinstance(expr, ast.If | ast.SeqExpr):
        _, _, *lines = print_function(ast.Function((), expr), "body", dialect).split("\n")
        return "\n".join([line.removeprefix(_INDENT) for line in lines]).rstrip("\n")
    return ExprPrinter({}, dialects.dialect(dialect)).text(expr)


@roomy
def print_struct_info(info: ast.StructInfo, dialect: str = DEFAULT) -> str:
    """An annotation as inside a function: ``R.Tensor((n, 4), dtype="float32")``."""
    return ExprPrinter({}, dialects.dialect(dialect)).info.body(info)


def struct_info_printer() -> Callable[[ast.StructInfo], str]:
    """A printer for many annotations; see :func:`print_struct_info`."""
    return ExprPrinter({}, dialects.dialect(DEFAULT)).info.body


def print_prim_expr(expr: tir.PrimExpr) -> str:
    """Arithmetic over shape variables; bare literals are int64."""
    return PrimPrinter({}, INT64).text(expr)


Printer = FunctionPrinter | PrimFuncPrinter


def function_printer(
    function: ast.Function | tir.PrimFunc,
    spelling: Dialect,
    module: str | None,
    global_names: Iterable[str],
    remarks: Remarks,
) -> Printer:
    """The printer for a function of either kind."""
    if isinstance(function, tir.PrimFunc):
        return PrimFuncPrinter(function, spelling, global_names, remarks)
    return FunctionPrinter(function, spelling, module, global_names, remarks)
