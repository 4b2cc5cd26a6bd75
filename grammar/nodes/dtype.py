"""Data types: `DataType ::= Int | UInt | Float | Handle` of the specification, and ml_dtypes'."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from rlx.grammar.nodes.node import Record, complete

if TYPE_CHECKING:
    import numpy as np


class DataType(Record):
    """The data type of a scalar or vector.

    Attributes
    ----------
    code
        ``"int"``, ``"uint"``, ``"float"``, ``"bfloat"``, ``"bool"``, ``"handle"``, or a narrow
        float such as ``"float8_e4m3fn"`` (the width is then part of the code).
    bits
        Width in bits; 0 for Void.
    lanes
        1 for scalars, 0 for Void.

    Obtain instances from :func:`dtype`: equal types are then the same object. A type is also equal
    to its name: ``x.struct_info.dtype == "float32"``.
    """

    __slots__ = ("_hash", "_lacking")

    code: str
    bits: int
    lanes: int = 1

    def __str__(self) -> str:
        if self.code == "handle":
            return "void" if self.bits == 0 else "handle"
        lanes = "" if self.lanes == 1 else f"x{self.lanes}"
        if self.code == "bool" or "_" in self.code:
            return self.code + lanes
        return f"{self.code}{self.bits}{lanes}"

    def __repr__(self) -> str:
        return f"dtype({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, str):
            return str(self) == other
        return isinstance(other, DataType) and (
            (self.code, self.bits, self.lanes) == (other.code, other.bits, other.lanes)
        )

    def __hash__(self) -> int:
        try:
            return self._hash  # type: ignore[attr-defined, no-any-return]
        except AttributeError:
            complete(self, _hash=hash(str(self)))  # that of the name, since a type equals it
            return hash(self)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type, by which it takes this one: ``np.zeros(4, x.struct_info.dtype)``.

        Raises
        ------
        AttributeError
            If arrays cannot have such elements.
        """
        found = numpy_type(self)
        if found is None:
            raise AttributeError(f"NumPy has no elements of type {self}")
        return found

    @property
    def is_void(self) -> bool:
        """Whether this is the unknown data type."""
        return self.code == "handle" and self.bits == 0

    @property
    def is_integer(self) -> bool:
        """Whether values are signed or unsigned integers (Booleans are not)."""
        return self.code in ("int", "uint")

    @property
    def is_float(self) -> bool:
        """Whether values are floating-point numbers of any width."""
        return self.code.startswith(("float", "bfloat"))

    @property
    def is_computable_float(self) -> bool:
        """Whether values are floating-point numbers of at least 16 bits:
        narrower ones are only stored.
        """
        return self.is_float and self.bits >= 16


_ALIASES = {"f": "float", "i": "int", "u": "uint", "bf": "bfloat"}
_WITHOUT_BITS = {"int": "int32", "uint": "uint32", "float": "float32", "bfloat": "bfloat16"}
_SCALAR = re.compile(r"(bfloat|float|uint|int|handle|bool|bf|f|i|u)(\d*)(?:x(\d+))?\Z")
_NARROW = re.compile(r"(float(\d)_e\d+m\d+\w*?)(?:x(\d+))?\Z")


@cache
def dtype(text: str) -> DataType:
    """Parse a data type as in Relax texts: ``"float32"``, ``"f32"``, ``"bool"``, ``""``,
    ``"void"``.

    Raises
    ------
    ValueError
        If ``text`` is not a data type.
    """
    if text in ("", "void"):
        return _intern("handle", 0, 0)
    text = _WITHOUT_BITS.get(text, text)
    if match := _NARROW.match(text):
        return _intern(match[1], int(match[2]), int(match[3] or 1))
    if match := _SCALAR.match(text):
        code, bits, lanes = _ALIASES.get(match[1], match[1]), match[2], int(match[3] or 1)
        if code == "bool":
            return _intern("bool", 1, lanes)
        if code == "handle":
            return _intern("handle", int(bits or 64), lanes)
        if bits and len(bits) <= 4:  # 0 bits stand for the usual number, as in TVM
            return _intern(code, int(bits) or (16 if code == "bfloat" else 32), lanes)
    raise ValueError(f"expected a data type such as 'float32', found {text!r}")


