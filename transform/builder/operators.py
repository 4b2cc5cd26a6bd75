"""The functions of ``rlx.op``, made from the declarations of the operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter as Argument
from inspect import Signature
from itertools import takewhile
from typing import Any

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
    near = [word.replace("R.", "rlx.op.", 1) for word in similar(f"relax.{full}")]
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    raise AttributeError(f"unknown operator {full!r}{meant}")


def members(prefix: str) -> list[str]:
    """The names that can follow a prefix."""
    inside = (name.removeprefix(prefix) for name in _names() if name.startswith(prefix))
    return sorted({name.partition(".")[0] for name in inside})


def _names() -> list[str]:
    built_in = every_name()
    return [*dict.fromkeys((*built_in, *(name.removeprefix("relax.") for name in declared)))]


def in_order(operator: Operator) -> list[Parameter]:
    """The parameters in Python's order: type arguments come after the last required one."""
    plain = [p for p in operator.parameters if p.kind != "types"]
    types = [p for p in operator.parameters if p.kind == "types"]
    optional = takewhile(lambda p: p.default is not REQUIRED and not p.variadic, reversed(plain))
    end = len(plain) - len([*optional])
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
    """A parameter's name in Python."""
    from keyword import iskeyword

    return f"{name}_" if iskeyword(name) else name


def function_of(operator: Operator) -> Callable[..., Call]:
    """The Python function that makes calls of an operator."""
    taken = signature(operator)
    node = ast.op(operator.name)
    order = [(p, python_name(p.name)) for p in in_order(operator)]
    required = [p for p, _ in order if p.default is REQUIRED]
    plain, least = all(p.kind in NUMBERS for p in required), len(required)
    bound = _binder(taken)

    def function(*args: Any, **keywords: Any) -> Call:
        if plain and len(args) == least and not keywords and _PLAIN.issuperset(map(type, args)):
            return Call(node, args, (), _NONE, (), (), here())
        place = here()
        try:
            given = bound(args, keywords)
        except TypeError as error:
            name = _word(operator)
            raise MisuseError(
                f"{name}: {error}; it is called as {name}{_form(taken)}", place
            ) from None
        return _call(operator, node, order, given, place)

    function.__name__ = function.__qualname__ = operator.name.rpartition(".")[2]
    function.__doc__ = operator.rule.__doc__
    function.__signature__ = taken  # type: ignore[attr-defined]
    return function


def _binder(taken: Signature) -> Callable[[tuple[Any, ...], dict[str, Any]], Mapping[str, Any]]:
    """What `taken.bind` gives, and raises; it is slow, and asked only about unusual calls."""
    parameters = taken.parameters.values()
    simple = all(each.kind is Argument.POSITIONAL_OR_KEYWORD for each in parameters)
    names = tuple(each.name for each in parameters)
    required = {each.name for each in parameters if each.default is Argument.empty}

    def bound(args: tuple[Any, ...], keywords: dict[str, Any]) -> Mapping[str, Any]:
        given = dict(zip(names, args, strict=False))
        right = simple and len(args) <= len(names) and given.keys().isdisjoint(keywords)
        given |= keywords
        if right and required <= given.keys() and given.keys() <= taken.parameters.keys():
            return given
        return taken.bind(*args, **keywords).arguments

    return bound


def _form(taken: Signature) -> str:
    """A signature without types."""
    plain = [each.replace(annotation=Argument.empty) for each in taken.parameters.values()]
    return str(Signature(plain))


_NONE: Mapping[str, object] = {}


def _call(
    operator: Operator,
    node: ast.Op,
    order: list[tuple[Parameter, str]],
    given: Mapping[str, Any],
    place: Place,
) -> Call:
    """A call of an operator on what Python code gave. Raises MisuseError if an argument stands for
    nothing that the operator could take.
    """
    parts = _Parts(place)
    for parameter, name in order:
        if name not in given or (given[name] is None and parameter.default is None):
            parts.leave_out(parameter)
        else:
            try:
                parts.add(parameter, given[name])
            except (TypeError, ValueError) as error:
                words = error.message if isinstance(error, MisuseError) else str(error)
                raise MisuseError(f"{_word(operator)}: {parameter.name}: {words}", place) from None
    args, attrs = tuple(parts.args), parts.attrs
    return Call(node, args, parts.types, attrs, (), (), place, spelled=parts.spelled)


def _word(operator: Operator) -> str:
    return operator.name.removeprefix("relax.")


class _Parts:
    """The arguments of a call: what is an argument stands by its position as long as none before it
    is left out.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.args: list[Expr] = []
        self.attrs: dict[str, object] = {}
        self.types: tuple[StructInfo, ...] = ()
        self.spelled: dict[int | str, str] = {}
        self._by_position = True

    def leave_out(self, parameter: Parameter) -> None:
        """Go on behind a parameter that has its default."""
        self._by_position = self._by_position and parameter.kind == "types"

    def add(self, parameter: Parameter, value: Any) -> None:
        """Let a parameter have a value."""
        if parameter.name == "func" and isinstance(value, str):
            value = ast.ExternFunc(value, None, self.place)
        convert = ARGUMENTS.get(parameter.kind)
        if parameter.kind == "types":
            self.types = self._types(value)
        elif parameter.variadic:
            self.args += [convert(part) if convert else part for part in value]  # type: ignore[misc]
        elif convert is None:
            self._by_position = False
            self._keyword(parameter, value, attribute(value))
        elif self._by_position:
            if parameter.kind in NUMBERS and is_number(value):
                self.spelled[len(self.args)] = NUMBER
            elif value is None:
                self.spelled[len(self.args)] = "None"
            self.args.append(convert(value))  # type: ignore[arg-type]
        else:
            self._keyword(parameter, value, convert(value))

    def _keyword(self, parameter: Parameter, given: object, value: object) -> None:
        self.attrs[parameter.name] = value
        if given is None:
            self.spelled[parameter.name] = "None"

    def _types(self, given: Any) -> tuple[StructInfo, ...]:
        several = given if isinstance(given, list | tuple) else (given,)
        infos = tuple([values.annotation(part, self.place) for part in several])
        return infos if len(infos) == 1 else (ast.TupleStructInfo(infos),)
