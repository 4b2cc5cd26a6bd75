"""Uses of shape variables, and uses of functions other than calls."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.node import Node, nodes_in
from rlx.grammar.nodes.struct_infos import all_parts, numbers
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.nodes.visit import expressions, sequences, struct_infos
from rlx.solver.order import free_vars


def prim_exprs(expr: Expr) -> Iterator[PrimExpr]:
    """Every integer expression written below an expression, those of annotations included."""
    for info in struct_infos(expr):
        yield from prim_exprs_of(info)
    for node in expressions(expr):
        match node:
            case ast.ShapeExpr(values=values):
                yield from values
            case ast.PrimValue(value=value):
                yield value
            case ast.Call(attrs=attrs):
                yield from (node for node in nodes_in(attrs) if isinstance(node, PrimExpr))


def prim_exprs_of(info: StructInfo) -> Iterator[PrimExpr]:
    """Every dimension and value that an annotation writes."""
    for part in all_parts(info):
        yield from numbers(part)


def stand_once(expr: Expr, among: Collection[tir.Var] | None = None) -> set[tir.Var]:
    """The shape variables that stand in exactly one integer expression below an expression.

    Parameters
    ----------
    among
        The variables to look for; None for all.
    """
    once: set[tir.Var] = set()
    several: set[tir.Var] = set()
    for prim_expr in prim_exprs(expr):
        for var in tir.free_vars(prim_expr):
            if var not in several and (among is None or var in among):
                if var in once:
                    several.add(var)
                once.symmetric_difference_update((var,))
        if among is not None and len(several) == len(among):
            break
    return once


class Survey:
    """The uses of variables in the functions of a module in normal form.

    Attributes
    ----------
    as_values
        The variables that stand somewhere else than as what is called.
    idle
        The variables of bindings of which no check asks, directly or by way of others, and whose
        values make none.
    """

    def __init__(self, module: ast.IRModule) -> None:
        self.as_values: set[Node] = set()
        self._quiet: dict[ast.Var, ast.VarBinding] = {}
        self._asked: list[ast.Var] = []
        self._own = set(module.relax_functions)
        for function in module.relax_functions.values():
            self._function(function)
        for var in self._asked:  # grows on the way
            binding = self._quiet.pop(var, None)
            if binding is not None:
                self._ask(binding.value, binding.var.struct_info_annotation)
        self.idle = self._quiet.keys()

    def _function(self, function: ast.Function) -> None:
        for inner in sequences(function):
            if isinstance(inner, ast.Function):
                for param in inner.params:
                    self._ask(None, param.struct_info_annotation)
                self._ask(None, inner.ret_struct_info)
                continue
            for block in inner.blocks:
                for binding in block.bindings:
                    self._binding(binding)
            self._value(inner.body)
            self._ask(inner.body)

    def _binding(self, binding: ast.Binding) -> None:
        if isinstance(binding, ast.VarBinding):
            var, value = binding.var, binding.value
            self._value(value)
            if var.shape_var is None and self._makes_no_check(value):
                self._quiet[var] = binding
            elif not isinstance(value, ast.Function | ast.SeqExpr):
                self._ask(value, var.struct_info_annotation)
        elif isinstance(binding, ast.MatchCast):
            self._value(binding.value)
            self._ask(binding.value, binding.struct_info)
            if binding.var is not None:
                self._ask(None, binding.var.struct_info_annotation)

    def _makes_no_check(self, value: Expr) -> bool:
        """Whether a value calls no function of the module and has nothing nested inside."""
        if type(value) is ast.Call:
            op = value.op
            return type(op) in _OUTSIDE or (type(op) is ast.GlobalVar and op not in self._own)
        return type(value) not in _NESTED

    def _ask(self, value: Expr | None, info: StructInfo | None = None) -> None:
        """Note the variables that a value and an annotation mention."""
        if info is not None:
            self._asked += free_vars(info)
        if isinstance(value, ast.If):
            value = value.cond
        for node in () if value is None else expressions(value):
            if isinstance(node, ast.Var):
                self._asked.append(node)
            elif isinstance(node, ast.Call):
                for each in node.sinfo_args:
                    self._asked += free_vars(each)

    def _value(self, value: Expr) -> None:
        """Note the variables that stand inside a value, as values."""
        pending: list[object] = [value]
        while pending:
            match pending.pop():
                case (ast.Var() | ast.GlobalVar()) as var:
                    self.as_values.add(var)
                case ast.Call(args=args, attrs=attrs):
                    pending += args
                    pending += attrs.values()
                case ast.If(cond=inner) | ast.TupleGetItem(tuple_value=inner):
                    pending.append(inner)
                case ast.Tuple(fields=parts) | (tuple() | list() as parts):
                    pending += parts


_OUTSIDE = (ast.Op, ast.ExternFunc)
_NESTED = (ast.Function, ast.If, ast.SeqExpr)
