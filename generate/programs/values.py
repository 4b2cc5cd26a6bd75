"""The usable values and dimensions at one place of a program."""

from __future__ import annotations

from collections.abc import Iterable

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.tir import PrimExpr

Key = object

_CLASS: dict[type[ast.StructInfo], str] = {
    ast.TensorStructInfo: "loose",
    ast.TupleStructInfo: "tuple",
    ast.ShapeStructInfo: "shape",
    ast.PrimStructInfo: "prim",
    ast.FuncStructInfo: "function",
}


class KnownValue:
    """A value in scope.

    Attributes
    ----------
    label
        A byte by which later steps name it: they take the value whose label is the next at or above
        theirs, so that it stays the same one when others disappear.
    info
        What the checker knows.
    truth
        What is certain all the same, behind a looser annotation.
    dims
        The dimensions of a tensor of which all of them are known to the checker.
    local
        Whether it ends with its dataflow block.
    """

    __slots__ = ("dims", "expr", "info", "label", "local", "truth")

    def __init__(
        self,
        label: int,
        expr: ast.Expr,
        info: ast.StructInfo,
        truth: ast.StructInfo,
        local: bool = False,
    ) -> None:
        self.label, self.expr, self.info, self.truth, self.local = label, expr, info, truth, local
        shape = info.shape if type(info) is ast.TensorStructInfo else None
        self.dims = shape.values if type(shape) is ast.ShapeExpr else None


def key_of(value: KnownValue) -> Key:
    """The class of values among which one is looked for: element type and rank, or a kind."""
    info = value.info
    if value.dims is not None and isinstance(info, ast.TensorStructInfo) and info.vdevice is None:
        return info.dtype, len(value.dims)
    return _CLASS.get(type(info), "object")


class ScopeValues:
    """The values and dimensions of a scope, those of the scopes around it included.

    Attributes
    ----------
    made
        The tensors of known shape that a binding gave.
    """

    __slots__ = ("dims", "made", "order", "values")

    def __init__(self, outer: ScopeValues | None = None) -> None:
        self.values: dict[Key, list[KnownValue]] = (
            {k: list(v) for k, v in outer.values.items()} if outer else {}
        )
        self.order: list[KnownValue] = list(outer.order) if outer else []
        self.dims: list[PrimExpr] = list(outer.dims) if outer else []
        self.made: list[KnownValue] = list(outer.made) if outer else []

    def add(self, value: KnownValue, made: bool = False) -> None:
        """Bring a value into scope; ``made`` if a binding gave it."""
        self.values.setdefault(key_of(value), []).append(value)
        self.order.append(value)
        if made and value.dims is not None:
            self.made.append(value)

    def remove(self, value: KnownValue) -> None:
        """Take a value out of scope."""
        self.values[key_of(value)].remove(value)
        self.order.remove(value)
        if value in self.made:
            self.made.remove(value)

    def of(self, key: Key) -> list[KnownValue]:
        """The values of a class."""
        return self.values.get(key, _NONE)

    def end_dataflow(self) -> None:
        """Take out of scope what ends with its dataflow block."""
        if any(v.local for v in self.order):
            self.order = [v for v in self.order if not v.local]
            self.made = [v for v in self.made if not v.local]
            self.values = {k: [v for v in vs if not v.local] for k, vs in self.values.items()}


_NONE: list[KnownValue] = []


def nearest(values: Iterable[KnownValue], label: int) -> list[KnownValue]:
    """Values in the order in which a label names them."""
    return sorted(values, key=lambda v: (v.label - label) & 255)
