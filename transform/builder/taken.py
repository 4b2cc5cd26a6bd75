"""Conversions of the arguments of a builder's methods; an invalid argument is an error at the line
of the call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlx.grammar.nodes import ast, overloaded, tir
from rlx.grammar.nodes.ast import Expr, Function, GlobalVar, StructInfo
from rlx.grammar.nodes.by_hand import with_shape_vars
from rlx.grammar.nodes.overloaded import expr
from rlx.grammar.nodes.python_places import MisuseError, Place, described
from rlx.grammar.nodes.tir import PrimExpr, PrimFunc
from rlx.transform.builder import values
from rlx.transform.builder.errors import misuse


def value(given: object, place: Place) -> Expr:
    """A value converted to an expression. Raises BuildError if it cannot be converted."""
    if isinstance(given, Expr):
        return given
    try:
        return expr(given, place)
    except MisuseError as error:
        raise misuse(error.message, place) from None


def text(given: object, what: str, place: Place) -> str:
    """A text. Raises BuildError if it is invalid."""
    if not isinstance(given, str):
        raise misuse(f"expected {what}, found {described(given)}", place)
    return given


def flag(given: object, what: str, place: Place) -> bool:
    """True or False. Raises BuildError if it is neither."""
    if not isinstance(given, bool):
        raise misuse(f"{what}: expected True or False, found {described(given)}", place)
    return given


def function_name(given: object, place: Place) -> str:
    """The name of a function, which is an identifier, given as a text. Raises BuildError if it is
    invalid.
    """
    name = text(given, "the name of a function", place)
    if not name.isidentifier():
        raise misuse(f"expected the name of a function, such as 'main'; found {name!r}", place)
    return name


def function(given: object, place: Place) -> Function | PrimFunc:
    """A function of a module. Raises BuildError if it is invalid."""
    if not isinstance(given, Function | PrimFunc):
        raise misuse(f"expected a function or a PrimFunc, found {described(given)}", place)
    return with_shape_vars(given) if isinstance(given, Function) else given


def global_name(given: object, place: Place) -> str:
    """The name of a function of the module, given as a text or a global variable. Raises BuildError
    if it is neither.
    """
    if isinstance(given, GlobalVar):
        return given.name_hint
    return text(given, "the name of a function of the module", place)


def parameters(given: object, place: Place) -> tuple[ast.Var, ...]:
    """Parameters: one variable, or several. Raises BuildError if one is not a variable, or appears
    twice.
    """
    if given is None:
        return ()
    if isinstance(given, ast.Var):
        return (given,)
    if not isinstance(given, (list, tuple, Sequence)) or isinstance(given, (str, bytes)):
        raise misuse(f"expected variables as parameters, found {described(given)}", place)
    for each in given:
        if type(each) is not ast.Var:
            raise misuse(
                "expected a variable as parameter, such as rlx.Var('x', 'R.Tensor'); "
                f"found {described(each)}",
                place,
            )
    return tuple(given)


def attributes(given: object, place: Place) -> Mapping[str, object]:
    """The attributes of a function. Raises BuildError if they are not a mapping, a name is not a
    text, or a value has no text in a program.
    """
    try:
        return {} if given is None else overloaded.attributes(given, place)
    except MisuseError as error:
        raise misuse(error.message, place) from None


def struct_info(
    given: StructInfo | str, place: Place, scope: Mapping[str, tir.Var] | None = None
) -> StructInfo:
    """An annotation, given as a node or as a text. Raises BuildError if it is invalid."""
    try:
        return values.annotation(given, place, scope)
    except MisuseError as error:
        raise misuse(error.message, place) from None


def scalar(given: object, place: Place, scope: Mapping[str, tir.Var]) -> PrimExpr:
    """A scalar, given as a node, a number or a text. Raises BuildError if it is invalid."""
    try:
        return values.scalar(given, place, scope)
    except MisuseError as error:
        raise misuse(error.message, place) from None
