"""The rule for each kind of expression."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.nodes import ast
from rlx.old.evaluation import bindings, calls, expressions
from rlx.old.evaluation.machine import OlderRule
from rlx.old.shape_exprs import RuntimeDepShape

RULES: Mapping[type, OlderRule] = {
    ast.Constant: expressions.constant,
    ast.Var: expressions.variable,
    ast.DataflowVar: expressions.variable,
    ast.GlobalVar: expressions.variable,
    ast.Tuple: expressions.tuple_,
    ast.TupleGetItem: expressions.field,
    ast.ShapeExpr: expressions.shape,
    ast.PrimValue: expressions.attribute,
    ast.StringImm: expressions.attribute,
    ast.DataTypeImm: expressions.attribute,
    ast.ExternFunc: expressions.attribute,
    RuntimeDepShape: expressions.run_time_shape,
    ast.Function: expressions.function,
    ast.If: expressions.branch,
    ast.Call: calls.call,
    ast.SeqExpr: bindings.sequence,
}
