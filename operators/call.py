"""Calls of PrimFuncs and packed functions, whose results are declared by the call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import (
    Call,
    Expr,
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.struct_infos import OBJECT, fields_or_itself
from rlx.grammar.wording import counted
from rlx.operators.callee import LITERALS, closure, declared_result, named, packed
from rlx.operators.operator_call import OperatorCall
from rlx.operators.parameters import Ints, Listed, StrExpr, TupleExpr, Types, Whole
from rlx.operators.prim_call import agreement, callee, passed, trailing
from rlx.operators.registry import operator
from rlx.spec.registry import rule

_CALLS_ANOTHER = "it calls a function that exists already"

UNIT = TupleStructInfo(())
_NO_ARGUMENTS = (ast.PrimValue, ast.StringImm, ast.DataTypeImm)


def with_tuple(call: Call) -> Call | None:
    """The call with a tuple literal as its second argument, the argument tuple (NF5).

    A variable with a tuple annotation is replaced by the tuple of its fields; any other single
    argument is put into a tuple.
    """
    if len(call.args) < 2 or isinstance(call.args[1], ast.Tuple):
        return None
    given = call.args[1]
    info = given.struct_info_annotation if isinstance(given, ast.Var) else None
    if isinstance(info, TupleStructInfo):
        parts: tuple[Expr, ...] = tuple(ast.TupleGetItem(given, k) for k in range(len(info.fields)))
    elif isinstance(given, _NO_ARGUMENTS) or (isinstance(given, ast.Var) and info is None):
        return None
    else:
        parts = (given,)
    taken_apart = isinstance(info, TupleStructInfo)
    spelled = {**call.spelled, 1: "a tuple"} if taken_apart else call.spelled
    return replace(call, args=(call.args[0], ast.Tuple(parts), *call.args[2:]), spelled=spelled)


@rule("OBL-outputs", "obligation")
def outputs(site: OperatorCall, types: Types) -> tuple[TensorStructInfo, ...]:
    """The declared results of a call that allocates them: a tensor with a shape, or a tuple of such
    tensors.
    """
    words = site.ctx.dialect.out_info
    if len(types) != 1:
        site.fail("OBL-outputs-declared", f"{len(types)} {words} are given, expected one")
    found = types[0].fields if isinstance(types[0], TupleStructInfo) else types
    tensors = tuple(x for x in found if isinstance(x, TensorStructInfo))
    if len(tensors) != len(found):
        from rlx.operators.operator_call import show

        site.fail(
            "OBL-outputs-tensor",
            f"{words} must be a tensor or a tuple of tensors, not {show(types[0])}",
            best=types[0],
        )
    for number, tensor in enumerate(tensors):
        if tensor.shape is None:
            shown = "the result" if len(tensors) == 1 else f"result {number}"
            site.fail(
                "OBL-outputs-shape",
                f"the shape of {shown} must be declared, because it is allocated before the call",
                best=types[0],
            )
    return tensors


@operator("relax.call_tir", kept=_CALLS_ANOTHER, normalizer=with_tuple)
def call_tir(
    site: OperatorCall, func: Expr, args: Expr, tir_vars: Any | None = None, *, out_sinfo: Types
) -> StructInfo:
    """A PrimFunc called on the arguments and on newly allocated results."""
    out = outputs(site, out_sinfo)
    passed(site, args)
    trailing(site, tir_vars)
    agreement(site, func, args, out, tir_vars)
    return out_sinfo[0]


@operator("relax.call_tir_with_grad", kept=_CALLS_ANOTHER, normalizer=with_tuple)
def call_tir_with_grad(
    site: OperatorCall,
    func: Expr,
    args: Expr,
    tir_vars: Any | None = None,
    te_grad_name: str = "",
    te_grad_kwargs: Any | None = None,
    *,
    out_sinfo: Types,
) -> StructInfo:
    """Like ``call_tir``, with the name of the function that computes the gradient."""
    return call_tir(site, func, args, tir_vars, out_sinfo=out_sinfo)


@rule("OBL-inplace", "obligation")
def overwritten(
    site: OperatorCall, indices: Sequence[int], given: Sequence[StructInfo], count: int
) -> None:
    """Check the indices of overwritten arguments: each is -1 or that of an existing argument, which
    has elements to overwrite, and none is repeated.
    """
    from rlx.operators.operator_call import show

    if len(indices) != count:
        site.fail(
            "OBL-inplace-length",
            f"inplace_indices has {len(indices)} elements for {counted(count, 'result')}",
        )
    used = [k for k in indices if k != -1]
    if any(not 0 <= k < len(given) for k in used):
        site.fail(
            "OBL-inplace-range",
            (
                f"inplace_indices {list(indices)}: each must be -1 or the index of one of {len(given)}"
                " arguments"
            ),
        )
    for k in used:
        if isinstance(given[k], (PrimStructInfo, ShapeStructInfo, FuncStructInfo)):
            words = f"argument {k}, {show(given[k])}, cannot be overwritten: it is not a tensor"
            site.fail("OBL-inplace-tensor", words)
    if len(set(used)) != len(used):
        site.fail(
            "OBL-inplace-repeated",
            f"inplace_indices {list(indices)} overwrites an argument twice",
        )
    if not used:
        site.fail("OBL-inplace-none", "inplace_indices names no argument to overwrite")


def spelled_out(site: OperatorCall, args: Expr) -> None:
    """Check that the overwritten arguments stand in the call, as TVM's parser wants it."""
    if site.call.spelled.get(1) == "a tuple" or isinstance(args, ast.Var):
        words = f"{site.shown(1)} names a tuple: write the overwritten arguments into the call"
        site.warn("OBL-inplace-literal", words, 1)


