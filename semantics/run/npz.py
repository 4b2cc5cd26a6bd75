"""Named arrays of `.npz` files as the inputs of a function, and inputs as such files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rlx.grammar.nodes import ast
from rlx.grammar.suggest import misspelt
from rlx.semantics.run.files import FileError, arrays_in
from rlx.semantics.run.files import save as save_array
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value
from rlx.writing import Sink, output

Array = np.ndarray[Any, Any]


def arrays_of(path: str) -> dict[str, Array]:
    """The arrays of a file by their names. Raises FileError if it cannot be read, or is no `.npz`
    file.
    """
    place = Path(path)
    if place.exists() and not place.is_file() and not place.is_dir():  # a pipe would be waited for
        raise FileError(f"{path}: expected an .npz file")
    if not zipfile.is_zipfile(path):
        try:
            place.open("rb").close()
        except OSError as error:
            raise FileError(f"{path}: {error.strerror or error}") from None
        hint = ""
        if path.endswith(".npy"):
            hint = ": a .npy file has one array without a name; write it with np.savez(x=...)"
        raise FileError(f"{path}: expected an .npz file{hint}")
    return arrays_in(place)


def inputs_by_parameter(
    found: Mapping[str, Array], function: ast.Function, path: str
) -> dict[str, object]:
    """The arrays as inputs by parameter.

    Arrays that NumPy has named by their order (`arr_0`) go to the parameters in order; the fields
    of a tuple are `x.0`, `x.1`; a shape is an array of whole numbers.

    Raises FileError if a name is that of no parameter.
    """
    params = {param.name_hint: param for param in function.params}
    sizes = [var.name for var in function.shape_vars]
    made: dict[str, object] = {}
    in_order = dict(zip((f"arr_{at}" for at in range(len(params))), params, strict=False))
    for key, array in found.items():
        name = key if key in params or key in sizes else in_order.get(key, key)
        base, dot, field = name.rpartition(".")
        if name in made:
            raise FileError(f"{path}: {key!r} and another array are both for {name!r}")
        if name in params:
            made[name] = _value(array, params[name].struct_info_annotation)
        elif name in sizes:
            if array.size != 1 or array.dtype.kind not in "iu":
                raise FileError(
                    f"{path}: {name}: expected a whole number, found {array.dtype} {array.shape}"
                )
            made[name] = int(array.item())
        elif dot and base in params and field.isdecimal():
            fields = made.setdefault(base, {})
            if not isinstance(fields, dict):
                raise FileError(f"{path}: {base!r} and {key!r} contradict each other")
            fields[int(field)] = array
        else:
            known = [*params, *sizes]
            words = (
                f"{path}: there is no parameter {key!r}; there are: {', '.join(known) or 'none'}"
            )
            raise FileError(misspelt(words, key, known))
    return {name: _fields(name, value, path) for name, value in made.items()}


def _fields(name: str, value: object, path: str) -> object:
    if not isinstance(value, dict):
        return value
    if sorted(value) != list(range(len(value))):
        raise FileError(f"{path}: fields of {name!r} are missing: found {sorted(value)}")
    return tuple(value[at] for at in sorted(value))


def _value(array: Array, info: ast.StructInfo | None) -> object:
    if isinstance(info, ast.ShapeStructInfo):
        return tuple(array.reshape(-1).tolist())
    return array.item() if isinstance(info, ast.PrimStructInfo) and array.size == 1 else array


def parts(name: str, value: Value) -> Iterator[tuple[str, Array]]:
    """The arrays that stand for an input in a file."""
    match value:
        case Tensor(data=array):
            yield name, array
        case TupleValue(fields=fields):
            for at, field in enumerate(fields):
                yield from parts(f"{name}.{at}", field)
        case ShapeValue(values=sizes):
            yield name, np.asarray(sizes, np.int64)
        case Scalar(value=number):
            yield name, np.asarray(number)


def save(path: Path, inputs: Mapping[str, Value]) -> None:
    """Write inputs as an `.npz` file. Raises OSError if it cannot be written."""
    with output(path, within=[path.parent]) as sink:
        stream = io.BufferedWriter(_Stream(sink))
        with zipfile.ZipFile(stream, "w") as packed:
            for name, value in inputs.items():
                for key, array in parts(name, value):
                    with packed.open(f"{key}.npy", "w", force_zip64=True) as part:
                        save_array(part, array)
        stream.flush()


class _Stream(io.RawIOBase):
    """A file that is written from its start to its end, as Python's libraries want it."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        return self._sink.write(data)


def named_values(found: Mapping[str, Array]) -> dict[str, list[Value]]:
    """Arrays as the values of bindings; `x.0`, `x.1` are the fields of a tuple."""
    tuples: dict[str, dict[int, Value]] = {}
    made: dict[str, list[Value]] = {}
    for key, array in found.items():
        base, dot, field = key.rpartition(".")
        if dot and field.isdecimal():
            tuples.setdefault(base, {})[int(field)] = Tensor(array)
        made[key] = [Tensor(array)]
    for base, fields in tuples.items():
        if sorted(fields) == list(range(len(fields))):
            made[base] = [TupleValue(tuple(fields[at] for at in sorted(fields)))]
    return made
