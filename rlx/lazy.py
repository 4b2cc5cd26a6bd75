"""Public names of a room that are imported at their first use."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any


def public_name(room: str, name: str) -> object:
    """A public name of a room, imported now; what a room's ``__getattr__`` returns.

    Where the name comes from is said once, by the imports that the room shows to type checkers.

    Raises
    ------
    AttributeError
        If there is no such name; the message lists those that there are.
    """
    from importlib import import_module

    listed: list[str] = sys.modules[room].__all__
    if name not in listed:
        # Python asks for modules of the room, too, before it imports them: this must stay cheap.
        if name in OF_TVM:
            raise AttributeError(f"{room} has no {name}: write {OF_TVM[name]}")
        raise AttributeError(
            f"module {room!r} has no attribute {name!r}; it has: {', '.join(sorted(listed))}"
        )
    home = _homes(room)[name]
    value: object
    if home == room or not hasattr(module := import_module(home), name):
        value = import_module(f"{home}.{name}")
    else:
        value = getattr(module, name)
    setattr(sys.modules[room], name, value)
    return value


OF_TVM = {
    "PyExprVisitor": "rlx.ExprVisitor, without a decorator",
    "PyExprMutator": "rlx.ExprMutator, without a decorator",
    **dict.fromkeys(
        ("expr_functor", "ExprFunctor"), "rlx.ExprVisitor or rlx.ExprMutator, without a decorator"
    ),
    **dict.fromkeys(("visitor", "mutator"), "nothing: the classes need no decorator"),
    "ExprPatternRewriter": "PatternMatchingRewriter.from_pattern(pattern, function)",
    "OrRewriter": "first | second of two rewriters",
    "TupleRewriter": "PatternMatchingRewriter.from_module(…): a rule that returns a tuple",
    "dpl": "from rlx.transform import is_op, wildcard, …",
    "analysis": "from rlx.transform import free_vars, get_var2val, …, or rlx.check(…)",
    **dict.fromkeys(("check_well_formed", "well_formed"), "rlx.check(module).ok"),
    "remove_all_unused": "rlx.transform.dead_code(module)",
    "estimate_memory_usage": "rlx.memory(module)",
    **dict.fromkeys(("tir_vars_in_type", "definable_tir_vars_in_type"), "function.shape_vars"),
    **dict.fromkeys(
        ("type_base_check", "type_lca", "erase_to_well_defined", "get_static_type"),
        "subtype, lub or erase of rlx.solver.order",
    ),
    "derive_call_ret_type": "bb.struct_info(call)",
    "collect_non_negative_expressions": 'bb.prove("n >= 0"): sizes are never negative',
    "Call": "a call of the callee, as in gv(x, y)",
    "Function": "with bb.function(…)",
    "Tuple": "a tuple of Python: (x, y)",
    "ShapeExpr": "a list where an operator takes a shape, or rlx.op.shape([2, n])",
    "DFPattern": "Pattern",
    "PassInstrument": "a class with run_before_pass(module, each), for PassContext(instruments=[…])",
    "pass_instrument": "a class with run_before_pass(module, each), for PassContext(instruments=[…])",
    **dict.fromkeys(
        ("PrintIR", "DumpIR", "PrintAfterAll", "PrintBeforeAll", "PassPrintingInstrument"),
        "an instrument whose run_after_pass(module, each) prints rlx.show(module)",
    ),
    "PassTimingInstrument": "an instrument with run_before_pass and run_after_pass",
    **dict.fromkeys(("Pass", "FunctionPass", "DataflowBlockPass"), "ModulePass"),
    "make_fused_bias_activation_pattern": "is_op(…)(is_op(…)(x, w), bias)",
    "NormalizeGlobalVar": "nothing: a legal module has these names",
    "VMBuiltinLower": "VMMemoryLower",
    **{
        name: f"rlx.op.{name}"
        for name in ("call_dps_packed", "call_pure_packed", "call_tir", "call_tir_inplace")
    },
    "get_shape_of": "rlx.op.shape_of(x)",
    **dict.fromkeys(("prim_value", "PrimValue"), "the scalar itself"),
    "StringImm": "the text itself",
    "DataTypeImm": "the name of the type where an operator takes one, such as 'float32'",
    "Constant": "rlx.const(…)",
    "extern": "from rlx.grammar.nodes.ast import ExternFunc",
    "convert_to_expr": "the value itself: numbers, texts and tuples are converted",
    "AnyType": "the text of the annotation, 'R.Object'",
    "FuncType": "the text of the annotation, 'R.Callable((R.Tensor,), R.Tensor)'",
    "VDevice": "from rlx.grammar.nodes.ast import VDevice",
    **{name: f"rlx.vm.{name}" for name in ("ExecBuilder", "VirtualMachine", "build")},
    "div": "a / b, or te.truncdiv(a, b)",
    "logaddexp": "te.log(te.exp(a) + te.exp(b))",
    "CommReducer": "te.comm_reducer(…)",
    **dict.fromkeys(("thread_axis", "trace", "create_schedule"), "nothing: schedules stay TVM's"),
    "LegalizeOps": "rlx.transform.legalize(module)",
    **{
        name: f"TVM's relax.transform.{name}: to optimise stays its task"
        for name in (
            *("AlterOpImpl", "AnnotateTIROpPattern", "CombineParallelMatmul", "ConvertLayout"),
            *("DataflowUseInplaceCalls", "DecomposeOpsForInference", "DecomposeOpsForTraining"),
            *("FastMathTransform", "FoldBatchnormToConv2D", "FuseOps", "FuseOpsByPattern"),
            *("FuseTIR", "FuseTransposeMatmul", "Gradient", "LiftTransformParams"),
            *("MergeCompositeFunctions", "MetaScheduleApplyDatabase", "MetaScheduleTuneIRMod"),
            *("MetaScheduleTuneTIR", "RewriteCUDAGraph", "RewriteDataflowReshape", "RunCodegen"),
            *("SplitCallTIRByPattern", "ToMixedPrecision", "AdjustMatmulOrder"),
            *("AllocateWorkspace", "AttachAttrLayoutFreeBuffers", "AttachExternModules"),
            *("BundleModelParams", "ExpandMatmulOfSum", "KillAfterLastUse", "LazyGetInput"),
            *("LazySetOutput", "LazyTransformParams", "OptimizeLayoutTransform", "RealizeVDevice"),
            *("RemoveRedundantReshape", "ReorderPermuteDimsAfterConcat"),
            *("ReorderTakeAfterMatmul", "SpecializePrimFuncBasedOnCallSite", "UpdateVDevice"),
        )
    },
    **{
        name: f"from rlx.grammar.nodes.ast import {name}"
        for name in (
            *("Binding", "BindingBlock", "DataflowBlock", "DataflowVar", "Expr", "ExternFunc"),
            *("GlobalVar", "If", "MatchCast", "SeqExpr", "TupleGetItem", "VarBinding"),
        )
    },
    "TypePattern": "StructInfoPattern",
    **{
        f"{kind}{word}": f"""the text of the annotation, such as 'R.{kind}({given})'"""
        for word in ("StructInfo", "Type")
        for kind, given in (
            ("Tensor", '("n", 4), "float32"'),
            ("Shape", '["n", 4]'),
            ("Tuple", "R.Tensor, R.Object"),
            ("Prim", '"int64"'),
            ("Object", ""),
        )
    },
}
"""Replacements for names that TVM has at these places."""


@cache
def _homes(room: str) -> dict[str, str]:
    """The module of each name that a room imports for type checkers: its code is there, its source may not be."""
    from dis import get_instructions

    module: Any = sys.modules[room]
    found: dict[str, str] = {}
    home = ""
    for instruction in get_instructions(module.__loader__.get_code(room)):
        match instruction.opname:
            case "IMPORT_NAME":
                home = instruction.argval
            case "IMPORT_FROM":
                found[instruction.argval] = home
    return {name: home for name, home in found.items() if name in module.__all__}
