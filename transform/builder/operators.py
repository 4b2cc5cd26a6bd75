"""The functions of ``rlx.op``, made from the declarations of the operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter as Argument
from inspect import Signature
from itertools import takewhile
from typing import Any, NamedTuple

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Call, Expr, StructInfo
from rlx.grammar.nodes.overloaded import NUMBER, is_number
from rlx.grammar.nodes.python_places import MisuseError, Place, here
from rlx.operators.parameters import REQUIRED, Parameter
from rlx.operators.registry import Operator, declared, every_name, is_prefix, lookup, similar
from rlx.transform.builder import values
from rlx.transform.builder.given import ARGUMENTS, NUMBERS, WORDS, attribute

_PLAIN = frozenset([ast.Var, ast.DataflowVar, ast.Constant, Call])


class Namespace:
    """The operators with a common prefix of their names: ``rlx.op.nn``."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = member(self._prefix, name)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return members(self._prefix)


def member(prefix: str, name: str) -> Callable[..., Call] | Namespace:
    """The function of an operator, or the namespace of a prefix. Raises AttributeError if there is
    no such operator; the message suggests similar names.
    """
    full = f"{prefix}{name.removesuffix('_')}"
    if is_prefix(f"relax.{full}."):
        return Namespace(f"{full}.")
    operator = lookup(f"relax.{full}")
    if operator is not None:
        return function_of(operator)
    if any(known.startswith(f"{full}.") for known in _names()):
        return Namespace(f"{full}.")
    if full in _IN_PYTHON:
        raise AttributeError(f"R.{full} is not an operator: write {_IN_PYTHON[full]}")
    near = [word.replace("R.", "rlx.op.", 1) for word in similar(f"relax.{full}")]
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    raise AttributeError(f"unknown operator {full!r}{meant}")


_IN_PYTHON = {
    "const": "rlx.const(…)",
    "dtype": "the name of the type, such as 'float32'",
    "func_attr": "bb.function(…, attrs=…), or function.with_attr(…)",
    "function": "bb.function(…)",
    "masked_fill": "rlx.op.where(mask, value, x)",
    "match_cast": "bb.match_cast(…)",
    "nn.relu6": "rlx.op.clip(x, 0, 6)",
    "output": "bb.emit_output(…)",
    "prim_value": "a number, or a dimension, such as rlx.dim('n')",
    "str": "the text itself",
    "tuple": "a tuple of Python",
}
"""What Python code writes in place of words of texts that are not operators."""


def members(prefix: str) -> list[str]:
    """The names that can follow a prefix."""
    inside = (name.removeprefix(prefix) for name in _names() if name.startswith(prefix))
    return sorted({name.partition(".")[0] for name in inside})


def _names() -> list[str]:
    built_in = every_name()
    return [*dict.fromkeys((*built_in, *(name.removeprefix("relax.") for name in declared)))]


def in_order(operator: Operator) -> list[Parameter]:
    """The parameters in Python's order: required ones come first, then type arguments."""
    plain = [p for p in operator.parameters if p.kind != "types"]
    plain.sort(key=lambda p: p.default is not REQUIRED and not p.variadic)
    types = [p for p in operator.parameters if p.kind == "types"]
    optional = takewhile(lambda p: p.default is not REQUIRED and not p.variadic, reversed(plain))
    end = len(plain) - len([*optional])
    return [*plain[:end], *types, *plain[end:]]


def signature(operator: Operator) -> Signature:
    """The signature of an operator's function."""
    found: list[Argument] = []
    alone = False
    for parameter in in_order(operator):
        required = parameter.default is REQUIRED
        kind = Argument.KEYWORD_ONLY if alone else Argument.POSITIONAL_OR_KEYWORD
        found.append(
            Argument(
                python_name(parameter.name),
                Argument.VAR_POSITIONAL if parameter.variadic else kind,
                default=Argument.empty if required or parameter.variadic else parameter.default,
                annotation=WORDS[parameter.kind] + " | None" * parameter.optional,
            )
        )
        alone = alone or parameter.variadic
    return Signature(found, return_annotation="Call")


def python_name(name: str) -> str:
    """A parameter's name in Python."""
    from keyword import iskeyword

    return f"{name}_" if iskeyword(name) else name


