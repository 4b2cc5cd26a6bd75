"""The functions of ``rlx.op``, made from the declarations of the operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any

from rlx.grammar import ast
from rlx.grammar.ast import Call, Expr, StructInfo
from rlx.grammar.overloaded import NUMBER
from rlx.grammar.python_places import Place, here
from rlx.operators.parameters import REQUIRED, Parameter
from rlx.operators.registry import Operator, declared, every_name, lookup, similar
from rlx.transform.builder import values
from rlx.transform.builder.given import ARGUMENTS, NUMBERS, WORDS, attribute

_VARIABLES = frozenset([ast.Var, ast.DataflowVar])


class Namespace:
    """The operators whose names begin alike: ``rlx.op.nn``."""

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
    """The function of an operator, or the operators whose names go on behind a dot.

    Raises
    ------
    AttributeError
        If there is no such operator; the message names what may have been meant.
    """
    full = f"{prefix}{name.removesuffix('_')}"
    operator = lookup(f"relax.{full}")
    if operator is not None:
        return function_of(operator)
    if any(known.startswith(f"{full}.") for known in _names()):
        return Namespace(f"{full}.")
    near = [word.replace("R.", "rlx.op.", 1) for word in similar(f"relax.{full}")]
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    raise AttributeError(f"there is no operator {full!r}{meant}")


def members(prefix: str) -> list[str]:
    """The names that can stand behind a prefix."""
    inside = (name.removeprefix(prefix) for name in _names() if name.startswith(prefix))
    return sorted({name.partition(".")[0] for name in inside})


def _names() -> list[str]:
    built_in = every_name()
    return [*dict.fromkeys((*built_in, *(name.removeprefix("relax.") for name in declared)))]


def in_order(operator: Operator) -> list[Parameter]:
    """The parameters in Python's order: type arguments stand behind the last required one."""
    plain = [p for p in operator.parameters if p.kind != "types"]
    types = [p for p in operator.parameters if p.kind == "types"]
    end = len(plain)
    while end and plain[end - 1].default is not REQUIRED and not plain[end - 1].variadic:
        end -= 1
    return [*plain[:end], *types, *plain[end:]]


def signature(operator: Operator) -> Signature:
    """The signature of an operator's function."""
    found: list[Argument] = []
    alone = skipped = False
    for parameter in in_order(operator):
        required = parameter.default is REQUIRED
        alone = alone or (
            required and skipped
        )  # only a keyword can stand behind what may be left out
        kind = Argument.KEYWORD_ONLY if alone else Argument.POSITIONAL_OR_KEYWORD
        found.append(
            Argument(
                python_name(parameter.name),
                Argument.VAR_POSITIONAL if parameter.variadic else kind,
                default=Argument.empty if required or parameter.variadic else parameter.default,
                annotation=WORDS[parameter.kind] + " | None" * parameter.optional,
            )
        )
        skipped = skipped or not required
        alone = alone or parameter.variadic
    return Signature(found, return_annotation="Call")


def python_name(name: str) -> str:
    """A parameter's name as Python takes it."""
    from keyword import iskeyword

    return f"{name}_" if iskeyword(name) else name


def function_of(operator: Operator) -> Callable[..., Call]:
    """The function that makes calls of an operator."""
    taken = signature(operator)
    node = ast.op(operator.name)
    order = in_order(operator)
    count = len(order)
    plain = all(p.kind in NUMBERS for p in order if p.default is REQUIRED)
    least = sum(p.default is REQUIRED for p in order)

    def function(*args: Any, **keywords: Any) -> Call:
        if plain and len(args) == least and not keywords:
            for arg in args:
                if type(arg) not in _VARIABLES:
                    break
            else:
                return Call(node, args, (), _NONE, (), (), here())
        bound = taken.bind(*args, **keywords)
        return _call(operator, node, order, bound.arguments, here())

    function.__name__ = function.__qualname__ = operator.name.rpartition(".")[2]
    function.__doc__ = operator.rule.__doc__
    function.__signature__ = taken  # type: ignore[attr-defined]
    assert count >= least
    return function


_NONE: Mapping[str, object] = {}


def _call(
    operator: Operator,
    node: ast.Op,
    order: list[Parameter],
    given: Mapping[str, Any],
    place: Place,
) -> Call:
    """A call: what is an argument stands by its position as long as none before it is left out."""
    args: list[Expr] = []
    attrs: dict[str, object] = {}
    types: tuple[StructInfo, ...] = ()
    spelled: dict[int | str, str] = {}
    by_position = True
    for parameter in order:
        name = python_name(parameter.name)
        if name not in given or (given[name] is None and parameter.default is None):
            by_position = by_position and parameter.kind == "types"
            continue
        value = given[name]
        if parameter.name == "func" and isinstance(value, str):
            value = ast.ExternFunc(value, None, place)
        convert = ARGUMENTS.get(parameter.kind)
        try:
            if parameter.kind == "types":
                types = _types(value)
            elif parameter.variadic:
                args += [convert(part) if convert else part for part in value]  # type: ignore[misc]
            elif convert is None:
                by_position = False
                attrs[parameter.name] = attribute(value)
            elif by_position:
                if parameter.kind in NUMBERS and isinstance(value, bool | int | float):
                    spelled[len(args)] = NUMBER
                args.append(convert(value))  # type: ignore[arg-type]
            else:
                attrs[parameter.name] = convert(value)
        except (TypeError, ValueError) as error:
            words = f"{operator.name.removeprefix('relax.')}: {parameter.name}: {error}"
            raise TypeError(words) from None
    return Call(node, tuple(args), types, attrs, (), (), place, spelled=spelled)


def _types(given: Any) -> tuple[StructInfo, ...]:
    if isinstance(given, list | tuple):
        infos = tuple([values.struct_info(part) for part in given])
        return (ast.TupleStructInfo(infos),) if len(infos) != 1 else infos
    return (values.struct_info(given),)
