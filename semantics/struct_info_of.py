"""The struct info of values and functions at run time.

A lowered program has no shape variables, so an attribute of each function has its original
signature as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.semantics.values import (
    Closure,
    Packed,
    PrimFuncValue,
    Scalar,
    ShapeValue,
    Tensor,
    TupleValue,
    Value,
)
from rlx.solver.order.demands import Demand, demands, every

# ---------------------------------------------------------------- numbers that annotations compare


def bound_by(
    values: Sequence[Value], infos: Iterable[ast.StructInfo]
) -> dict[tir.Var, int | float]:
    """The shape variables that get a number from values with these annotations."""
    found: dict[tir.Var, int | float] = {}
    for value, info in zip(values, infos, strict=True):
        for demand in every(demands(info)):
            number = number_at(value, demand) if isinstance(demand.wanted, tir.Var) else None
            if number is not None:
                found.setdefault(demand.wanted, number)
    return found


def number_at(value: Value, demand: Demand) -> int | float | None:
    """The number in a value at the position that an annotation compares; None if the value has no
    such part.
    """
    for at in demand.fields:
        if not isinstance(value, TupleValue) or at >= len(value.fields):
            return None
        value = value.fields[at]
    match demand.whole, value:
        case ast.TensorStructInfo(), Tensor(shape=found):
            pass
        case ast.ShapeStructInfo(), ShapeValue(values=found):
            pass
        case ast.PrimStructInfo(), Scalar(value=number):
            return number
        case _:
            return None
    return found[demand.axis] if demand.axis < len(found) else None


def struct_info_of(value: Value) -> ast.StructInfo:
    """The most precise struct info of a value; Object for values unknown to Relax."""
    known = _INFOS.get(type(value))
    return OBJECT if known is None else known(value)


def _dims(sizes: tuple[int, ...]) -> tuple[tir.PrimExpr, ...]:
    return tuple(tir.IntImm(size) for size in sizes)


def _tensor(value: Tensor) -> ast.StructInfo:
    device = None if value.device is None else ast.VDevice(*value.device)
    shape = ast.ShapeExpr(_dims(value.shape))
    return ast.TensorStructInfo(shape, dtype(value.dtype), len(value.shape), device)


def _scalar(value: Scalar) -> ast.StructInfo:
    made = tir.FloatImm if value.dtype.is_float else tir.IntImm
    return ast.PrimStructInfo(value.dtype, made(value.value, value.dtype))  # type: ignore[arg-type]


def _closure(value: Closure) -> ast.StructInfo:
    """The function's own, with the numbers of the shape variables that it captured."""
    from rlx.solver.order import substitute

    code = value.code
    numbers = {
        var: tir.IntImm(held, var.dtype)
        for var, held in zip(code.captured, value.captured, strict=True)
        if isinstance(var, tir.Var)
    }
    info: ast.FuncStructInfo = substitute(code.info, numbers)  # type: ignore[assignment]
    return _without_trailing(info, value.trailing) if value.trailing else info


def _without_trailing(info: ast.FuncStructInfo, trailing: tuple[Value, ...]) -> ast.StructInfo:
    """The struct info of a function whose last arguments are given, and with them some shape
    variables.
    """
    from rlx.solver.order import substitute

    if info.params is None:
        return info
    count = len(info.params) - len(trailing)
    known = bound_by(trailing, info.params[count:])
    binders = tuple(var for var in info.binders if var not in known)
    left = ast.FuncStructInfo(info.params[:count], info.ret, info.purity, None, binders)
    return substitute(left, {v: tir.IntImm(int(n), v.dtype) for v, n in known.items()})


def _prim_func(value: PrimFuncValue) -> ast.StructInfo:
    from rlx.checker.derive.module import prim_func

    return prim_func(value.func)


def _tuple(value: TupleValue, done: dict[int, ast.StructInfo]) -> ast.StructInfo:
    """The type of a tuple, whose tuples may share their fields."""
    found = done.get(id(value))
    if found is None:
        fields = tuple(
            _tuple(field, done) if isinstance(field, TupleValue) else struct_info_of(field)
            for field in value.fields
        )
        found = done[id(value)] = ast.TupleStructInfo(fields)
    return found


_INFOS: dict[type, Callable[[Any], ast.StructInfo]] = {
    Tensor: _tensor,
    ShapeValue: lambda value: ast.ShapeStructInfo(_dims(value.values), len(value.values)),
    Scalar: _scalar,
    TupleValue: lambda value: _tuple(value, {}),
    Closure: _closure,
    PrimFuncValue: _prim_func,
    Packed: lambda value: ast.FuncStructInfo(None, OBJECT, False, "default"),
}

SIGNATURE = "relax.run.signature"
"""The attribute with a function's signature before lowering."""


@lru_cache(maxsize=1024)
def head_of(text: str) -> ast.Function:
    """The function without a body in a text. Raises ValueError if it contains anything else."""
    from rlx.grammar.read.parser import parse

    parsed = parse(text, "<type of a function>")
    heads = [f for module in parsed.modules for f in module.functions.values()]
    if len(heads) == 1 and not any(d.is_error for d in parsed.diagnostics):
        head = heads[0]
        if isinstance(head, ast.Function):
            return head
    raise ValueError(text)


def known_of(head: ast.Function) -> ast.FuncStructInfo:
    """The type of a function at run time: parameters, result and purity."""
    params = tuple(param.struct_info_annotation or OBJECT for param in head.params)
    pure = head.is_pure is not False
    return ast.FuncStructInfo(
        params, head.ret_struct_info or OBJECT, pure, binders=tuple(head.shape_vars)
    )


def declared_by(types: tuple[ast.StructInfo, ...]) -> ast.StructInfo:
    """The type that the type arguments of a call declare: one is that of the value, several are
    those of its fields.
    """
    return types[0] if len(types) == 1 else ast.TupleStructInfo(types)


def declared(function: ast.Function) -> ast.FuncStructInfo:
    """The type of a function; for a lowered one, the type in its attribute."""
    kept = function.attrs.get(SIGNATURE)
    if isinstance(kept, str):
        try:
            return known_of(head_of(kept))
        except ValueError:  # anyone may write an attribute
            pass
    return known_of(function)
