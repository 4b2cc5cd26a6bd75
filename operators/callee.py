"""Callees of the operators that call functions: packed functions, closures, names."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import (
    Expr,
    FuncStructInfo,
    GlobalVar,
    ObjectStructInfo,
    StructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.struct_infos import OBJECT, fields_or_itself
from rlx.grammar.wording import counted
from rlx.operators.operator_call import OperatorCall, show
from rlx.spec.registry import rule

LITERALS = (ast.StringImm, ast.DataTypeImm)
"""Expressions whose struct info is Object, but that are certainly not functions, tensors, shapes or
tuples.
"""


def declared_result(types: Sequence[StructInfo]) -> StructInfo:
    """The result declared by the type arguments of a call: Object if there are none, a tuple if
    there are several.
    """
    if len(types) == 1:
        return types[0]
    return TupleStructInfo(tuple(types)) if types else OBJECT


def _signature(site: OperatorCall, code: str, func: Expr, wanted: str) -> FuncStructInfo | None:
    """The known signature of a function that is called; None if it is not even known to be a
    function.
    """
    info = site.ctx.info(func)
    if isinstance(info, FuncStructInfo):
        return info
    if isinstance(info, ObjectStructInfo) and not isinstance(func, LITERALS):
        return None
    _refuse(site, code, func, wanted)
    return None


def _refuse(site: OperatorCall, code: str, func: Expr, wanted: str) -> None:
    shown = show(func) if isinstance(func, LITERALS) else site.shown(0)
    best = declared_result(site.call.sinfo_args)
    site.fail(code, f"{shown} is called, but {wanted} is expected", 0, best)


def _prim_func(site: OperatorCall, func: Expr) -> bool:
    return isinstance(func, GlobalVar) and site.ctx.prim_func(func) is not None


@rule("OBL-packed", "obligation")
def packed(site: OperatorCall, func: Expr, prim_func: bool = False) -> None:
    """Check that the callee is a packed function or, if ``prim_func`` is set, a PrimFunc."""
    info = _signature(site, "OBL-packed-function", func, "a packed function")
    if info is None:
        if not site.ctx.poisoned(func):
            site.warn("OBL-packed-function", f"{site.shown(0)} may not be a packed function", 0)
    elif info.params is not None and not (prim_func and _prim_func(site, func)):
        _refuse(site, "OBL-packed-function", func, "a packed function")


@rule("OBL-closure", "obligation")
def closure(site: OperatorCall, func: Expr, args: Expr, captured: bool = False) -> None:
    """Check that the callee is a function and accepts the arguments.

    ``captured`` means that these are only the last arguments.
    """
    info = _signature(site, "OBL-closure-function", func, "a function")
    given = site.ctx.info(args)
    if info is None or info.params is None or not isinstance(given, TupleStructInfo):
        return
    expected, found = len(info.params), len(given.fields)
    best = OBJECT if captured else declared_result(site.call.sinfo_args)
    if found > expected if captured else found != expected:
        words = f"{show(func)} takes {counted(expected, 'argument')}, but the tuple has {found}"
        site.fail("OBL-closure-arity", words, 1, best)
    _accepts(site, info, given.fields, expected - found)


def _accepts(
    site: OperatorCall, function: FuncStructInfo, given: Sequence[StructInfo], first: int
) -> None:
    """Check that no argument is certainly of another type than its parameter."""
    from rlx.solver.order import compatibility, instantiate

    assert function.params is not None
    found = (*function.params[:first], *given)
    instance = instantiate(function, found, site.ctx.prover)
    for at, (info, wanted) in enumerate(zip(given, instance.params[first:], strict=True)):
        if compatibility(info, wanted, site.ctx.prover).kind == "incompatible":
            words = f"field {at} of the arguments is {show(info)}, but {show(wanted)} is expected"
            site.fail("OBL-closure-argument", words, 1, declared_result(site.call.sinfo_args))


@rule("OBL-name", "obligation")
def named(site: OperatorCall, func: Expr) -> None:
    """Check that the name of a function called by name is a string."""
    if isinstance(func, ast.StringImm):
        return
    if not isinstance(site.ctx.info(func), ObjectStructInfo) or isinstance(func, LITERALS):
        best = declared_result(site.call.sinfo_args)
        site.fail("OBL-name-string", f"{site.shown(0)} is not a name; expected a string", 0, best)
    if not site.ctx.poisoned(func):
        site.warn("OBL-name-string", f"{site.shown(0)} may not be a string", 0)


def arguments(site: OperatorCall, args: Expr) -> Sequence[StructInfo] | None:
    if isinstance(args, ast.Tuple):
        return [site.ctx.info(arg) for arg in args.fields]
    info = site.ctx.info(args)
    return None if isinstance(info, ObjectStructInfo) else fields_or_itself(info)
