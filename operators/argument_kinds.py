"""The kinds of parameters: what an argument may be, and what the rule receives for it.

An argument stands in a text as an expression (``R.prim_value(3)``, ``(1, 2)``, ``R.dtype("int8")``, a variable) or, as
a keyword, as a plain value (``3``, ``(1, 2)``, ``"int8"``); both become the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from rlx.grammar import ast, misspelt, tir
from rlx.grammar.ast import (
    Call,
    DataTypeImm,
    Expr,
    ObjectStructInfo,
    Op,
    PrimStructInfo,
    PrimValue,
    ShapeExpr,
    ShapeStructInfo,
    StringImm,
    TupleStructInfo,
    Var,
)
from rlx.grammar.dtype import BOOL, INT64, DataType, dtype, lacking
from rlx.grammar.node import Record
from rlx.grammar.suggest import did_you_mean
from rlx.grammar.tir import FloatImm, IntImm, PrimExpr, type_of
from rlx.operators import plain_values
from rlx.operators.dim_arithmetic import const
from rlx.operators.option_words import is_meant
from rlx.operators.parameters import Parameter, Tensor, Tensors

if TYPE_CHECKING:
    from rlx.operators.site import Site, Violation

Convert = Callable[["Site", Any, Parameter, int], Any]

UNKNOWN = Tensor()
NULL = ObjectStructInfo()
"""What is known of ``R.null_value()``: this object and no other of its kind."""
_LITERALS = (StringImm, DataTypeImm)


def null(site: Site, value: object, kind: str = "expr") -> bool:
    """Whether an argument is null: ``None``, ``R.null_value()`` (bound to a variable or not), ``R.tuple()``."""
    match value:
        case None:
            return True
        case Call(op=Op(op_name=name)):
            return name == "relax.null_value"
        case ast.Tuple(fields=()):
            return True
        case Var():
            info = site.ctx.info(value)
            return info is NULL or (not KINDS[kind].plain and isinstance(info, ObjectStructInfo))
    return False


def _tensor(site: Site, value: Any, parameter: Parameter, index: int) -> Tensor:
    info = site.ctx.info(value) if isinstance(value, Expr) else None
    if type(info) is Tensor:
        return info
    return _unclear(site, value, info, parameter, index)


def _unclear(
    site: Site, value: Any, info: ast.StructInfo | None, parameter: Parameter, index: int
) -> Tensor:
    """An unknown tensor, for what may be one; an error for what cannot be."""
    if isinstance(info, ObjectStructInfo) and not isinstance(value, _LITERALS):
        if not site.ctx.poisoned(value):
            site.warn("D14-argument", f"{site.shown(index)} may not be a tensor", index)
        return UNKNOWN
    site.fail("D14-argument", f"{_found(site, value, parameter)}, expected a tensor", index)


def _operand(site: Site, value: Any, parameter: Parameter, index: int) -> Tensor | PrimStructInfo:
    if isinstance(value, bool):
        return PrimStructInfo(BOOL, IntImm(int(value), BOOL))
    if isinstance(value, (int, float)):
        prim = _prim(site, value, parameter, index)
        return PrimStructInfo(type_of(prim), prim) if prim is not None else UNKNOWN
    info = site.ctx.info(value) if isinstance(value, Expr) else None
    if isinstance(info, PrimStructInfo):
        return info
    return _tensor(site, value, parameter, index)


def _tensors(site: Site, value: Any, parameter: Parameter, index: int) -> Tensors:
    items = value.fields if isinstance(value, ast.Tuple) else value
    if isinstance(items, tuple):
        return tuple(_tensor(site, item, parameter, index) for item in items)
    info = site.ctx.info(value) if isinstance(value, Expr) else None
    if isinstance(info, TupleStructInfo):
        return tuple(_field(site, field, parameter, index) for field in info.fields)
    if isinstance(info, ObjectStructInfo) and not isinstance(value, _LITERALS):
        if not site.ctx.poisoned(value):
            site.warn("D14-argument", f"{site.shown(index)} may not be a tuple of tensors", index)
        return None
    words = f"{_found(site, value, parameter)}, expected a tuple of tensors"
    site.fail("D14-argument", words, index)


def _field(site: Site, info: ast.StructInfo, parameter: Parameter, index: int) -> Tensor:
    if isinstance(info, Tensor):
        return info
    if isinstance(info, ObjectStructInfo):
        return UNKNOWN
    site.fail("D14-argument", f"{site.shown(index)} holds a value that is not a tensor", index)


def _size(site: Site, value: Any, parameter: Parameter, index: int) -> Expr:
    """A shape, or one number for all of its dimensions."""
    prim = isinstance(value, Var) and isinstance(site.ctx.info(value), PrimStructInfo)
    if prim or isinstance(value, (int, PrimExpr, PrimValue)):
        return _lengths(site, (value,), parameter, index)
    return _shape(site, value, parameter, index)


def _whole_shape(site: Site, value: Any, parameter: Parameter, index: int) -> Expr:
    """A shape that is no tuple of scalars."""
    if isinstance(value, (tuple, list, ast.Tuple)):
        words = f"{parameter.name} is a tuple, expected a shape: write R.shape([…])"
        site.fail("D14-argument", words, index)
    return _shape(site, value, parameter, index)


def _shape(site: Site, value: Any, parameter: Parameter, index: int) -> Expr:
    """A shape literal, or a variable that holds a shape."""
    match value:
        case ShapeExpr(values=items):
            found = _lengths(site, items, parameter, index)
            return value if found.values == items else found
        case tuple() | list() | ast.Tuple(fields=tuple()):
            given = value.fields if isinstance(value, ast.Tuple) else value
            return _lengths(site, given, parameter, index)
    if not isinstance(value, Expr):
        site.fail("D14-argument", f"{_found(site, value, parameter)}, expected a shape", index)
    info = site.ctx.info(value)
    if isinstance(info, ShapeStructInfo):
        return value if info.values is None else ShapeExpr(info.values)
    if not isinstance(info, ObjectStructInfo) or isinstance(value, _LITERALS):
        site.fail("D14-argument", f"{_found(site, value, parameter)}, expected a shape", index)
    if not site.ctx.poisoned(value):
        site.warn("D14-argument", f"{site.shown(index)} may not be a shape", index)
    return value


def _lengths(site: Site, items: Iterable[Any], parameter: Parameter, index: int) -> ShapeExpr:
    """A shape of these dimensions, which are integers."""
    dims = [_prim(site, item, parameter, index) for item in items]
    for dim in dims:
        kind = INT64 if dim is None or isinstance(dim, IntImm) else type_of(dim)
        if not kind.is_integer:
            site.fail("D14-argument", f"{parameter.name} has a dimension of type {kind}", index)
    return ShapeExpr(tuple(site.ctx.fresh_dim("dim") if dim is None else dim for dim in dims))


def _prim(site: Site, value: Any, parameter: Parameter, index: int) -> PrimExpr | None:
    """A scalar expression; None for a variable of which only the type is known."""
    match value:
        case PrimValue(value=prim):
            return prim
        case PrimExpr():
            return value
        case bool() | int():
            return const(int(value))
        case float():
            return FloatImm(value)
        case Var():
            info = site.ctx.info(value)
            if isinstance(info, PrimStructInfo):
                return _held(site, value, info)
            if isinstance(info, ObjectStructInfo):
                if not site.ctx.poisoned(value):
                    site.warn("D14-argument", f"{site.shown(index)} may not be a scalar", index)
                return None
    site.fail("D14-argument", f"{_found(site, value, parameter)}, expected a scalar", index)


def _held(site: Site, value: Var, info: PrimStructInfo) -> PrimExpr:
    """The scalar that a variable holds: what is known of it, else a number of its own."""
    if info.value is not None:
        return info.value
    if info.dtype.is_integer:
        return site.ctx.fresh_dim(value.name_hint)
    return tir.Var(value.name_hint, info.dtype)


def _prims(site: Site, value: Any, parameter: Parameter, index: int) -> Any:
    """Scalars of a tuple; None where they are unknown."""
    match value:
        case ast.Tuple(fields=items):
            return _each(site, items, parameter, index)
        case tuple() | list():
            return _each(site, value, parameter, index)
        case Var():
            info = site.ctx.info(value)
            if isinstance(info, TupleStructInfo):
                return _scalars(site, info, parameter, index)
            if isinstance(info, ObjectStructInfo):
                return None
    words = f"{_found(site, value, parameter)}, expected a tuple of scalars"
    site.fail("D14-argument", words, index)


def _scalars(
    site: Site, info: TupleStructInfo, parameter: Parameter, index: int
) -> tuple[PrimExpr | None, ...]:
    """The scalars that a variable of a tuple holds, as far as they are known."""
    if all(isinstance(field, PrimStructInfo) for field in info.fields):
        return tuple(field.value for field in info.fields if isinstance(field, PrimStructInfo))
    site.fail("D14-argument", f"{site.shown(index, info)} holds a value that is no scalar", index)


def _each(site: Site, items: Iterable[Any], parameter: Parameter, index: int) -> Any:
    return tuple(_prim(site, item, parameter, index) for item in items)


_INT32 = range(-(1 << 31), 1 << 31)


def _int(site: Site, value: Any, parameter: Parameter, index: int) -> int:
    """An attribute that is an integer, of which no more than 32 bits are kept."""
    found = _integer(site, value, parameter, index)
    if found not in _INT32:
        words = f"{parameter.name} is {found}, which does not fit into 32 bits"
        site.fail("D14-argument", words, index)
    return found


def _integer(site: Site, value: Any, parameter: Parameter, index: int) -> int:
    if type(value) is int:
        return value
    prim = value.value if isinstance(value, PrimValue) else value
    if isinstance(prim, IntImm):
        return prim.value
    if isinstance(prim, (bool, int)):
        return int(prim)
    if isinstance(value, Var):
        info = site.ctx.info(value)
        if isinstance(info, PrimStructInfo) and isinstance(info.value, IntImm):
            return info.value.value
    site.fail(
        "D14-argument", f"{_found(site, value, parameter)}, expected an integer literal", index
    )


def _count(site: Site, value: Any, parameter: Parameter, index: int) -> int:
    """An integer, which may also stand in a constant of rank 0."""
    if isinstance(value, ast.Constant) and isinstance(value.data.value, int):
        return int(value.data.value)
    return _int(site, value, parameter, index)


def _ints(site: Site, value: Any, parameter: Parameter, index: int) -> tuple[int, ...]:
    """Integers; a single one is a tuple of one."""
    items = _items(value)
    if items is None:
        return (_int(site, value, parameter, index),)
    return tuple(_int(site, item, parameter, index) for item in items)


def _longs(site: Site, value: Any, parameter: Parameter, index: int) -> tuple[int, ...]:
    """Integers of 64 bits; a single one is a tuple of one."""
    items = _items(value)
    given = (value,) if items is None else items
    return tuple(_integer(site, item, parameter, index) for item in given)


def _list(site: Site, value: Any, parameter: Parameter, index: int) -> tuple[int, ...]:
    """Integers in a list; a single one is none."""
    if _items(value) is None:
        words = f"{_found(site, value, parameter)}, expected a list of integers"
        site.fail("D14-argument", words, index)
    return _ints(site, value, parameter, index)


def _int_or_ints(site: Site, value: Any, parameter: Parameter, index: int) -> int | tuple[int, ...]:
    items = _items(value)
    if items is None:
        return _integer(site, value, parameter, index)
    return tuple(_integer(site, item, parameter, index) for item in items)


def _items(value: Any) -> Iterable[Any] | None:
    match value:
        case tuple() | list():
            return value
        case ast.Tuple(fields=items):
            return items
    return None


def _number(site: Site, value: Any, parameter: Parameter, index: int) -> float:
    prim = value.value if isinstance(value, PrimValue) else value
    number = prim.value if isinstance(prim, (IntImm, FloatImm)) else prim
    if isinstance(number, (int, float)):
        return number
    site.fail("D14-argument", f"{_found(site, value, parameter)}, expected a number", index)


def _str(site: Site, value: Any, parameter: Parameter, index: int) -> str:
    text = value.value if isinstance(value, StringImm) else value
    if isinstance(text, str):
        is_meant(site, text, parameter.name, index)
        return text
    site.fail("D14-argument", f"{_found(site, value, parameter)}, expected a string", index)


def _dtype(site: Site, value: Any, parameter: Parameter, index: int) -> DataType | None:
    """A data type; None for the unknown one."""
    kind = value.value if isinstance(value, (DataTypeImm, StringImm)) else value
    if isinstance(kind, str):
        try:
            kind = dtype(kind)
        except ValueError as error:
            raise _no_type(f"{parameter.name}: {error}", str(kind), index) from None
    if isinstance(kind, DataType):
        wrong = lacking(kind)
        if wrong is not None:
            raise _no_type(f"{parameter.name}: {wrong[1]}", str(kind), index)
        return None if kind.is_void else kind
    site.fail("D14-argument", f"{_found(site, value, parameter)}, expected a data type", index)


def _no_type(message: str, text: str, index: int) -> Violation:
    """The refusal of a data type, with those that may be meant."""
    from rlx.operators.site import Violation

    help = did_you_mean(word for word in misspelt.data_type(text) if word != "handle")
    return Violation(
        "D14-argument", message, index, ast.ObjectStructInfo(), {"help": help} if help else {}
    )


def _expr(site: Site, value: Any, parameter: Parameter, index: int) -> Expr:
    """The argument as it stands, which is an expression; numbers and words of keywords stand for theirs."""
    match value:
        case Expr():
            return value
        case bool() | int() | float():
            return PrimValue(_prim(site, value, parameter, index) or const(0))
        case str():
            return StringImm(value)
    site.fail("D14-argument", f"{_found(site, value, parameter)}, expected an expression", index)


def _whole(site: Site, value: Any, parameter: Parameter, index: int) -> Expr:
    """As an expression, but no tuple that stands in the call."""
    if isinstance(value, (tuple, list, ast.Tuple)):
        site.fail("D14-argument", f"{parameter.name} is a tuple, expected one value", index)
    return _expr(site, value, parameter, index)


def _tuple(site: Site, value: Any, parameter: Parameter, index: int) -> Expr:
    """A tuple, written out or not."""
    info = site.ctx.info(value) if isinstance(value, Expr) else None
    if isinstance(info, TupleStructInfo):
        return value  # type: ignore[no-any-return]
    if not isinstance(info, ObjectStructInfo) or isinstance(value, _LITERALS):
        site.fail("D14-argument", f"{_found(site, value, parameter)}, expected a tuple", index)
    if not site.ctx.poisoned(value):
        site.warn("D14-argument", f"{site.shown(index)} may not be a tuple", index)
    return value  # type: ignore[no-any-return]


def _any(site: Site, value: Any, parameter: Parameter, index: int) -> Any:
    """The argument as it stands: an expression or the plain value of a keyword."""
    return value


def _listed(site: Site, value: Any, parameter: Parameter, index: int) -> Any:
    """An argument of the positional rest; by its keyword a list of them, one, or none."""
    if index < len(site.call.args):
        return _expr(site, value, parameter, index)
    items = _items(value)
    if items is None:
        items = () if value is None else (value,)
        if value is not None and not isinstance(value, Expr):
            words = f"{parameter.name} is {value!r}, expected a list or an expression"
            site.fail("D14-argument", words, index)
    return tuple(_expr(site, item, parameter, index) for item in items)


def _found(site: Site, value: object, parameter: Parameter) -> str:
    """An argument that does not fit, in words."""
    if isinstance(value, Expr):
        from rlx.operators.messages import show

        return f"{parameter.name} is {show(site.ctx.info(value))}"
    return f"{parameter.name} is {value!r}"


class Kind(Record):
    """A kind of parameter.

    Attributes
    ----------
    words
        What it is called.
    checked
        What the rule receives for an argument.
    evaluated
        What the evaluation receives for the argument's plain value.
    plain
        Whether it is an attribute, which texts give as a plain value of Python.
    """

    words: str
    checked: Convert
    evaluated: Callable[[Any], Any]
    plain: bool = False


KINDS: dict[str, Kind] = {
    "tensor": Kind("a tensor", _tensor, plain_values.array),
    "operand": Kind("a tensor or a scalar", _operand, plain_values.operand),
    "tensors": Kind("tensors in a tuple", _tensors, plain_values.arrays),
    "shape": Kind("a shape", _shape, plain_values.sizes),
    "whole_shape": Kind("a shape", _whole_shape, plain_values.sizes),
    "size": Kind("a shape, or one number", _size, plain_values.sizes),
    "prim": Kind("a scalar", _prim, plain_values.scalar),
    "prims": Kind("scalars", _prims, plain_values.prims),
    "int": Kind("an integer", _int, int, True),
    "count": Kind("an integer", _count, int, True),
    "ints": Kind("integers", _ints, plain_values.sizes, True),
    "list": Kind("a list of integers", _list, plain_values.sizes, True),
    "int_or_ints": Kind("integers", _int_or_ints, plain_values.int_or_ints),
    "number": Kind("a number", _number, plain_values.number, True),
    "str": Kind("a string", _str, plain_values.text, True),
    "str_expr": Kind("a string", _str, plain_values.text),
    "dtype": Kind("a data type", _dtype, plain_values.data_type, True),
    "dtype_expr": Kind("a data type", _dtype, plain_values.data_type),
    "expr": Kind("an expression", _expr, plain_values.same),
    "whole": Kind("an expression", _whole, plain_values.same),
    "listed": Kind("expressions", _listed, plain_values.same),
    "int_expr": Kind("an integer", _int, int),
    "longs": Kind("integers", _longs, plain_values.sizes, True),
    "tuple": Kind("a tuple", _tuple, plain_values.same),
    "any": Kind("any value", _any, plain_values.same),
    "types": Kind("struct info", _any, plain_values.same),
}
"""Every kind by its name; :mod:`rlx.operators.parameters` has the annotations. ``bool`` flags are read as ``int``."""
