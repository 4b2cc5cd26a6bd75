"""Which variables of a module are names of one value."""

from __future__ import annotations

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Var

Key = Var | tuple["Key", int]
"""A value: the variable that it was first bound to, or a field of a value."""


class ValueNames:
    """The names of values in a module.

    Attributes
    ----------
    first
        The value that a variable stands for, if it was bound to another one before.
    names
        The further variables of a value.
    holders
        The tuples that a value is a field of, with its position.
    fields
        The fields of a tuple that a variable was bound to.
    shapes
        The variable that the shape of a tensor was first bound to.
    tensors
        The tensor of which a variable is the shape.
    computed
        The variable that a call was first bound to, by its operator and its operand.
    """

    __slots__ = ("computed", "fields", "first", "holders", "names", "shapes", "tensors")

    def __init__(self) -> None:
        self.first: dict[Var, Key] = {}
        self.names: dict[Key, list[Var]] = {}
        self.holders: dict[Key, list[tuple[Var, int]]] = {}
        self.fields: dict[Key, tuple[ast.Expr, ...]] = {}
        self.shapes: dict[Key, Var] = {}
        self.tensors: dict[Key, Key] = {}
        self.computed: dict[tuple[str, Key], Key] = {}

    def of(self, expr: ast.Expr) -> Key | None:
        """The value of an expression; None for an expression that has no name."""
        match expr:
            case Var():
                return self.first.get(expr, expr)
            case ast.TupleGetItem(tuple_value=whole, index=index):
                around = self.of(whole)
                if around is None:
                    return None
                fields = self.fields.get(around, ())
                return self.of(fields[index]) if index in range(len(fields)) else (around, index)
        return None
