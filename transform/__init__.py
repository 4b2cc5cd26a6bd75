"""Transformations of modules: builders, visitors, patterns, passes, shapes, legalisation, lowering,
elimination of run-time checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.transform.analysis import (
        all_global_vars,
        all_vars,
        annotated,
        bound_vars,
        contains_impure_call,
        defined_symbolic_vars,
        detect_recursion,
        free_symbolic_vars,
        free_vars,
        name_to_binding,
        post_order_visit,
        udchain,
        used_vars,
    )
    from rlx.transform.arguments import argument
    from rlx.transform.binding_rewrite import DataflowBlockRewrite
    from rlx.transform.builder import BlockBuilder, BuildError, BuildWarning, struct_info
    from rlx.transform.dynamic_checks import CheckPlan, eliminate, plan
    from rlx.transform.equality import assert_structural_equal, structural_equal
    from rlx.transform.legalization import Legalized, legalize, legalized
    from rlx.transform.lowering.calls import CallTIRRewrite
    from rlx.transform.lowering.local_functions import LambdaLift, lambda_lifting
    from rlx.transform.lowering.memory import StaticPlanBlockMemory, VMMemoryLower
    from rlx.transform.lowering.passes import (
        ModulePass,
        PassContext,
        PassError,
        PassInfo,
        Sequential,
        dataflowblock_pass,
        function_pass,
        module_pass,
    )
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
    from rlx.transform.passes.param_types import UpdateParamType
    from rlx.transform.passes.parameters import (
        BindParams,
        BindSymbolicVars,
        bind_params,
        bind_symbolic_vars,
    )
    from rlx.transform.passes.prim_values import ComputePrimValue
    from rlx.transform.passes.private_functions import (
        InlinePrivateFunctions,
        RemoveUnusedOutputs,
        RemoveUnusedParameters,
    )
    from rlx.transform.passes.simple import (
        CanonicalizeBindings,
        ConvertToDataflow,
        DeadCodeElimination,
        EliminateCommonSubexpr,
        FoldConstant,
    )
    from rlx.transform.passes.topological_sort import TopologicalSort
    from rlx.transform.passes.tuple_arguments import ExpandTupleArguments
    from rlx.transform.patterns import (
        AndPattern,
        AttrPattern,
        CallPattern,
        ConstantPattern,
        DataflowVarPattern,
        DataTypePattern,
        ExprPattern,
        ExternFuncPattern,
        FunctionPattern,
        FunctionRule,
        GlobalVarPattern,
        Match,
        NotPattern,
        OpPattern,
        OrPattern,
        Pattern,
        PatternContext,
        PatternError,
        PatternMatchingRewriter,
        PatternSeq,
        PrimArrPattern,
        SameShapeConstraint,
        ShapePattern,
        StructInfoPattern,
        TupleGetItemPattern,
        TuplePattern,
        UnorderedTuplePattern,
        VarPattern,
        WildcardPattern,
        find,
        get_var2val,
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
        rewrite,
        rewrite_bindings,
        rewrite_call,
        wildcard,
    )
    from rlx.transform.shapes.deduce import deduce_shapes
    from rlx.transform.shapes.outline import outline
    from rlx.transform.shapes.propagate import propagate_shapes
    from rlx.transform.validation import MeaningError, NotValidatedWarning, validated
    from rlx.transform.visitors import DataflowMutator, ExprMutator, ExprVisitor, rewrite_dataflow

__all__ = [
    "AndPattern",
    "AttachGlobalSymbol",
    "AttrPattern",
    "BindParams",
    "BindSymbolicVars",
    "BlockBuilder",
    "BuildError",
    "BuildWarning",
    "CallPattern",
    "CallTIRRewrite",
    "CanonicalizeBindings",
    "CheckPlan",
    "ComputePrimValue",
    "ConstantPattern",
    "ConvertToDataflow",
    "DataTypePattern",
    "DataflowBlockRewrite",
    "DataflowMutator",
    "DataflowVarPattern",
    "DeadCodeElimination",
    "EliminateCommonSubexpr",
    "ExpandTupleArguments",
    "ExprMutator",
    "ExprPattern",
    "ExprVisitor",
    "ExternFuncPattern",
    "FoldConstant",
    "FunctionPattern",
    "FunctionRule",
    "GlobalVarPattern",
    "InlinePrivateFunctions",
    "LambdaLift",
    "Legalized",
    "Match",
    "MeaningError",
    "ModulePass",
    "Normalize",
    "NotPattern",
    "NotValidatedWarning",
    "OpPattern",
    "OrPattern",
    "PassContext",
    "PassError",
    "PassInfo",
    "Pattern",
    "PatternContext",
    "PatternError",
    "PatternMatchingRewriter",
    "PatternSeq",
    "PrimArrPattern",
    "RemovePurityChecking",
    "RemoveUnusedOutputs",
    "RemoveUnusedParameters",
    "SameShapeConstraint",
    "Sequential",
    "ShapePattern",
    "StaticPlanBlockMemory",
    "StructInfoPattern",
    "ToNonDataflow",
    "TopologicalSort",
    "TupleGetItemPattern",
    "TuplePattern",
    "UnorderedTuplePattern",
    "UpdateParamType",
    "VMMemoryLower",
    "VMShapeLower",
    "VarPattern",
    "WildcardPattern",
    "all_global_vars",
    "all_vars",
    "annotated",
    "argument",
    "assert_structural_equal",
    "bind_params",
    "bind_symbolic_vars",
    "bound_vars",
    "common_subexpressions",
    "contains_impure_call",
    "dataflowblock_pass",
    "dead_code",
    "deduce_shapes",
    "defined_symbolic_vars",
    "detect_recursion",
    "eliminate",
    "find",
    "fold_shapes",
    "free_symbolic_vars",
    "free_vars",
    "function_pass",
    "fuse_matmul_add",
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
    "lambda_lifting",
    "legalize",
    "legalized",
    "module_pass",
    "name_to_binding",
    "outline",
    "plan",
    "post_order_visit",
    "propagate_shapes",
    "reject",
    "rewrite",
    "rewrite_bindings",
    "rewrite_call",
    "rewrite_dataflow",
    "struct_info",
    "structural_equal",
    "udchain",
    "used_vars",
    "validated",
    "wildcard",
]


def __getattr__(name: str) -> object:
    return lazy.public_name(__name__, name)
