"""Transformations of modules: builders, visitors, patterns, passes, shapes, legalisation, lowering,
elimination of run-time checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.transform.builder import BlockBuilder, BuildError, BuildWarning, struct_info
    from rlx.transform.dynamic_checks import CheckPlan, eliminate, plan
    from rlx.transform.legalization import Legalized, legalize, legalized
    from rlx.transform.lowering.calls import CallTIRRewrite
    from rlx.transform.lowering.local_functions import LambdaLift, lambda_lifting
    from rlx.transform.lowering.memory import StaticPlanBlockMemory, VMMemoryLower
    from rlx.transform.lowering.passes import ModulePass, PassError, Sequential
    from rlx.transform.lowering.shapes import VMShapeLower
    from rlx.transform.lowering.structure import (
        AttachGlobalSymbol,
        Normalize,
        RemovePurityChecking,
        ToNonDataflow,
    )
    from rlx.transform.passes.common_subexpressions import common_subexpressions
    from rlx.transform.passes.dead_code import dead_code
    from rlx.transform.passes.fold_shapes import fold_shapes
    from rlx.transform.passes.fuse_matmul_add import fuse_matmul_add
    from rlx.transform.patterns import (
        Match,
        Pattern,
        PatternError,
        find,
        is_call,
        is_const,
        is_expr,
        is_function,
        is_op,
        is_shape,
        is_tuple,
        is_tuple_get_item,
        is_var,
        rewrite,
        rewrite_bindings,
        wildcard,
    )
    from rlx.transform.shapes.deduce import deduce_shapes
    from rlx.transform.shapes.outline import outline
    from rlx.transform.shapes.propagate import propagate_shapes
    from rlx.transform.validation import MeaningError, NotValidatedWarning, validated
    from rlx.transform.visitors import DataflowMutator, ExprMutator, ExprVisitor, rewrite_dataflow

_HOMES = {
    "AttachGlobalSymbol": "lowering.structure",
    "BlockBuilder": "builder",
    "BuildError": "builder",
    "BuildWarning": "builder",
    "CallTIRRewrite": "lowering.calls",
    "CheckPlan": "dynamic_checks",
    "DataflowMutator": "visitors",
    "ExprMutator": "visitors",
    "ExprVisitor": "visitors",
    "LambdaLift": "lowering.local_functions",
    "Legalized": "legalization",
    "Match": "patterns",
    "MeaningError": "validation",
    "ModulePass": "lowering.passes",
    "Normalize": "lowering.structure",
    "NotValidatedWarning": "validation",
    "PassError": "lowering.passes",
    "Pattern": "patterns",
    "PatternError": "patterns",
    "RemovePurityChecking": "lowering.structure",
    "Sequential": "lowering.passes",
    "StaticPlanBlockMemory": "lowering.memory",
    "ToNonDataflow": "lowering.structure",
    "VMMemoryLower": "lowering.memory",
    "VMShapeLower": "lowering.shapes",
    "common_subexpressions": "passes",
    "dead_code": "passes",
    "deduce_shapes": "shapes",
    "eliminate": "dynamic_checks",
    "find": "patterns",
    "fold_shapes": "passes",
    "fuse_matmul_add": "passes",
    "is_call": "patterns",
    "is_const": "patterns",
    "is_expr": "patterns",
    "is_function": "patterns",
    "is_op": "patterns",
    "is_shape": "patterns",
    "is_tuple": "patterns",
    "is_tuple_get_item": "patterns",
    "is_var": "patterns",
    "lambda_lifting": "lowering.local_functions",
    "legalize": "legalization",
    "legalized": "legalization",
    "outline": "shapes",
    "plan": "dynamic_checks",
    "propagate_shapes": "shapes",
    "rewrite": "patterns",
    "rewrite_bindings": "patterns",
    "rewrite_dataflow": "visitors",
    "struct_info": "builder",
    "validated": "validation",
    "wildcard": "patterns",
}

__all__ = [
    "AttachGlobalSymbol",
    "BlockBuilder",
    "BuildError",
    "BuildWarning",
    "CallTIRRewrite",
    "CheckPlan",
    "DataflowMutator",
    "ExprMutator",
    "ExprVisitor",
    "LambdaLift",
    "Legalized",
    "Match",
    "MeaningError",
    "ModulePass",
    "Normalize",
    "NotValidatedWarning",
    "PassError",
    "Pattern",
    "PatternError",
    "RemovePurityChecking",
    "Sequential",
    "StaticPlanBlockMemory",
    "ToNonDataflow",
    "VMMemoryLower",
    "VMShapeLower",
    "common_subexpressions",
    "dead_code",
    "deduce_shapes",
    "eliminate",
    "find",
    "fold_shapes",
    "fuse_matmul_add",
    "is_call",
    "is_const",
    "is_expr",
    "is_function",
    "is_op",
    "is_shape",
    "is_tuple",
    "is_tuple_get_item",
    "is_var",
    "lambda_lifting",
    "legalize",
    "legalized",
    "outline",
    "plan",
    "propagate_shapes",
    "rewrite",
    "rewrite_bindings",
    "rewrite_dataflow",
    "struct_info",
    "validated",
    "wildcard",
]


def __getattr__(name: str) -> object:
    return lazy.found(__name__, name, _HOMES)