def function_of(operator: Operator) -> Callable[..., Call]:
    """The Python function that makes calls of an operator."""
    taken = signature(operator)
    node = ast.op(operator.name)
    order = in_order(operator)
    forms: dict[tuple[object, ...], list[_GivenParameter]] = {}
    operands = len(order) if all(p.kind in NUMBERS for p in order) else None

    def function(*args: Any, **keywords: Any) -> Call:
        place = here()
        if len(args) == operands and not keywords and _PLAIN.issuperset(map(type, args)):
            return Call(node, args, span=place)
        form = (len(args), *keywords)
        steps = forms.get(form)
        if steps is None:
            try:
                steps = forms[form] = _steps(order, taken, len(args), list(keywords))
            except TypeError as error:
                name = _word(operator)
                raise MisuseError(
                    f"{name}: {error}; it is called as {name}{_form(taken)}", place
                ) from None
        return _call(operator, node, steps, (*args, *keywords.values()), place)

    function.__name__ = function.__qualname__ = operator.name.rpartition(".")[2]
    function.__doc__ = operator.rule.__doc__
    function.__signature__ = taken  # type: ignore[attr-defined]
    return function


class _GivenParameter(NamedTuple):
    """The place of a parameter's value in a call; for a variadic parameter, all from there to the
    end of the positional ones. The conversion is None for an attribute.
    """

    parameter: Parameter
    convert: Callable[[Any], Any] | None
    at: int | slice


def _steps(
    order: list[Parameter], taken: Signature, count: int, names: list[str]
) -> list[_GivenParameter]:
    """The reading of calls with so many positional values and these keywords: Python's own binding,
    once for all of them. Raises TypeError if the operator is not called so.
    """
    own = [_OF_TVM[name] if _OF_TVM.get(name) in taken.parameters else name for name in names]
    places = taken.bind(*range(count), **{name: count + k for k, name in enumerate(own)})
    found: list[_GivenParameter] = []
    for parameter in order:
        at = places.arguments.get(python_name(parameter.name), _LEFT_OUT)
        if isinstance(at, tuple):
            at = slice(count - len(at), count)
        found.append(_GivenParameter(parameter, ARGUMENTS.get(parameter.kind), at))
    while found and found[-1].at is _LEFT_OUT:
        found.pop()
    return found


_OF_TVM = {"gvar": "func", "out_ty": "out_sinfo", "ty_args": "sinfo_args"}
"""TVM's names of parameters, which are allowed, too."""

_LEFT_OUT = slice(0)
"""The place of a parameter that a call leaves out."""


def _form(taken: Signature) -> str:
    """A signature without types."""
    plain = [each.replace(annotation=Argument.empty) for each in taken.parameters.values()]
    return str(Signature(plain))


_NONE: Mapping[Any, Any] = {}


def _call(
    operator: Operator,
    node: ast.Op,
    steps: list[_GivenParameter],
    given: tuple[Any, ...],
    place: Place,
) -> Call:
    """A call of an operator on what Python code gave: what is an argument stands by its position as
    long as none before it is left out. Raises MisuseError if an argument stands for nothing that
    the operator could take.
    """
    args: list[Expr] = []
    attrs: dict[str, Any] = {}
    types: tuple[StructInfo, ...] = ()
    spelled: dict[int | str, str] = {}
    by_position = True
    for parameter, convert, at in steps:
        value: Any = None if at is _LEFT_OUT else given[at]
        if by_position and convert is not None and type(value) in _PLAIN:
            args.append(value)
            continue
        kind = parameter.kind
        if at is _LEFT_OUT or (value is None and parameter.default is None):
            by_position = by_position and kind == "types"
            continue
        try:
            if parameter.variadic:
                if kind == "listed" and len(value) == 1 and isinstance(value[0], list | tuple):
                    (value,) = value
                args += map(convert, value) if convert else value
                by_position = False  # what follows is given by name
                continue
            if kind == "types":
                types = _types(value, place)
                continue
            if parameter.name == "func" and isinstance(value, str):
                value = ast.ExternFunc(value, None, place)
            made: Any = attribute(value) if convert is None else convert(value)
            by_position = by_position and convert is not None
        except (TypeError, ValueError) as error:
            words = error.message if isinstance(error, MisuseError) else str(error)
            raise MisuseError(f"{_word(operator)}: {parameter.name}: {words}", place) from None
        if value is None:
            spelled[len(args) if by_position else parameter.name] = "None"
        elif by_position and made is not value and kind in NUMBERS and is_number(value):
            spelled[len(args)] = NUMBER
        if by_position:
            args.append(made)
        else:
            attrs[parameter.name] = made
    return Call(node, tuple(args), attrs or _NONE, types, (), (), place, spelled=spelled or _NONE)


def _word(operator: Operator) -> str:
    return operator.name.removeprefix("relax.")


def _types(given: Any, place: Place) -> tuple[StructInfo, ...]:
    several = given if isinstance(given, list | tuple) else (given,)
    infos = tuple([values.annotation(part, place) for part in several])
    return infos if len(infos) == 1 else (ast.TupleStructInfo(infos),)