@cache
def _intern(code: str, bits: int, lanes: int) -> DataType:
    return DataType(code, bits, lanes)


_INTEGER_BITS = frozenset([1, 2, 4, 8, 16, 32, 64])
_FLOAT_BITS = {"float": frozenset([16, 32, 64]), "bfloat": frozenset([16])}


def lacking(data_type: DataType) -> tuple[str, str] | None:
    """The reason why tensors cannot have elements of a type: ``"lanes"``, ``"bits"`` or
    ``"handle"``, and an explanation; None if they can.
    """
    try:
        return data_type._lacking  # type: ignore[attr-defined, no-any-return]
    except AttributeError:
        complete(data_type, _lacking=_lacking(data_type))
        return lacking(data_type)


def _lacking(data_type: DataType) -> tuple[str, str] | None:
    if data_type.is_void:
        return None
    if data_type.code == "handle":
        return "handle", f"no value has the data type {data_type}"
    if data_type.lanes != 1:
        return "lanes", f"the data type {data_type} has {data_type.lanes} lanes, not one"
    if data_type.is_integer:
        if data_type.bits not in _INTEGER_BITS:
            return "bits", f"there is no integer type of {data_type.bits} bits"
    elif data_type.bits not in _FLOAT_BITS.get(data_type.code, {data_type.bits}):
        return "bits", f"there is no {data_type.code} type of {data_type.bits} bits"
    return None


def limits(dtype: DataType) -> tuple[int, int]:
    """The smallest and the largest integer of an integer type, or of ``bool``."""
    if dtype.code == "int":
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1


def fits(number: int, dtype: DataType) -> bool:
    """Whether an integer type, or ``bool``, has an integer."""
    low, high = limits(dtype)
    return low <= number <= high


@cache
def numpy_type(kind: DataType) -> np.dtype[Any] | None:
    """The type of arrays with elements of a type; narrow floats and integers use ml_dtypes.

    None if arrays cannot have such elements: vectors, handles, Void.
    """
    import numpy as np

    name = str(kind)
    if kind.lanes != 1 or kind.code == "handle":
        return None
    found = np.bool_ if name == "bool" else getattr(np, name, None)
    if found is None:
        import ml_dtypes

        found = getattr(ml_dtypes, name, None)
    return None if found is None else np.dtype(found)


def array_of(values: object, kind: np.dtype[Any] | None) -> np.ndarray[Any, Any]:
    """Numbers of a text as an array; what is too large for the type is infinite."""
    import numpy as np

    with np.errstate(over="ignore"):
        return np.array(values, dtype=kind)


VOID = dtype("void")
BOOL = dtype("bool")
INT32 = dtype("int32")
INT64 = dtype("int64")
FLOAT32 = dtype("float32")
HANDLE = dtype("handle")

SCALAR_NAMES = (
    *(f"int{bits}" for bits in (1, 4, 8, 16, 32, 64)),
    *(f"uint{bits}" for bits in (1, 4, 8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
    "bfloat16",
    "bool",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
)
"""The types whose literals are written as calls: `T.int64(4)`."""


LARGEST = {
    **dict.fromkeys(("bfloat16", "float32"), 3.4028234663852886e38),
    "float16": 65504.0,
    **dict.fromkeys(("float8_e5m2", "float8_e5m2fnuz"), 57344.0),
    **dict.fromkeys(("float8_e4m3", "float8_e4m3fnuz"), 240.0),
    "float8_e4m3fn": 448.0,
    "float8_e4m3b11fnuz": 30.0,
    "float8_e3m4": 15.5,
    "float6_e3m2fn": 28.0,
    "float6_e2m3fn": 7.5,
    "float4_e2m1fn": 6.0,
}
"""The largest finite numbers of float types; TVM takes that of float32 for that of bfloat16."""
