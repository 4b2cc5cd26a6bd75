"""The types of the specification of 2022: everything known of a value except its shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from rlx.grammar.nodes.dtype import VOID, DataType
from rlx.old.repeated import listed, text_of


class _Once(type):
    """Makes one object of each type, so that comparing two never looks at their parts."""

    def __call__(cls, *args: Any, **named: Any) -> Any:
        made = super().__call__(*args, **named)
        return _made.setdefault((cls, *(getattr(made, name) for name in cls.__match_args__)), made)  # type: ignore[attr-defined]


_made: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Type(metaclass=_Once):
    """Base of types. Equality is that of the text: the document calls it syntactic equality."""

    def __str__(self) -> str:
        return text_of(self, lambda part: part.pieces())

    def pieces(self) -> Iterator[Any]:
        """The words of the type, and its parts, in order."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, eq=False)
class DynTensorType(Type):
    """Tensors; ``ndim`` is -1 if the rank is unknown, ``dtype`` is Void if the element type is
    unknown.
    """

    ndim: int = -1
    dtype: DataType = VOID

    def pieces(self) -> Iterator[Any]:
        known = [] if self.ndim < 0 else [f"ndim={self.ndim}"]
        known += [] if self.dtype.is_void else [f'dtype="{self.dtype}"']
        yield f"Tensor({', '.join(known)})" if known else "Tensor"


@dataclass(frozen=True, slots=True, eq=False)
class ShapeType(Type):
    """Shape values, of any rank."""

    def pieces(self) -> Iterator[Any]:
        yield "Shape"


@dataclass(frozen=True, slots=True, eq=False)
class ObjectType(Type):
    """All values."""

    def pieces(self) -> Iterator[Any]:
        yield "Object"


@dataclass(frozen=True, slots=True, eq=False)
class TupleType(Type):
    """Tuples, field by field."""

    fields: tuple[Type, ...]

    def pieces(self) -> Iterator[Any]:
        yield from ("Tuple(", *listed(self.fields), ")")


@dataclass(frozen=True, slots=True, eq=False)
class FuncType(Type):
    """Closures: their argument and result types, and whether calls of them have no side effects."""

    arg_types: tuple[Type, ...]
    ret_type: Type
    pure: bool = False

    def pieces(self) -> Iterator[Any]:
        yield from ("Callable((", *listed(self.arg_types), "), ", self.ret_type)
        yield ", pure)" if self.pure else ")"


OBJECT = ObjectType()
SHAPE = ShapeType()
UNIT = TupleType(())
BOOL = "bool"
