"""Contracts: how a pass may change the interface of a function, and still keep its meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.struct_infos import OBJECT


class InterfaceError(ValueError):
    """The programs cannot be compared: they have other functions, or other parameters."""


class Side(Protocol):
    """How arguments are handled: as terms in a proof, as values in a run."""

    def group(self, fields: Sequence[Any]) -> Any:
        """A tuple of arguments."""

    def fields(self, whole: Any) -> Sequence[Any] | None:
        """The fields of a tuple; None if it is not one."""

    def call(self, name: str, arguments: Sequence[Any]) -> Any:
        """The result of a function of AFTER."""


class Interface(Record):
    """A function before and after a pass.

    Attributes
    ----------
    name
        Its name.
    before, after
        The functions.
    others
        The names of the functions of AFTER.
    """

    name: str
    before: ast.Function
    after: ast.Function
    others: tuple[str, ...]

    def changed(self, words: str) -> InterfaceError:
        """The error that says how the interface changed."""
        return InterfaceError(f"the interface changed: {self.name}: {words}")


def _none(interface: Interface, arguments: Sequence[Any], side: Side) -> Sequence[Any]:
    one, other = interface.before, interface.after
    lifted = _transform(interface)
    hint = '; see the contract "lifted"' if lifted else ""
    if len(one.params) != len(other.params):
        raise interface.changed(
            f"it has {len(one.params)} parameters in BEFORE and {len(other.params)} in AFTER{hint}"
        )
    names = [[param.name_hint for param in f.params] for f in (one, other)]
    if lifted and names[0] != names[1]:
        raise interface.changed(f"{lifted} prepares its parameters{hint}")
    if names[0] != names[1] and sorted(names[0]) == sorted(names[1]):
        raise interface.changed('its parameters are reordered; see the contract "by-name"')
    return arguments


def _by_name(interface: Interface, arguments: Sequence[Any], side: Side) -> Sequence[Any]:
    one, other = interface.before, interface.after
    ours = {p.name_hint: a for p, a in zip(one.params, arguments, strict=True)}
    if len(ours) != len(one.params):
        raise interface.changed("two parameters have one name")
    for param in other.params:
        if param.name_hint not in ours:
            raise interface.changed(f"BEFORE has no parameter {param.name_hint}")
    return [ours[p.name_hint] for p in other.params]


def _packed(interface: Interface, arguments: Sequence[Any], side: Side) -> Sequence[Any]:
    params = interface.after.params
    last = params[-1].struct_info_annotation if params else OBJECT
    if not isinstance(last, ast.TupleStructInfo):
        raise interface.changed("its last parameter in AFTER is not a tuple")
    first = len(params) - 1
    if first + len(last.fields) != len(arguments):
        raise interface.changed(
            f"its last parameter in AFTER has {len(last.fields)} fields, and BEFORE has"
            f" {len(arguments) - first} more parameters"
        )
    return [*arguments[:first], side.group(arguments[first:])]


def _transform(interface: Interface) -> str | None:
    """The function of AFTER that prepares the parameters."""
    for name in (f"{interface.name}_transform_params", "transform_params"):
        if name in interface.others:
            return name
    return None


def _lifted(interface: Interface, arguments: Sequence[Any], side: Side) -> Sequence[Any]:
    name = _transform(interface)
    count = interface.before.attrs.get("num_input")
    if name is None:
        raise interface.changed("AFTER has no function that prepares its parameters")
    if not isinstance(count, int):
        raise interface.changed("it has no attribute num_input")
    prepared = side.fields(side.call(name, [side.group(arguments[count:])]))
    if prepared is None:
        raise interface.changed(f"{name} does not return a tuple")
    made = [*arguments[:count], *prepared]
    if len(made) != len(interface.after.params):
        raise interface.changed(
            f"{name} makes {len(prepared)} parameters, and AFTER has"
            f" {len(interface.after.params) - count}"
        )
    return made


Match = Callable[[Interface, Sequence[Any], Side], Sequence[Any]]

CONTRACTS: dict[str, Match] = {
    "by-name": _by_name,
    "packed": _packed,
    "lifted": _lifted,
    "sizes": _none,
}
"""``by-name``: parameters are reordered or dropped; those of one name are the same. ``packed``: the
last parameters of BEFORE are one tuple in AFTER. ``lifted``: a function of AFTER prepares the
parameters after the first ``num_input``. ``sizes``: only those sizes are compared that AFTER takes.
"""


def arguments_of(
    contract: str | None, interface: Interface, arguments: Sequence[Any], side: Side
) -> list[Any]:
    """The arguments of AFTER for those of BEFORE.

    Raises
    ------
    InterfaceError
        If there are none; the message says why.
    """
    match = CONTRACTS[contract] if contract else _none
    return list(match(interface, arguments, side))
