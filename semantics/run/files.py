"""Tensors in `.npy` and `.npz` files, including element types without a name in NumPy's format."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import VOID, DataType
from rlx.grammar.print.printer import show
from rlx.operators.evaluation import OperatorFault, numpy_dtype
from rlx.semantics.arrays import forwards
from rlx.semantics.live_memory import TooMuchMemory, current
from rlx.semantics.values import Tensor, TupleValue, Value
from rlx.writing import Sink

Array = np.ndarray[Any, Any]

_MAGIC = {".npy": b"\x93NUMPY", ".npz": b"PK"}
_PLAIN = "biuf"
"""The kinds of element types that are read unchanged."""
_REGISTERED = 2
"""The `isbuiltin` of element types that are not NumPy's own: bfloat16, int4, float8."""


class FileError(ValueError):
    """A file without a valid value for an annotation, with the expected and the actual content."""


def save(file: Sink, array: Array) -> None:
    """Write a tensor as a .npy file; elements without a name in the format are written as plain bytes."""
    if array.dtype.isbuiltin == _REGISTERED:
        array = np.ascontiguousarray(array).reshape(array.shape).view(f"V{array.dtype.itemsize}")
    npy.write_array(file, array, allow_pickle=False)


def load(path: Path, info: ast.StructInfo) -> Value:
    """Read the value of a parameter with an annotation from a file. Raises FileError if the file
    cannot be read, or has another kind of content.
    """
    if path.exists() and not path.is_file():  # to be read twice; a pipe would be waited for
        raise FileError(f"{path} is not a file with an array")
    try:
        with path.open("rb") as file:
            if not file.read(6).startswith(_MAGIC[path.name[-4:]]):
                raise FileError(f"{path} is not a {path.name[-4:]} file: its header is wrong")
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}") from None
    found = _loaded(path)
    return _several(path, found, info) if isinstance(found, dict) else _one(path, found, info)


def arrays_in(path: Path) -> dict[str, Array]:
    """The arrays of an archive by their names. Raises FileError if it cannot be read, has something
    else than arrays, or needs more memory than a run may.
    """
    found = _loaded(path)
    if isinstance(found, dict):
        return found
    raise FileError(f"{path} is one array, and an archive too")


def _loaded(path: Path) -> Array | dict[str, Array]:
    """The array of a file, or the arrays of an archive, which are never pickles."""
    try:
        current().require(_announced(path), path.name)
        found = np.load(path, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return found
        with found:
            return {name: found[name] for name in found.files}
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}") from None
    except TooMuchMemory as error:
        raise FileError(f"{path} is too large: {error}") from None
    except Exception as error:  # noqa: BLE001 - what NumPy and zipfile say of a file that is wrong
        said = _reason(str(error) or type(error).__name__)
        raise FileError(f"{path} cannot be read: {said}") from None


def _announced(path: Path) -> int:
    """The bytes of the arrays in a file, by its headers: little may be there, or much be packed."""
    with path.open("rb") as file:
        if path.suffix == ".npy":
            return _announced_by(file)
        with zipfile.ZipFile(file) as held:
            total = 0
            for name in held.namelist():
                with held.open(name) as part:
                    total += _announced_by(part)
            return total


def _announced_by(file: IO[bytes]) -> int:
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, kind = read(file)
    return math.prod(shape) * kind.itemsize


def _reason(said: str) -> str:
    """Why NumPy refused a file, in our words where it advises what is not safe."""
    if "pickle" in said.lower():
        return "expected numbers, found Python objects"
    if "dtype descriptor" in said:
        return f"NumPy does not support its element type ({said})"
    return said


def _one(path: Path, array: Array, info: ast.StructInfo) -> Value:
    match info:
        case ast.TensorStructInfo(dtype=kind):
            return Tensor(elements(path.name, array, kind))
        case ast.ObjectStructInfo():
            return Tensor(elements(path.name, array, VOID))
    raise FileError(f"{path} holds one array; expected {show(info)}")


def _several(path: Path, arrays: dict[str, Array], info: ast.StructInfo) -> Value:
    if not isinstance(info, ast.TupleStructInfo):
        raise FileError(f"{path} is a tuple of {len(arrays)} arrays; expected {show(info)}")
    if len(arrays) != len(info.fields):
        wanted = f"{show(info)} has {len(info.fields)}"
        raise FileError(f"{path} has {len(arrays)} arrays; {wanted}")
    fields = zip(arrays.items(), info.fields, strict=True)
    return TupleValue(tuple(_one(path / name, array, inner) for (name, array), inner in fields))


def elements(name: str, array: Array, kind: DataType) -> Array:
    """An array in this machine's byte order; bytes without a type as the elements of one. Raises
    FileError if the elements are not numbers, or the bytes do not fit the type.
    """
    found = array.dtype
    wanted = _wanted(kind)
    raw = found.kind == "V" and found.names is None and found.subdtype is None
    narrow = wanted is not None and wanted.isbuiltin == _REGISTERED
    if narrow and (raw or found.kind == "u") and found.itemsize == wanted.itemsize:  # type: ignore[union-attr]
        return _read_as(name, array, kind)
    if found.kind in _PLAIN:
        return forwards(array)  # type: ignore[no-any-return]
    held = f"elements of {found.itemsize} bytes without a type" if raw else f"elements of {found}"
    expected = "numbers" if wanted is None else f"{kind}, {wanted.itemsize} bytes each"
    raise FileError(f"{name} holds {held}; expected {expected}")


def _wanted(kind: DataType) -> np.dtype[Any] | None:
    try:
        return None if kind.is_void else numpy_dtype(kind)
    except OperatorFault as fault:
        raise FileError(str(fault)) from None


def _read_as(name: str, array: Array, kind: DataType) -> Array:
    """Bytes, or unsigned integers, as elements of a type of that width."""
    native = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False))
    if kind.bits < 8 and int(native.view(np.uint8).max(initial=0)) >> kind.bits:
        raise FileError(f"{name} holds bytes that are not {kind}: their upper bits are not 0")
    return native.reshape(array.shape).view(numpy_dtype(kind))