@operator("relax.call_tir_inplace", kept=_CALLS_ANOTHER, normalizer=with_tuple)
def call_tir_inplace(
    site: OperatorCall,
    func: Expr,
    args: Expr,
    tir_vars: Any | None = None,
    *,
    inplace_indices: Ints,
    out_sinfo: Types,
) -> StructInfo:
    """Like ``call_tir``, with results that overwrite arguments."""
    out = outputs(site, out_sinfo)
    passed(site, args)
    trailing(site, tir_vars)
    given = fields_or_itself(site.ctx.info(args))
    spelled_out(site, args)
    overwritten(site, inplace_indices, given, len(out))
    reuses(site, inplace_indices, given, out)
    new = tuple(o for o, k in zip(out, inplace_indices, strict=True) if k < 0)
    agreement(site, func, args, new, tir_vars, inplace_indices)
    return out_sinfo[0]


@rule("OBL-reuse", "obligation")
def reuses(
    site: OperatorCall,
    indices: Sequence[int],
    given: Sequence[StructInfo],
    out: Sequence[TensorStructInfo],
) -> None:
    """Check that a result that overwrites an argument has the argument's element type and shape."""
    from rlx.operators.operator_call import show

    for number, (result, k) in enumerate(zip(out, indices, strict=True)):
        info = given[k] if k >= 0 else None
        if not isinstance(info, TensorStructInfo):
            continue
        words = f"result {number}, {show(result)}, overwrites argument {k}, {show(info)}"
        if info.dtype != result.dtype and not info.dtype.is_void:
            site.fail("OBL-reuse-dtype", f"{words}: the element types differ", 1)
        a, b = site.dims(info), site.dims(result)
        if a is None or b is None:
            continue
        if len(a) != len(b):
            site.fail("OBL-reuse-rank", f"{words}: the ranks differ", 1)
        alike = site.together("OBL-reuse-shape", 1)
        for x, y in zip(a, b, strict=True):
            alike.equal(x, y, partial(str.format, "{}: the shapes differ", words))
        alike.settle()


