"""The abstract syntax of Relay: expressions that may share parts, types, and modules.

An expression is a graph: a node that is used twice is one object. Equality and hash are by
identity; :func:`rlx.relay.structural_equal` compares what two modules say.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.nodes.ast import Literal
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Record, Span

_PRINTER = "rlx.relay.printer"
"""The module that prints Relay, by name: it imports this one."""


class RelayType(Record):
    """Base of types."""


class RelayTensorType(RelayType):
    """``Tensor[(n, 3, ?), float32]``

    Attributes
    ----------
    shape
        The dimensions: a number, a name, or None for one that is not known (``?``).
    """

    shape: tuple[int | str | None, ...]
    dtype: DataType
    span: Span | None = None


class RelayTupleType(RelayType):
    """``(T, U)``"""

    fields: tuple[RelayType | None, ...]
    span: Span | None = None


class RelayFuncType(RelayType):
    """``fn (T, U) -> V``; a type that the text leaves out is None."""

    params: tuple[RelayType | None, ...]
    ret: RelayType | None
    span: Span | None = None


class RelayExpr(Record):
    """Base of expressions; each has a ``span``, None where no text says it."""


class RelayVar(RelayExpr):
    """A variable of a function or of a let; two of one name are two variables."""

    name: str
    annotation: RelayType | None = None
    span: Span | None = None


class RelayGlobalVar(RelayExpr):
    """The name of a function of the module; one object for each name and module."""

    name: str
    span: Span | None = None


class RelayOp(RelayExpr):
    """An operator, by its name: ``nn.conv2d``."""

    name: str
    span: Span | None = None


class RelayConstant(RelayExpr):
    """A constant tensor: a number, or an entry of the metadata."""

    data: Literal
    span: Span | None = None


class RelayTuple(RelayExpr):
    """``(a, b)``"""

    fields: tuple[RelayExpr, ...]
    span: Span | None = None


class RelayProjection(RelayExpr):
    """``value.index``"""

    value: RelayExpr
    index: int
    span: Span | None = None


class RelayCall(RelayExpr):
    """``op(args, attrs)``; attributes are numbers, strings, Booleans, None, and tuples of them."""

    op: RelayExpr
    args: tuple[RelayExpr, ...]
    attrs: Mapping[str, object] = {}
    span: Span | None = None


class RelayIf(RelayExpr):
    """``if (cond) { … } else { … }``; each branch is a scope."""

    cond: RelayExpr
    true_branch: RelayExpr
    false_branch: RelayExpr
    span: Span | None = None


class RelayLet(RelayExpr):
    """``let var = value; body``; a variable whose value is a function is known inside it."""

    var: RelayVar
    value: RelayExpr
    body: RelayExpr
    span: Span | None = None


class RelayFunction(RelayExpr):
    """A function: of the module, or a literal that evaluates to a closure."""

    params: tuple[RelayVar, ...]
    body: RelayExpr
    ret: RelayType | None = None
    attrs: Mapping[str, object] = {}
    span: Span | None = None


class RelayModule(Record):
    """The functions of a module by their names, in the order of the text.

    Attributes
    ----------
    text
        The text that spans point into; empty where there is none.
    """

    functions: Mapping[RelayGlobalVar, RelayFunction]
    text: str = ""

    def __getitem__(self, name: str) -> RelayFunction:
        """The function of a name.

        Raises
        ------
        KeyError
            If there is none; the message has the names that there are.
        """
        for known, function in self.functions.items():
            if known.name == name:
                return function
        names = ", ".join(known.name for known in self.functions)
        raise KeyError(f"no function {name!r}; there are: {names}")

    def __str__(self) -> str:
        """The module in Relay's text format."""
        from importlib import import_module

        text: str = import_module(_PRINTER).print_module(self)
        return text


ATOMS = (RelayVar, RelayGlobalVar, RelayOp, RelayConstant)
"""Nodes that stand for themselves: they have no parts, and nothing is computed for them."""


def operands(node: RelayExpr) -> tuple[RelayExpr, ...]:
    """The parts of an expression in the order in which they are evaluated."""
    match node:
        case RelayCall(op=op, args=args):
            return (op, *args)
        case RelayTuple(fields=fields):
            return fields
        case RelayProjection(value=value):
            return (value,)
        case RelayIf(cond=cond, true_branch=yes, false_branch=no):
            return (cond, yes, no)
        case RelayLet(value=value, body=body):
            return (value, body)
        case RelayFunction(body=body):
            return (body,)
    return ()
