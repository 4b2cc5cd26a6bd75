"""Python's operators on expressions, such as ``x + 1``, ``x[0]`` and ``f(x)``.

On Relax values they make calls of operators, as in texts; on scalars they make arithmetic. ``==``
and ``!=`` compare identities, because nodes are used as keys: write ``rlx.op.equal`` or ``tir.EQ``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

C = TypeVar("C")
"""Makes a call of an operator: :class:`rlx.grammar.nodes.ast.Call`, which inherits from classes of this
module.
"""
F = TypeVar("F")
"""A field of a tuple."""
S = TypeVar("S")
"""A scalar."""
_MAKERS = "rlx.grammar.nodes.overloaded"
"""The module that makes the nodes, given by name, because it needs subclasses of the classes
here.
"""

_INSIDE = f"{__name__.partition('.')[0]}."


def _asked_inside() -> bool:
    """Whether code of rlx asks for the truth of a node: the caller of the method that calls this."""
    return sys._getframe(2).f_globals.get("__name__", "").startswith(_INSIDE)  # type: ignore[no-any-return]


def _value(name: str, *operands: object) -> Any:
    return import_module(_MAKERS).value(name, operands)


class OwnOperators:
    """Base class of values with their own operators, which also handle scalar operands.

    Attributes
    ----------
    node
        The corresponding scalar of the syntax tree.
    """

    node: Any
    __slots__ = ()
    __array_ufunc__ = None
    """Makes a NumPy array on the left delegate to the right operand."""


def _scalar(symbol: str, a: object, b: object) -> Any:
    if isinstance(b, OwnOperators):
        return NotImplemented
    return import_module(_MAKERS).scalar(symbol, a, b)


class ValueOperators(Generic[C, F]):
    """Python's operators on Relax values."""

    __slots__ = ()
    __array_ufunc__ = None
    """Makes a NumPy array on the left delegate to the right operand."""

    def __add__(self, other: object) -> C:
        return _value("relax.add", self, other)  # type: ignore[no-any-return]

    def __radd__(self, other: object) -> C:
        return _value("relax.add", other, self)  # type: ignore[no-any-return]

    def __sub__(self, other: object) -> C:
        return _value("relax.subtract", self, other)  # type: ignore[no-any-return]

    def __rsub__(self, other: object) -> C:
        return _value("relax.subtract", other, self)  # type: ignore[no-any-return]

    def __mul__(self, other: object) -> C:
        return _value("relax.multiply", self, other)  # type: ignore[no-any-return]

    def __rmul__(self, other: object) -> C:
        return _value("relax.multiply", other, self)  # type: ignore[no-any-return]

    def __truediv__(self, other: object) -> C:
        return _value("relax.divide", self, other)  # type: ignore[no-any-return]

    def __rtruediv__(self, other: object) -> C:
        return _value("relax.divide", other, self)  # type: ignore[no-any-return]

    def __floordiv__(self, other: object) -> C:
        return _value("relax.floor_divide", self, other)  # type: ignore[no-any-return]

    def __rfloordiv__(self, other: object) -> C:
        return _value("relax.floor_divide", other, self)  # type: ignore[no-any-return]

    def __mod__(self, other: object) -> C:
        return _value("relax.mod", self, other)  # type: ignore[no-any-return]

    def __rmod__(self, other: object) -> C:
        return _value("relax.mod", other, self)  # type: ignore[no-any-return]

    def __pow__(self, other: object) -> C:
        return _value("relax.power", self, other)  # type: ignore[no-any-return]

    def __rpow__(self, other: object) -> C:
        return _value("relax.power", other, self)  # type: ignore[no-any-return]

    def __matmul__(self, other: object) -> C:
        return _value("relax.matmul", self, other)  # type: ignore[no-any-return]

    def __lt__(self, other: object) -> C:
        return _value("relax.less", self, other)  # type: ignore[no-any-return]

    def __le__(self, other: object) -> C:
        return _value("relax.less_equal", self, other)  # type: ignore[no-any-return]

    def __gt__(self, other: object) -> C:
        return _value("relax.greater", self, other)  # type: ignore[no-any-return]

    def __ge__(self, other: object) -> C:
        return _value("relax.greater_equal", self, other)  # type: ignore[no-any-return]

    def __neg__(self) -> C:
        return _value("relax.negative", self)  # type: ignore[no-any-return]

    def __getitem__(self, index: int) -> F:
        return import_module(_MAKERS).item(self, index)  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        """Whether an expression is there, for rlx itself; other code means its value, which only a
        run has, or whether a shape or a tuple has parts.
        """
        if not _asked_inside():
            return import_module(_MAKERS).has_parts(self)  # type: ignore[no-any-return]
        return True

    def __len__(self) -> int:
        return import_module(_MAKERS).length(self)  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[F]:
        return iter([self[index] for index in range(len(self))])

    if not TYPE_CHECKING:  # a checker would take every attribute for one that is there

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(import_module(_MAKERS).missing(self, name))

    __contains__ = None

    def __call__(self, *args: object) -> C:
        return import_module(_MAKERS).call(self, args)  # type: ignore[no-any-return]


class ScalarOperators(Generic[S]):
    """Python's operators on scalars: dimensions, indices, conditions."""

    __slots__ = ()
    __array_ufunc__ = None
    """Makes a NumPy number on the left delegate to the right operand."""

    def __add__(self, other: object) -> S:
        return _scalar("+", self, other)  # type: ignore[no-any-return]

    def __radd__(self, other: object) -> S:
        return _scalar("+", other, self)  # type: ignore[no-any-return]

    def __sub__(self, other: object) -> S:
        return _scalar("-", self, other)  # type: ignore[no-any-return]

    def __rsub__(self, other: object) -> S:
        return _scalar("-", other, self)  # type: ignore[no-any-return]

    def __mul__(self, other: object) -> S:
        return _scalar("*", self, other)  # type: ignore[no-any-return]

    def __rmul__(self, other: object) -> S:
        return _scalar("*", other, self)  # type: ignore[no-any-return]

    def __truediv__(self, other: object) -> S:
        return _scalar("/", self, other)  # type: ignore[no-any-return]

    def __rtruediv__(self, other: object) -> S:
        return _scalar("/", other, self)  # type: ignore[no-any-return]

    def __floordiv__(self, other: object) -> S:
        return _scalar("//", self, other)  # type: ignore[no-any-return]

    def __rfloordiv__(self, other: object) -> S:
        return _scalar("//", other, self)  # type: ignore[no-any-return]

    def __mod__(self, other: object) -> S:
        return _scalar("%", self, other)  # type: ignore[no-any-return]

    def __rmod__(self, other: object) -> S:
        return _scalar("%", other, self)  # type: ignore[no-any-return]

    def __lt__(self, other: object) -> S:
        return _scalar("<", self, other)  # type: ignore[no-any-return]

    def __le__(self, other: object) -> S:
        return _scalar("<=", self, other)  # type: ignore[no-any-return]

    def __gt__(self, other: object) -> S:
        return _scalar(">", self, other)  # type: ignore[no-any-return]

    def __ge__(self, other: object) -> S:
        return _scalar(">=", self, other)  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        """Whether an expression is there, for rlx itself; other code means its value."""
        if not _asked_inside():
            return import_module(_MAKERS).truth(self)  # type: ignore[no-any-return]
        return True

    def __neg__(self) -> S:
        return import_module(_MAKERS).negative(self)  # type: ignore[no-any-return]
