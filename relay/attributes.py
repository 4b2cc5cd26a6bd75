"""Values of attributes other than numbers, texts and tuples, and the texts of values."""

from __future__ import annotations

from rlx.grammar.nodes.node import Record
from rlx.grammar.streams import json_compact


class MetadataReference(Record):
    """An attribute whose value stands in the metadata: ``meta[Device][0]``."""

    kind: str
    index: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MetadataReference) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash((self.kind, self.index))

    def __str__(self) -> str:
        return f"meta[{self.kind}][{self.index}]"


class AttributeObject(Record):
    """An attribute that is an object of the compiler: a device, a target, a map. It is kept as it
    is written; no operator of the table reads one.

    Attributes
    ----------
    name
        ``VirtualDevice`` in ``VirtualDevice(device_type=1)``; empty where braces are.
    fields
        The values in brackets, each with its key, which is None if there is none. None where there
        are no brackets: ``?``, ``@f``, and numbers such as ``59e657a14ad0``.
    """

    name: str
    fields: tuple[tuple[str | None, object], ...] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AttributeObject) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        if self.fields is None:
            return self.name
        equals = "=" if self.name else ": "
        parts = [
            print_attribute(value) if key is None else f"{key}{equals}{print_attribute(value)}"
            for key, value in self.fields
        ]
        left, right = ("(", ")") if self.name else ("{", "}")
        return f"{self.name}{left}{', '.join(parts)}{right}"


def print_attribute(value: object) -> str:
    """The text of an attribute's value."""
    match value:
        case bool() | None | MetadataReference() | AttributeObject():
            return str(value)
        case int():
            return str(value) if -(1 << 31) <= value < 1 << 31 else f"{value}i64"
        case float():
            return f"{print_float(value)}f64"
        case str():
            return json_compact(value)
        case tuple() | list():
            return f"[{', '.join(map(print_attribute, value))}]"
    raise TypeError(f"{value!r} is not an attribute of Relay")


def print_float(value: float) -> str:
    """The text of a number."""
    return repr(float(value)).removesuffix(".0")
