"""The parameters of an operator, read from the signature of its rule.

The function takes the call's site, and then a parameter for each of the operator's: its name
(followed by ``_`` if Python or the module uses the name), its kind as annotation, ``| None`` if
null is a value, and its default::

    def concat(site: OperatorCall, tensors: Tensors, axis: int | None = 0) -> StructInfo: ...

``*values: Expr`` takes all further positional arguments. Keyword-only parameters come after ``*``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CodeType, NoneType
from typing import Annotated, Any, get_args

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import PrimStructInfo, StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import IntImm, PrimExpr

Tensor = TensorStructInfo
Operand = Annotated[TensorStructInfo | PrimStructInfo, "operand"]
"""A tensor, or a scalar, which counts as a tensor of rank 0."""
Tensors = Annotated[tuple[TensorStructInfo, ...] | None, "tensors"]
"""The tensors of a tuple; None if not even their number is known."""
OneOrTensors = Annotated[tuple[TensorStructInfo, ...] | None, "one_or_tensors"]
"""The tensors of a tuple, or a single tensor."""
Shape = Annotated[ast.Expr, "shape"]
"""An expression that is a shape, as its dimensions if they are known."""
NewShape = Annotated[ast.Expr, "new_shape"]
"""A shape in which a literal 0 copies the old dimension, and a literal -1 is inferred."""
Size = Annotated[ast.Expr, "size"]
"""A shape, or one number for all axes."""
Prim = Annotated[PrimExpr | None, "prim"]
"""A scalar; None if its value is unknown."""
Prims = Annotated[tuple[PrimExpr | None, ...] | None, "prims"]
Ints = Annotated[tuple[int, ...], "ints"]
IntOrInts = Annotated[int | tuple[int, ...], "int_or_ints"]
IntList = Annotated[tuple[int, ...], "list"]
"""A list of integers; a single integer is rejected."""
Count = Annotated[int, "count"]
"""An integer, which may also be a constant of rank 0."""
Whole = Annotated[ast.Expr, "whole"]
"""An expression other than a tuple literal."""
WholeShape = Annotated[ast.Expr, "whole_shape"]
"""A shape that is not a tuple of scalars."""
Listed = Annotated[Any, "listed"]
"""One of the further positional arguments, which may also be given as a list by keyword."""
StrExpr = Annotated[str, "str_expr"]
IntExpr = Annotated[int, "int_expr"]
Longs = Annotated[tuple[int, ...], "longs"]
"""Integers of 64 bits; other attributes have 32."""
Type = Annotated[DataType | None, "dtype"]
"""A data type; None for the unknown one."""
TypeExpr = Annotated[DataType | None, "dtype_expr"]
TupleExpr = Annotated[ast.Expr, "tuple"]
Types = Annotated[tuple[StructInfo, ...], "types"]
"""The type arguments of the call."""

_KINDS: dict[str, str] = {
    **{
        name: alias.__metadata__[0]
        for name, alias in list(globals().items())
        if hasattr(alias, "__metadata__")
    },
    "Tensor": "tensor",
    "TensorStructInfo": "tensor",
    "int": "int",
    "float": "number",
    "str": "str",
    "Expr": "expr",
    "Any": "any",
}
"""The kinds of parameters (keys of :data:`rlx.operators.argument_kinds.KINDS`) by their
annotations.
"""
_VARIADIC = 4


class Required:
    """Marks a parameter without a default."""


REQUIRED = Required()


class Parameter(Record):
    """A parameter of an operator.

    Attributes
    ----------
    name
        Its name in keyword arguments.
    kind
        The kind of value that the rule gets: a key of :data:`rlx.operators.argument_kinds.KINDS`.
    optional
        Whether null (``None``, ``R.null_value()``, an empty tuple) is a value.
    default
        The value for an omitted argument; ``REQUIRED`` if it must not be omitted.
    variadic
        Whether it takes all further positional arguments.
    receiver
        Its name in the rule, if it is a keyword there.
    """

    name: str
    kind: str
    optional: bool = False
    default: object = REQUIRED
    variadic: bool = False
    receiver: str = ""

    @property
    def written(self) -> str:
        """Its text in a signature: ``x``, ``axis=-1``, ``*args``."""
        if self.variadic:
            return f"*{self.name}"
        if self.kind == "types" or self.default is REQUIRED:
            return self.name
        return f"{self.name}={self.default!r}"


class OperatorSignature:
    """The name and the parameters of an operator, which the binding of arguments needs.

    Attributes
    ----------
    name
        The full name: ``relax.nn.relu``.
    rule
        Derives the struct info of a call from the values of the parameters; its signature is the
        operator's.
    """

    __slots__ = ("_defaults", "_parameters", "name", "rule")

    def __init__(
        self, name: str, rule: Callable[..., StructInfo], defaults: Mapping[str, object]
    ) -> None:
        self.name, self.rule = name, rule
        self._defaults = defaults
        self._parameters: tuple[Parameter, ...] | None = None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        if self._parameters is None:
            self._parameters = parameters(self.rule, self._defaults)
        return self._parameters


def parameters(
    rule: Callable[..., object], defaults: Mapping[str, object]
) -> tuple[Parameter, ...]:
    """The parameters of an operator, in order.

    Parameters
    ----------
    rule
        The function that derives its struct info.
    defaults
        Defaults of this operator that differ from those of the function.

    Raises
    ------
    TypeError
        If the annotation of a parameter is not a kind of parameters.
    """
    function: Any = getattr(rule, "__wrapped__", rule)
    code: CodeType = function.__code__
    names, count, alone = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    behind = function.__defaults__ or ()
    said = dict(zip(names[count - len(behind) : count], behind, strict=True))
    said |= function.__kwdefaults__ or {}
    annotations = function.__annotations__

    def parameter(name: str, variadic: bool = False, receiver: str = "") -> Parameter:
        plain = name.rstrip("_")
        kind, optional = _kind(annotations.get(name, "Tensor"))
        default = defaults.get(plain, said.get(name, REQUIRED))
        return Parameter(plain, kind, optional, _plain(default), variadic, receiver)

    found = [parameter(name) for name in names[1:count]]
    if code.co_flags & _VARIADIC:
        found.append(parameter(names[count + alone], variadic=True))
    return (*found, *(parameter(n, receiver=n) for n in names[count : count + alone]))


def _kind(annotation: object) -> tuple[str, bool]:
    """The kind that an annotation names, and whether it lets null pass."""
    if isinstance(annotation, str):
        name = annotation.removesuffix(" | None").rpartition(".")[2]
        if name in _KINDS:
            return _KINDS[name], annotation.endswith(" | None")
    else:  # of a module that does not postpone annotations
        parts = get_args(annotation) if not hasattr(annotation, "__metadata__") else ()
        optional = NoneType in parts
        named = [part for part in parts if part is not NoneType] if optional else [annotation]
        name = " | ".join(
            getattr(part, "__metadata__", [getattr(part, "__name__", "")])[0] for part in named
        )
        if name in _KINDS or name in _KINDS.values():
            return _KINDS.get(name, name), optional
    raise TypeError(f"expected a kind of parameter as annotation, found {annotation!r}")


def _plain(default: object) -> object:
    """A default as the value that a call would write."""
    if isinstance(default, IntImm):
        return default.value
    return str(default) if isinstance(default, DataType) else default