@rule("OBL-kept", "obligation")
def kept(
    site: OperatorCall,
    indices: Sequence[int],
    given: Sequence[StructInfo],
    out: Sequence[StructInfo],
) -> None:
    """Check that arguments overwritten by a packed function match the declared results."""
    from rlx.operators.operator_call import show
    from rlx.solver.order import compatibility

    for number, (result, k) in enumerate(zip(out, indices, strict=True)):
        info = given[k] if k >= 0 else None
        if info is None or info is result:
            continue
        kind = compatibility(info, result, site.ctx.prover).kind
        words = f"result {number}, {show(result)}, overwrites argument {k}, {show(info)}"
        if kind == "incompatible":
            site.fail("OBL-kept-info", f"{words}: the two are incompatible", 1)
        if kind != "compatible":
            site.warn("OBL-kept-info", f"{words}, which may be different", 1)


@operator("relax.call_dps_packed", kept=_CALLS_ANOTHER, normalizer=with_tuple)
def call_dps_packed(site: OperatorCall, func: Expr, args: Expr, out_sinfo: Types) -> StructInfo:
    """A packed function, or a PrimFunc, called on the arguments and on newly allocated results."""
    packed(site, func, prim_func=True)
    written(site, args)
    outputs(site, out_sinfo)
    return out_sinfo[0]


@operator("relax.call_pure_packed", kept=_CALLS_ANOTHER)
def call_pure_packed(site: OperatorCall, func: Expr, *args: Expr, sinfo_args: Types) -> StructInfo:
    """A packed function that is assumed to have no visible effect."""
    packed(site, func)
    require_declared(site, sinfo_args)
    return declared_result(sinfo_args)


@rule("OBL-written", "obligation")
def written(site: OperatorCall, args: Expr) -> None:
    """Check that the arguments are a tuple literal or one tensor."""
    info = site.ctx.info(args)
    best = declared_result(site.call.sinfo_args)
    if isinstance(args, ast.Tuple) and site.call.spelled.get(1) != "a tuple":
        (alone,) = args.fields if args.field_spans == (args.span,) else (None,)
        if isinstance(alone, ast.Var) and isinstance(site.ctx.info(alone), ast.ObjectStructInfo):
            name = alone.name_hint
            words = f"{name} may be a tuple, but is passed as one argument: write ({name},)"
            site.warn("OBL-written-tuple", words, 1)
        return
    if isinstance(info, TupleStructInfo):
        words = f"{site.shown(1)} must be written as a tuple of its fields: (t[0], t[1])"
        site.warn("OBL-written-tuple", words, 1)
    elif isinstance(info, ast.ObjectStructInfo) and not isinstance(args, LITERALS):
        site.warn("OBL-written-tuple", f"{site.shown(1)} may not be a tuple", 1)
    elif not isinstance(info, TensorStructInfo) or isinstance(args, LITERALS):
        words = f"{site.shown(1)} is not a tuple; write the arguments as one tuple"
        site.fail("OBL-written-tuple", words, 1, best)


def warn_undeclared(site: OperatorCall, types: Types) -> None:
    """Warn if a call does not declare its result, which older texts omit."""
    if not types:
        site.warn("OBL-stated-result", "no result is declared, so the result may be any value")


@rule("OBL-stated", "obligation")
def require_declared(site: OperatorCall, types: Types) -> None:
    """Check that a pure call of a packed function declares its result."""
    if not types:
        words = f"no result is declared, expected {site.ctx.dialect.info_args}"
        site.fail("OBL-stated-result", words)


@operator("relax.call_inplace_packed", kept=_CALLS_ANOTHER)
def call_inplace_packed(
    site: OperatorCall, func: Expr, *args: Expr, inplace_indices: Ints, sinfo_args: Types
) -> StructInfo:
    """A packed function that overwrites arguments that nothing else uses."""
    packed(site, func)
    require_declared(site, sinfo_args)
    given = [site.ctx.info(arg) for arg in args]
    result = declared_result(sinfo_args)
    out = fields_or_itself(result)
    overwritten(site, inplace_indices, given, len(out))
    tensors = [x for x in out if isinstance(x, TensorStructInfo)]
    if len(tensors) == len(out):
        reuses(site, inplace_indices, given, tensors)
    kept(site, inplace_indices, given, out)
    return result


