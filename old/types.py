"""The types of the specification of 2022: what is known of a value but for its shape."""

from __future__ import annotations

from dataclasses import dataclass

from rlx.grammar.nodes.dtype import VOID, DataType


@dataclass(frozen=True, slots=True)
class Type:
    """Base of types. Equality is that of the text: the document calls it syntactic equality."""


@dataclass(frozen=True, slots=True)
class DynTensorType(Type):
    """Tensors; ``ndim`` is -1 if the rank is unknown, ``dtype`` is Void if the element type is
    unknown.
    """

    ndim: int = -1
    dtype: DataType = VOID

    def __str__(self) -> str:
        known = [] if self.ndim < 0 else [f"ndim={self.ndim}"]
        known += [] if self.dtype.is_void else [f'dtype="{self.dtype}"']
        return f"Tensor({', '.join(known)})" if known else "Tensor"


@dataclass(frozen=True, slots=True)
class ShapeType(Type):
    """Shape values, of any rank."""

    def __str__(self) -> str:
        return "Shape"


@dataclass(frozen=True, slots=True)
class ObjectType(Type):
    """All values."""

    def __str__(self) -> str:
        return "Object"


@dataclass(frozen=True, slots=True)
class TupleType(Type):
    """Tuples, field by field."""

    fields: tuple[Type, ...]

    def __str__(self) -> str:
        return f"Tuple({', '.join(map(str, self.fields))})" if self.fields else "Tuple()"


@dataclass(frozen=True, slots=True)
class FuncType(Type):
    """Closures: their argument and result types, and whether calls of them have no side effects."""

    arg_types: tuple[Type, ...]
    ret_type: Type
    pure: bool = False

    def __str__(self) -> str:
        taken = ", ".join(map(str, self.arg_types))
        return f"Callable(({taken}), {self.ret_type}{', pure' if self.pure else ''})"


OBJECT = ObjectType()
SHAPE = ShapeType()
UNIT = TupleType(())
BOOL = "bool"
