"""The kinds of parameters: the allowed arguments, and their values for the rule.

In a text, an argument is an expression (``R.prim_value(3)``, ``(1, 2)``, ``R.dtype("int8")``, a
variable) or, as a keyword, a plain value (``3``, ``(1, 2)``, ``"int8"``). Both are converted to the
same value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import (
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
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT64, DataType, dtype, lacking
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import FloatImm, IntImm, PrimExpr, type_of
from rlx.grammar.read import misspelt
from rlx.grammar.suggest import closest, did_you_mean
from rlx.operators import evaluation_arguments
from rlx.operators.dim_arithmetic import const
from rlx.operators.operator_call import OperatorCall, Violation
from rlx.operators.parameters import Parameter, Tensor, Tensors
from rlx.spec.registry import rule

WORDS: Mapping[str, tuple[str, ...]] = {
    "method": ("nearest_neighbor", "linear", "cubic", "nearest", "bilinear", "bicubic"),
    "coordinate_transformation_mode": ("half_pixel", "align_corners", "asymmetric"),
    "rounding_method": ("round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil"),
    "padding_mode": ("zeros", "border", "reflection"),
    "pad_mode": ("constant", "reflect", "replicate", "circular"),
    "reduction": ("mean", "sum", "none", "update", "add", "mul", "min", "max"),
    "mode": ("clip", "wrap", "fast", "nan"),
    "indexing": ("ij", "xy"),
    "causal_mask": ("TopLeft", "BottomRight"),
}
"""The words that some operator accepts, by the name of the option."""


@rule("OBL-word", "obligation")
def is_meant(site: OperatorCall, text: str, option: str, index: int) -> None:
    """Check that the value of a string option is not a misspelling of a known word."""
    known = WORDS.get(option, ())
    near = () if text in known else closest(text, known)
    if near:
        words = f"{site.name}: {text!r} is not a known value of {option}"
        site.ctx.report("OBL-word-known", "warning", words, index, help=did_you_mean(near))


_INT32 = range(-(1 << 31), 1 << 31)


def in_words(site: OperatorCall, value: object, parameter: Parameter) -> str:
    """A description of an invalid argument."""
    if isinstance(value, StringImm):
        return f"{parameter.name} is the text {value.value!r}"
    if isinstance(value, Expr):
        from rlx.operators.operator_call import show

        return f"{parameter.name} is {show(site.ctx.info(value))}"
    return f"{parameter.name} is {value if isinstance(value, PrimExpr) else repr(value)}"


def integer32(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> int:
    """An attribute that is a 32-bit integer."""
    found = value if type(value) is int else integer(site, value, parameter, index)
    if found not in _INT32:
        words = f"{parameter.name} is {found}, which does not fit into 32 bits"
        site.fail("D14-argument", words, index)
    return found


def integer(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> int:
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
        "D14-argument", f"{in_words(site, value, parameter)}, expected an integer literal", index
    )


def count(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> int:
    """An integer, which may also be a constant of rank 0."""
    if isinstance(value, ast.Constant) and isinstance(value.data.value, int):
        return int(value.data.value)
    return integer32(site, value, parameter, index)


def integers32(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> tuple[int, ...]:
    """Integers; a single one is a tuple of one."""
    given = items(value)
    if given is None:
        return (integer32(site, value, parameter, index),)
    return tuple([integer32(site, item, parameter, index) for item in given])


def integers(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> tuple[int, ...]:
    """Integers of 64 bits; a single one is a tuple of one."""
    several = items(value)
    given = (value,) if several is None else several
    return tuple(integer(site, item, parameter, index) for item in given)


def integer_list(
    site: OperatorCall, value: Any, parameter: Parameter, index: int
) -> tuple[int, ...]:
    """A list of integers; a single integer is rejected."""
    if items(value) is None:
        words = f"{in_words(site, value, parameter)}, expected a list of integers"
        site.fail("D14-argument", words, index)
    return integers32(site, value, parameter, index)


def int_or_ints(
    site: OperatorCall, value: Any, parameter: Parameter, index: int
) -> int | tuple[int, ...]:
    given = items(value)
    if given is None:
        return integer(site, value, parameter, index)
    return tuple(integer(site, item, parameter, index) for item in given)


def items(value: Any) -> Iterable[Any] | None:
    match value:
        case tuple() | list():
            return value
        case ast.Tuple(fields=items):
            return items
    return None


def number(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> float:
    prim = value.value if isinstance(value, PrimValue) else value
    given = prim.value if isinstance(prim, (IntImm, FloatImm)) else prim
    if isinstance(given, (int, float)):
        return given
    site.fail("D14-argument", f"{in_words(site, value, parameter)}, expected a number", index)


def text(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> str:
    given = value.value if isinstance(value, StringImm) else value
    if isinstance(given, str):
        if given != parameter.default:  # what nobody wrote is read once, for all calls
            is_meant(site, given, parameter.name, index)
        return given
    site.fail("D14-argument", f"{in_words(site, value, parameter)}, expected a string", index)


def data_type(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> DataType | None:
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
    site.fail("D14-argument", f"{in_words(site, value, parameter)}, expected a data type", index)


def _no_type(message: str, text: str, index: int) -> Violation:
    """The refusal of a data type, with those that may be meant."""
    help = did_you_mean(word for word in misspelt.data_type(text) if word != "handle")
    return Violation(
        "D14-argument", message, index, ast.ObjectStructInfo(), {"help": help} if help else {}
    )


Convert = Callable[["OperatorCall", Any, Parameter, int], Any]

UNKNOWN = Tensor()
NULL = ObjectStructInfo()
"""The struct info of ``R.null_value()``, recognised by identity."""
_LITERALS = (StringImm, DataTypeImm)


def null(site: OperatorCall, value: object, kind: str = "expr") -> bool:
    """Whether an argument is null: ``None``, ``R.null_value()`` (bound to a variable or not),
    ``R.tuple()`` unless it is a list of numbers.
    """
    if not isinstance(value, Expr):
        return value is None
    match value:
        case Call(op=Op(op_name=name)):
            return name == "relax.null_value"
        case ast.Tuple(fields=()):
            return kind != "prims"  # a list of no numbers is one, given or not
        case Var():
            info = site.ctx.info(value)
            return info is NULL or (not KINDS[kind].plain and isinstance(info, ObjectStructInfo))
    return False


def _tensor(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> Tensor:
    info = site.ctx.info(value) if isinstance(value, Expr) else None
    if type(info) is Tensor:
        return info
    return _unclear(site, value, info, parameter, index)


def _unclear(
    site: OperatorCall, value: Any, info: ast.StructInfo | None, parameter: Parameter, index: int
) -> Tensor:
    """An unknown tensor, for what may be one; an error for what cannot be."""
    if isinstance(info, ObjectStructInfo) and not isinstance(value, _LITERALS):
        if not site.ctx.poisoned(value):
            site.warn("D14-argument", f"{site.shown(index)} may not be a tensor", index)
        return UNKNOWN
    words = f"{in_words(site, value, parameter)}, expected a tensor"
    prim = info.value if isinstance(info, PrimStructInfo) else None
    number = constant(prim.value, FLOAT32) if isinstance(prim, IntImm | FloatImm) else None
    site.fail("D14-argument", words, index, help=number and f"write {number}")


def constant(value: object, kind: DataType) -> str | None:
    """A number as a constant tensor of an element type; None if that has no such number."""
    if isinstance(value, float) and not kind.is_float:
        return None
    return f'R.const({value}, "{kind}")' if isinstance(value, int | float) else None


def _operand(
    site: OperatorCall, value: Any, parameter: Parameter, index: int
) -> Tensor | PrimStructInfo:
    if isinstance(value, Expr):
        info = site.ctx.info(value)
        if type(info) is Tensor or isinstance(info, PrimStructInfo):
            return info
        return _unclear(site, value, info, parameter, index)
    if isinstance(value, bool):
        return PrimStructInfo(BOOL, IntImm(int(value), BOOL))
    if isinstance(value, (int, float)):
        prim = const(value) if isinstance(value, int) else FloatImm(value)
        return PrimStructInfo(type_of(prim), prim)
    return _unclear(site, value, None, parameter, index)


def _tensors(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> Tensors:
    items = value.fields if isinstance(value, ast.Tuple) else value
    if isinstance(items, tuple):
        return tuple([_tensor(site, item, parameter, index) for item in items])
    info = site.ctx.info(value) if isinstance(value, Expr) else None
    if isinstance(info, TupleStructInfo):
        found = tuple(_field(site, field, parameter, index) for field in info.fields)
        if any(field is UNKNOWN for field in found) and not site.ctx.poisoned(value):
            words = f"{site.shown(index)} may contain a value that is not a tensor"
            site.warn("D14-argument", words, index)
        return found
    if isinstance(info, ObjectStructInfo) and not isinstance(value, _LITERALS):
        if not site.ctx.poisoned(value):
            site.warn("D14-argument", f"{site.shown(index)} may not be a tuple of tensors", index)
        return None
    words = f"{in_words(site, value, parameter)}, expected a tuple of tensors"
    site.fail("D14-argument", words, index)


def _one_or_tensors(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> Tensors:
    info = site.ctx.info(value) if isinstance(value, Expr) else None
    return (info,) if isinstance(info, Tensor) else _tensors(site, value, parameter, index)


def _field(site: OperatorCall, info: ast.StructInfo, parameter: Parameter, index: int) -> Tensor:
    if isinstance(info, Tensor):
        return info
    if isinstance(info, ObjectStructInfo):
        return UNKNOWN
    site.fail("D14-argument", f"{site.shown(index)} contains a value that is not a tensor", index)


def _size(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> Expr:
    """A shape, or one number for all of its dimensions."""
    prim = isinstance(value, Var) and isinstance(site.ctx.info(value), PrimStructInfo)
    if prim or isinstance(value, (int, PrimExpr, PrimValue)):
        return _lengths(site, (value,), parameter, index)
    return _shape(site, value, parameter, index)


def _whole_shape(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> Expr:
    """A shape that is no tuple of scalars."""
    if isinstance(value, (tuple, list, ast.Tuple)):
        words = f"{parameter.name} is a tuple, expected a shape: write R.shape([…])"
        site.fail("D14-argument", words, index)
    return _shape(site, value, parameter, index)


def _shape(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> Expr:
    """A shape literal, or a variable that holds a shape."""
    match value:
        case ShapeExpr(values=items):
            if _NUMBERS.issuperset(map(type, items)):
                return value
            if any(_type_of(site, item) != INT64 for item in items):
                site.stop()  # well-formedness has reported the dimension
            found = _lengths(site, items, parameter, index)
            return value if found.values == items else found
        case tuple() | list() | ast.Tuple(fields=tuple()):
            given = value.fields if isinstance(value, ast.Tuple) else value
            return _lengths(site, given, parameter, index)
    if not isinstance(value, Expr):
        site.fail("D14-argument", f"{in_words(site, value, parameter)}, expected a shape", index)
    info = site.ctx.info(value)
    if isinstance(info, ShapeStructInfo):
        return value if info.values is None else ShapeExpr(info.values)
    if not isinstance(info, ObjectStructInfo) or isinstance(value, _LITERALS):
        site.fail("D14-argument", f"{in_words(site, value, parameter)}, expected a shape", index)
    if not site.ctx.poisoned(value):
        site.warn("D14-argument", f"{site.shown(index)} may not be a shape", index)
    return value


_NUMBERS = frozenset([IntImm])


def _lengths(
    site: OperatorCall, items: Iterable[Any], parameter: Parameter, index: int
) -> ShapeExpr:
    """A shape of these dimensions, which are integers."""
    items = tuple(items)
    dims = [_prim(site, item, parameter, index) for item in items]
    for item in items:
        if (kind := _type_of(site, item)) != INT64:
            words = f"{parameter.name} has a dimension of type {kind}, expected int64"
            site.fail("D14-argument", words, index)
    return ShapeExpr(tuple(site.ctx.fresh_dim("dim") if dim is None else dim for dim in dims))


def _type_of(site: OperatorCall, dimension: Any) -> DataType:
    """The type of a dimension, as far as it is known; a literal integer has that of dimensions."""
    prim = dimension.value if isinstance(dimension, PrimValue) else dimension
    if isinstance(prim, Var):
        info = site.ctx.info(prim)
        return info.dtype if isinstance(info, PrimStructInfo) else INT64
    if isinstance(prim, float):
        return FLOAT32
    return type_of(prim) if isinstance(prim, PrimExpr) and not isinstance(prim, IntImm) else INT64


def _prim(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> PrimExpr | None:
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
    site.fail("D14-argument", f"{in_words(site, value, parameter)}, expected a scalar", index)


def _held(site: OperatorCall, value: Var, info: PrimStructInfo) -> PrimExpr:
    """The scalar that a variable holds: the known expression, else a variable of its own."""
    if info.value is not None:
        return info.value
    if info.dtype.is_integer:
        return site.ctx.fresh_scalar(value.name_hint)
    return tir.Var(value.name_hint, info.dtype)


def _prims(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> Any:
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
    words = f"{in_words(site, value, parameter)}, expected a tuple of scalars"
    site.fail("D14-argument", words, index)


def _scalars(
    site: OperatorCall, info: TupleStructInfo, parameter: Parameter, index: int
) -> tuple[PrimExpr | None, ...]:
    """The scalars that a variable of a tuple holds, as far as they are known."""
    if all(isinstance(field, PrimStructInfo) for field in info.fields):
        return tuple(field.value for field in info.fields if isinstance(field, PrimStructInfo))
    site.fail(
        "D14-argument", f"{site.shown(index, info)} contains a value that is not a scalar", index
    )


def _each(site: OperatorCall, items: Iterable[Any], parameter: Parameter, index: int) -> Any:
    return tuple([_prim(site, item, parameter, index) for item in items])


def _expr(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> Expr:
    """The argument as it stands, which is an expression; numbers and words of keywords stand for
    theirs.
    """
    match value:
        case Expr():
            return value
        case bool() | int() | float():
            return PrimValue(_prim(site, value, parameter, index) or const(0))
        case str():
            return StringImm(value)
    site.fail("D14-argument", f"{in_words(site, value, parameter)}, expected an expression", index)


def _whole(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> Expr:
    """As an expression, but no tuple that stands in the call."""
    if isinstance(value, (tuple, list, ast.Tuple)):
        site.fail("D14-argument", f"{parameter.name} is a tuple, expected one value", index)
    return _expr(site, value, parameter, index)


def _tuple(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> Expr:
    """A tuple, written out or not."""
    info = site.ctx.info(value) if isinstance(value, Expr) else None
    if isinstance(info, TupleStructInfo):
        return value  # type: ignore[no-any-return]
    if not isinstance(info, ObjectStructInfo) or isinstance(value, _LITERALS):
        site.fail("D14-argument", f"{in_words(site, value, parameter)}, expected a tuple", index)
    if not site.ctx.poisoned(value):
        site.warn("D14-argument", f"{site.shown(index)} may not be a tuple", index)
    return value  # type: ignore[no-any-return]


def _any(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> Any:
    """The argument as it stands: an expression or the plain value of a keyword."""
    return value


def _listed(site: OperatorCall, value: Any, parameter: Parameter, index: int) -> Any:
    """An argument of the positional rest; by its keyword a list of them, one, or none."""
    if index < len(site.call.args):
        return _expr(site, value, parameter, index)
    listed = items(value)
    if listed is None:
        listed = () if value is None else (value,)
        if value is not None and not isinstance(value, Expr):
            words = f"{parameter.name} is {value!r}, expected a list or an expression"
            site.fail("D14-argument", words, index)
    return tuple(_expr(site, item, parameter, index) for item in listed)


class Kind(Record):
    """A kind of parameter.

    Attributes
    ----------
    words
        Its name in messages.
    checked
        Returns the value that the rule gets for an argument.
    evaluated
        Returns the value that the evaluation gets for the argument's plain value.
    plain
        Whether it is an attribute, which texts give as a plain Python value.
    """

    words: str
    checked: Convert
    evaluated: Callable[[Any], Any]
    plain: bool = False


KINDS: dict[str, Kind] = {
    "tensor": Kind("a tensor", _tensor, evaluation_arguments.array),
    "operand": Kind("a tensor or a scalar", _operand, evaluation_arguments.operand),
    "tensors": Kind("a tuple of tensors", _tensors, evaluation_arguments.arrays),
    "one_or_tensors": Kind(
        "a tuple of tensors, or one tensor", _one_or_tensors, evaluation_arguments.arrays
    ),
    "shape": Kind("a shape", _shape, evaluation_arguments.sizes),
    "new_shape": Kind("a shape", _shape, evaluation_arguments.new_sizes),
    "whole_shape": Kind("a shape", _whole_shape, evaluation_arguments.sizes),
    "size": Kind("a shape, or one number", _size, evaluation_arguments.sizes),
    "prim": Kind("a scalar", _prim, evaluation_arguments.scalar),
    "prims": Kind("scalars", _prims, evaluation_arguments.prims),
    "int": Kind("an integer", integer32, int, True),
    "count": Kind("an integer", count, int, True),
    "ints": Kind("integers", integers32, evaluation_arguments.sizes, True),
    "list": Kind("a list of integers", integer_list, evaluation_arguments.sizes, True),
    "int_or_ints": Kind("integers", int_or_ints, evaluation_arguments.int_or_ints),
    "number": Kind("a number", number, evaluation_arguments.number, True),
    "str": Kind("a string", text, evaluation_arguments.text, True),
    "str_expr": Kind("a string", text, evaluation_arguments.text),
    "dtype": Kind("a data type", data_type, evaluation_arguments.data_type, True),
    "dtype_expr": Kind("a data type", data_type, evaluation_arguments.data_type),
    "expr": Kind("an expression", _expr, evaluation_arguments.same),
    "whole": Kind("an expression", _whole, evaluation_arguments.same),
    "listed": Kind("expressions", _listed, evaluation_arguments.same),
    "int_expr": Kind("an integer", integer32, int),
    "longs": Kind("integers", integers, evaluation_arguments.sizes, True),
    "tuple": Kind("a tuple", _tuple, evaluation_arguments.same),
    "any": Kind("any value", _any, evaluation_arguments.same),
    "types": Kind("struct info", _any, evaluation_arguments.same),
}
"""Every kind by its name; :mod:`rlx.operators.parameters` has the annotations. ``bool`` flags are
read as ``int``.
"""
