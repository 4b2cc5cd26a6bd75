"""Attribute arguments of rules: integers, numbers, words and data types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import DataTypeImm, Expr, PrimStructInfo, PrimValue, StringImm, Var
from rlx.grammar.nodes.dtype import DataType, dtype, lacking
from rlx.grammar.nodes.tir import FloatImm, IntImm, PrimExpr
from rlx.grammar.read import misspelt
from rlx.grammar.suggest import did_you_mean
from rlx.operators.option_words import is_meant
from rlx.operators.parameters import Parameter
from rlx.operators.site import Site, Violation

_INT32 = range(-(1 << 31), 1 << 31)


def in_words(site: Site, value: object, parameter: Parameter) -> str:
    """A description of an invalid argument."""
    if isinstance(value, Expr):
        from rlx.operators.site import show

        return f"{parameter.name} is {show(site.ctx.info(value))}"
    return f"{parameter.name} is {value if isinstance(value, PrimExpr) else repr(value)}"


def integer32(site: Site, value: Any, parameter: Parameter, index: int) -> int:
    """An attribute that is a 32-bit integer."""
    found = integer(site, value, parameter, index)
    if found not in _INT32:
        words = f"{parameter.name} is {found}, which does not fit into 32 bits"
        site.fail("D14-argument", words, index)
    return found


def integer(site: Site, value: Any, parameter: Parameter, index: int) -> int:
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
        "D14-argument", f"{in_words(site, value, parameter)}, expected an integer literal", index
    )


def count(site: Site, value: Any, parameter: Parameter, index: int) -> int:
    """An integer, which may also be a constant of rank 0."""
    if isinstance(value, ast.Constant) and isinstance(value.data.value, int):
        return int(value.data.value)
    return integer32(site, value, parameter, index)


def integers32(site: Site, value: Any, parameter: Parameter, index: int) -> tuple[int, ...]:
    """Integers; a single one is a tuple of one."""
    given = items(value)
    if given is None:
        return (integer32(site, value, parameter, index),)
    return tuple(integer32(site, item, parameter, index) for item in given)


def integers(site: Site, value: Any, parameter: Parameter, index: int) -> tuple[int, ...]:
    """Integers of 64 bits; a single one is a tuple of one."""
    several = items(value)
    given = (value,) if several is None else several
    return tuple(integer(site, item, parameter, index) for item in given)


def integer_list(site: Site, value: Any, parameter: Parameter, index: int) -> tuple[int, ...]:
    """A list of integers; a single integer is rejected."""
    if items(value) is None:
        words = f"{in_words(site, value, parameter)}, expected a list of integers"
        site.fail("D14-argument", words, index)
    return integers32(site, value, parameter, index)


def int_or_ints(site: Site, value: Any, parameter: Parameter, index: int) -> int | tuple[int, ...]:
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


def number(site: Site, value: Any, parameter: Parameter, index: int) -> float:
    prim = value.value if isinstance(value, PrimValue) else value
    given = prim.value if isinstance(prim, (IntImm, FloatImm)) else prim
    if isinstance(given, (int, float)):
        return given
    site.fail("D14-argument", f"{in_words(site, value, parameter)}, expected a number", index)


def text(site: Site, value: Any, parameter: Parameter, index: int) -> str:
    given = value.value if isinstance(value, StringImm) else value
    if isinstance(given, str):
        if given != parameter.default:  # what nobody wrote is read once, for all calls
            is_meant(site, given, parameter.name, index)
        return given
    site.fail("D14-argument", f"{in_words(site, value, parameter)}, expected a string", index)


def data_type(site: Site, value: Any, parameter: Parameter, index: int) -> DataType | None:
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
