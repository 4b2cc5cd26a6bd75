"""Patterns: matching and rewriting parts of programs.

>>> import rlx
>>> from rlx.transform.patterns import is_op, rewrite, wildcard
>>> x, w, b = wildcard(), wildcard(), wildcard()
>>> linear = is_op("add")(is_op("matmul")(x, w), b)
"""

from __future__ import annotations

from rlx.transform.patterns.attempt import (
    Match,
)
from rlx.transform.patterns.context import (
    PatternContext,
)
from rlx.transform.patterns.expressions import (
    CallPattern,
    ConstantPattern,
    DataflowVarPattern,
    ExprPattern,
    ExternFuncPattern,
    FunctionPattern,
    GlobalVarPattern,
    OpPattern,
    PrimArrPattern,
    TupleGetItemPattern,
    TuplePattern,
    UnorderedTuplePattern,
    VarPattern,
    has_attr,
    has_dtype,
    is_call,
    is_call_dps_packed,
    is_call_packed,
    is_call_tir,
    is_const,
    is_dfv,
    is_expr,
    is_function,
    is_gv,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    reject,
    wildcard,
)
from rlx.transform.patterns.pattern import (
    AndPattern,
    AttrPattern,
    DataTypePattern,
    NotPattern,
    OrPattern,
    Pattern,
    PatternError,
    PatternSeq,
    SameShapeConstraint,
    ShapePattern,
    StructInfoPattern,
    WildcardPattern,
)
from rlx.transform.patterns.rewriting import (
    find,
    get_var2val,
    rewrite,
    rewrite_call,
)
from rlx.transform.patterns.rules import FunctionRule, PatternMatchingRewriter
from rlx.transform.patterns.together import (
    rewrite_bindings,
)

__all__ = [
    "AndPattern",
    "AttrPattern",
    "CallPattern",
    "ConstantPattern",
    "DataTypePattern",
    "DataflowVarPattern",
    "ExprPattern",
    "ExternFuncPattern",
    "FunctionPattern",
    "FunctionRule",
    "GlobalVarPattern",
    "Match",
    "NotPattern",
    "OpPattern",
    "OrPattern",
    "Pattern",
    "PatternContext",
    "PatternError",
    "PatternMatchingRewriter",
    "PatternSeq",
    "PrimArrPattern",
    "SameShapeConstraint",
    "ShapePattern",
    "StructInfoPattern",
    "TupleGetItemPattern",
    "TuplePattern",
    "UnorderedTuplePattern",
    "VarPattern",
    "WildcardPattern",
    "find",
    "get_var2val",
    "has_attr",
    "has_dtype",
    "is_call",
    "is_call_dps_packed",
    "is_call_packed",
    "is_call_tir",
    "is_const",
    "is_dfv",
    "is_expr",
    "is_function",
    "is_gv",
    "is_op",
    "is_shape",
    "is_tuple",
    "is_tuple_get_item",
    "is_var",
    "reject",
    "rewrite",
    "rewrite_bindings",
    "rewrite_call",
    "wildcard",
]
