"""A call of a Relay operator during its translation to Relax."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import NoReturn

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Literal
from rlx.grammar.nodes.dtype import INT32, INT64, DataType, dtype
from rlx.grammar.wording import counted

InfoOf = Callable[[ast.Expr], ast.StructInfo]
"""The known struct info of an operand."""


class OperandError(Exception):
    """A call that the table does not translate: a wrong number of operands, an attribute of
    another kind.
    """


class TranslatedCall:
    """The operands and attributes of a call.

    Attributes
    ----------
    args
        Expressions of Relax for the operands, atoms all.
    refused_later
        Why the check of Relax refuses what the call becomes; empty if nothing is known of that.
    """

    def __init__(
        self,
        name: str,
        args: tuple[ast.Expr, ...],
        attrs: Mapping[str, object],
        info: InfoOf,
    ) -> None:
        self.name, self.args, self.info = name, args, info
        self._attrs = attrs
        self._read: set[str] = set()
        self.refused_later = ""

    def fail(self, message: str) -> NoReturn:
        """Give up.

        Raises
        ------
        OperandError
            Always.
        """
        raise OperandError(f"{self.name}: {message}")

    def operands(self, count: int) -> tuple[ast.Expr, ...]:
        """The operands, of which there must be so many."""
        if len(self.args) != count:
            self.fail(f"expected {counted(count, 'operand')}, found {len(self.args)}")
        return self.args

    # ------------------------------------------------------------ attributes

    def given(self, name: str, default: object = None) -> object:
        """An attribute as it stands in the text."""
        self._read.add(name)
        return self._attrs.get(name, default)

    def integer(self, name: str, default: int | None = None) -> int:
        found = self.given(name, default)
        if not isinstance(found, int):
            self.fail(f"expected an integer for {name}, found {found!r}")
        return int(found)

    def number(self, name: str, default: float | None = None) -> float:
        found = self.given(name, default)
        if not isinstance(found, int | float):
            self.fail(f"expected a number for {name}, found {found!r}")
        return found

    def finite(self, name: str, default: float | None = None) -> float:
        """An attribute that is a number, and neither infinite nor none."""
        found = self.number(name, default)
        if not isfinite(found):
            self.fail(f"expected a finite number for {name}, found {found!r}")
        return found

    def flag(self, name: str, default: bool = False) -> bool:
        """An attribute that is True or False, or 1 or 0."""
        found = self.given(name, default)
        if not isinstance(found, int):
            self.fail(f"expected True or False for {name}, found {found!r}")
        return bool(found)

    def string(self, name: str, default: str = "") -> str:
        found = self.given(name, default)
        if not isinstance(found, str):
            self.fail(f"expected a string for {name}, found {found!r}")
        return found

    def integers(self, name: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """An attribute that is a list of integers; one alone is a list of it."""
        found = self.given(name, default)
        if isinstance(found, int):
            return (found,)
        if not isinstance(found, tuple) or not all(isinstance(each, int) for each in found):
            self.fail(f"expected a list of integers for {name}, found {found!r}")
        return found

    def axes(self, name: str = "axis") -> tuple[int, ...] | None:
        """An attribute that is None, an axis or a list of axes."""
        return None if self.given(name) is None else self.integers(name)

    def axis(self) -> int | None:
        """The attribute ``axis``, which is None or an integer."""
        return None if self.given("axis") is None else self.integer("axis")

    def element_type(self, name: str = "dtype", default: str | None = None) -> DataType:
        found = self.given(name, default)
        try:
            kind = dtype(found) if isinstance(found, str) else None
        except ValueError:
            kind = None
        if kind is None or kind.is_void:
            self.fail(f"expected an element type for {name}, found {found!r}")
        return kind

    def unread(self) -> list[str]:
        """The attributes that the translation did not look at."""
        return [name for name in self._attrs if name not in self._read]

    # ------------------------------------------------------------ what is known

    def rank(self, operand: ast.Expr) -> int:
        """The rank of an operand, which must be known."""
        info = self.info(operand)
        if not isinstance(info, ast.TensorStructInfo) or info.ndim < 0:
            self.fail("the rank of the operand is not known")
        return info.ndim

    def dims(self, operand: ast.Expr) -> tuple[tir.PrimExpr, ...]:
        """The dimensions of an operand, which must be known."""
        found = self.known_dims(operand)
        if found is None:
            self.fail("the shape of the operand is not known")
        return found

    def known_dims(self, operand: ast.Expr) -> tuple[tir.PrimExpr, ...] | None:
        """The dimensions of an operand, if they are known."""
        info = self.info(operand)
        if isinstance(info, ast.TensorStructInfo) and isinstance(info.shape, ast.ShapeExpr):
            return info.shape.values
        return None

    def said(self, name: str, wanted: Sequence[tir.PrimExpr]) -> None:
        """An attribute that repeats dimensions of an operand; one that contradicts them is wrong."""
        if self.given(name) is None or not wanted:
            return
        given = self.integers(name)
        if len(given) == 1:
            given *= len(wanted)
        known = [dim.value if isinstance(dim, tir.IntImm) else None for dim in wanted]
        pairs = zip(given, known, strict=False)
        if len(given) != len(known) or any(size not in (None, said) for said, size in pairs):
            one, found = ([str(n) for n in sizes] for sizes in (given, wanted))
            self.fail(f"{name} is {', '.join(one)}, but the weight has {', '.join(found)}")

    def fields(self, operand: ast.Expr) -> int:
        """The number of fields of an operand that is a tuple."""
        info = self.info(operand)
        if not isinstance(info, ast.TupleStructInfo):
            self.fail("expected a tuple of tensors")
        return len(info.fields)

    def kind_of(self, operand: ast.Expr) -> DataType:
        """The element type of an operand, which must be known."""
        info = self.info(operand)
        if not isinstance(info, ast.TensorStructInfo) or info.dtype.is_void:
            self.fail("the element type of the operand is not known")
        return info.dtype

    def axis_of(self, operand: ast.Expr, name: str, default: int) -> int:
        """An attribute that is an axis, counted from the front."""
        axis, rank = self.integer(name, default), self.rank(operand)
        if not -rank <= axis < rank:
            self.fail(f"axis {axis} is out of range for rank {rank}")
        return axis % rank


def call(name: str, *args: ast.Expr, **attrs: object) -> ast.Call:
    """A call of an operator of Relax; attributes that are None are left out."""
    said = {key: str(v) if isinstance(v, DataType) else v for key, v in attrs.items()}
    kept = {key: value for key, value in said.items() if value is not None}
    return ast.Call(ast.op(f"relax.{name}"), args, kept)


def scalar(value: float, kind: DataType) -> ast.Constant:
    return ast.Constant(Literal(value, kind, ()))


def sizes(values: tuple[int, ...]) -> ast.ShapeExpr:
    """A shape that is written out."""
    return ast.ShapeExpr(tuple(tir.IntImm(value) for value in values))


def times(a: tir.PrimExpr, b: tir.PrimExpr) -> tir.PrimExpr:
    """The product of two dimensions."""
    if isinstance(a, tir.IntImm) and isinstance(b, tir.IntImm):
        return tir.IntImm(a.value * b.value)
    return tir.Mul(a, b)


def plus(a: tir.PrimExpr, n: int) -> tir.PrimExpr:
    """A dimension and a number."""
    return tir.IntImm(a.value + n) if isinstance(a, tir.IntImm) else tir.Add(a, tir.IntImm(n))


def reshaped(c: TranslatedCall, x: ast.Expr, shape: tuple[int, ...]) -> ast.Expr:
    """An operand in another shape; Relax infers -1 only from a shape that is known."""
    info = c.info(x)
    if -1 in shape and isinstance(info, ast.TensorStructInfo) and info.shape is None:
        if shape == (-1,):
            return call("flatten", x)
        c.refused_later = (
            f"{c.name}: the check of Relax refuses a -1 where the shape of the operand is not known"
        )
    return call("reshape", x, sizes(shape))


def parts_of(a: tir.PrimExpr, size: int) -> tir.PrimExpr:
    """The number of parts of a size in a dimension."""
    if isinstance(a, tir.IntImm):
        return tir.IntImm(a.value // size)
    return tir.FloorDiv(a, tir.IntImm(size))


def prim(value: float) -> ast.PrimValue:
    """A number as an argument."""
    if isinstance(value, int):
        return ast.PrimValue(tir.IntImm(value))
    return ast.PrimValue(tir.FloatImm(value, dtype("float64")))


def data_type(kind: DataType) -> ast.StringImm:
    """An element type as an argument."""
    return ast.StringImm(str(kind))


SMALL, LARGE = INT32, INT64
"""The types of indices."""