@operator("relax.call_builtin_with_ctx", kept=_CALLS_ANOTHER, pure=False)
def call_builtin(site: OperatorCall, func: Expr, args: TupleExpr, sinfo_args: Types) -> StructInfo:
    """A run-time function, which also gets the state of the run time."""
    packed(site, func)
    written(site, args)
    warn_undeclared(site, sinfo_args)
    return declared_result(sinfo_args)


@operator("relax.invoke_closure", kept=_CALLS_ANOTHER, pure=False)
@operator("relax.invoke_pure_closure", kept=_CALLS_ANOTHER)
def invoke_closure(
    site: OperatorCall, closure_: Expr, args: TupleExpr, sinfo_args: Types
) -> StructInfo:
    """A closure called on the fields of a tuple."""
    closure(site, closure_, args)
    written(site, args)
    warn_undeclared(site, sinfo_args)
    return declared_result(sinfo_args)


@operator("relax.call_py_func", kept=_CALLS_ANOTHER)
def call_py_func(
    site: OperatorCall, py_func_name: Expr, args: TupleExpr, out_sinfo: Types
) -> StructInfo:
    """A function of the host, called by its name."""
    named(site, py_func_name)
    warn_undeclared(site, out_sinfo)
    return declared_result(out_sinfo)


@operator("relax.dist.call_tir_local_view", kept=_CALLS_ANOTHER)
def call_tir_local_view(
    site: OperatorCall, func: Expr, args: Expr, tir_vars: Any | None = None, *, out: Types
) -> StructInfo:
    """A PrimFunc called on a worker's parts of distributed tensors."""
    return declared_result(out)


@operator("relax.make_closure", kept=_CALLS_ANOTHER)
def make_closure(site: OperatorCall, func: Expr, args: TupleExpr) -> StructInfo:
    """A function together with the values it captures."""
    closure(site, func, args, captured=True)
    return OBJECT


@operator("relax.vm.call_tir_dyn", kept=_CALLS_ANOTHER, pure=False)
def call_tir_dyn(site: OperatorCall, func: Expr, args: TupleExpr) -> StructInfo:
    """A PrimFunc called on arguments and on results that are already allocated."""
    callee(site, func)
    passed(site, args)
    return UNIT


@operator("relax.assert_op", pure=False, calls="bool() | prim(True), format='no'")
def assert_op(
    site: OperatorCall, condition: Expr, *format_args: Listed, format_: StrExpr = ""
) -> StructInfo:
    """Stops the program if a Boolean scalar is false."""
    asserted(site, condition)
    return UNIT


@rule("OBL-assert", "obligation")
def asserted(site: OperatorCall, condition: Expr) -> None:
    """Check that the condition of an assertion is a Boolean scalar."""
    info = site.ctx.info(condition)
    kind = getattr(info, "dtype", None)
    ndim = site.rank(info) if isinstance(info, TensorStructInfo) else 0
    if isinstance(info, ast.ObjectStructInfo) and not isinstance(condition, ast.StringImm):
        if not site.ctx.poisoned(condition):
            site.warn("OBL-assert-bool", f"{site.shown(0)} may not be a Boolean scalar", 0)
        return
    if kind is None or not (kind.code == "bool" or kind.is_void) or ndim not in (0, None):
        site.fail("OBL-assert-bool", f"{site.shown(0)} must be a Boolean scalar", 0, UNIT)


@operator(
    "relax.print",
    pure=False,
    calls="""
    x(a, b), format='{}'
    x(a), prim(a), format='{} {}'
    """,
)
def print_values(site: OperatorCall, *values: Whole, format_: StrExpr = "") -> StructInfo:
    """Writes values to the console."""
    return UNIT
