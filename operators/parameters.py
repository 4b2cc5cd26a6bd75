"""The parameters of an operator, read from the signature of the function that is its rule.

The function takes the call's site, and then a parameter for each of the operator's: its name (with
``_`` behind it where Python or the module uses the name), its kind as annotation, ``| None`` where
null is a value, and its default::

    def concat(site: Site, tensors: Tensors, axis: int | None = 0) -> StructInfo: ...

``*values: Expr`` takes the positional rest. A parameter that can only be given as a keyword stands
behind ``*``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CodeType, NoneType
from typing import Annotated, Any, get_args

from rlx.grammar import ast
from rlx.grammar.ast import PrimStructInfo, StructInfo, TensorStructInfo
from rlx.grammar.dtype import DataType
from rlx.grammar.node import Record
from rlx.grammar.tir import IntImm, PrimExpr

Tensor = TensorStructInfo
Operand = Annotated[TensorStructInfo | PrimStructInfo, "operand"]
"""A tensor, or a scalar that stands for one of rank 0."""
Tensors = Annotated[tuple[TensorStructInfo, ...] | None, "tensors"]
"""Tensors of a tuple; None where not even their number is known."""
OneOrTensors = Annotated[tuple[TensorStructInfo, ...] | None, "one_or_tensors"]
"""Tensors of a tuple, of which one may stand alone."""
Shape = Annotated[ast.Expr, "shape"]
"""An expression that is a shape, written out where it is known."""
NewShape = Annotated[ast.Expr, "new_shape"]
"""A shape in which a written 0 is copied from the old one, and a written -1 is inferred."""
Size = Annotated[ast.Expr, "size"]
"""A shape, or one number for all axes."""
Prim = Annotated[PrimExpr | None, "prim"]
"""A scalar; None where its value is not known."""
Prims = Annotated[tuple[PrimExpr | None, ...] | None, "prims"]
Ints = Annotated[tuple[int, ...], "ints"]
IntOrInts = Annotated[int | tuple[int, ...], "int_or_ints"]
IntList = Annotated[tuple[int, ...], "list"]
"""Integers in a list; a single one is none."""
Count = Annotated[int, "count"]
"""An integer, which may also stand in a constant of rank 0."""
Whole = Annotated[ast.Expr, "whole"]
"""An expression, but no tuple that stands in the call."""
WholeShape = Annotated[ast.Expr, "whole_shape"]
"""A shape that is no tuple of scalars."""
Listed = Annotated[Any, "listed"]
"""An argument of the positional rest, which may also be given as a list by its keyword."""
StrExpr = Annotated[str, "str_expr"]
IntExpr = Annotated[int, "int_expr"]
Longs = Annotated[tuple[int, ...], "longs"]
"""Integers of 64 bits, where other attributes have 32."""
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
"""The kinds of parameters, which are keys of :data:`rlx.operators.argument_kinds.KINDS`, by their
annotations.
"""
_VARIADIC = 4


class Required:
    """The default of a parameter that has none."""


REQUIRED = Required()


class Parameter(Record):
    """A parameter of an operator.

    Attributes
    ----------
    name
        As keyword arguments spell it.
    kind
        What the rule receives: a key of :data:`rlx.operators.argument_kinds.KINDS`.
    optional
        Whether null (``None``, ``R.null_value()``, an empty tuple) is a value.
    default
        What an omitted argument stands for; ``REQUIRED`` if it may not be omitted.
    variadic
        Whether it takes all further positional arguments.
    receiver
        What the rule calls it, where it takes it as a keyword.
    """

    name: str
    kind: str
    optional: bool = False
    default: object = REQUIRED
    variadic: bool = False
    receiver: str = ""

    @property
    def written(self) -> str:
        """As a signature shows it: ``x``, ``axis=-1``, ``*args``."""
        if self.variadic:
            return f"*{self.name}"
        if self.kind == "types" or self.default is REQUIRED:
            return self.name
        return f"{self.name}={self.default!r}"


class OperatorSignature:
    """A name with parameters: what reading the arguments of a call needs of an operator.

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
        """The parameters in order."""
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
        Defaults of this operator that are not those of the function.

    Raises
    ------
    TypeError
        If the annotation of a parameter is no kind of parameters.
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
        name = getattr(named[0], "__metadata__", [getattr(named[0], "__name__", "")])[0]
        if name in _KINDS or name in _KINDS.values():
            return _KINDS.get(name, name), optional
    raise TypeError(f"expected a kind of parameter as annotation, found {annotation!r}")


def _plain(default: object) -> object:
    """A default as the value that a call would write."""
    if isinstance(default, IntImm):
        return default.value
    return str(default) if isinstance(default, DataType) else default
