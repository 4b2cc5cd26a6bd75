"""Exchange of values between two processes: a line of JSON, and a `.npy` file for each tensor."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from rlx.grammar.nodes.dtype import dtype
from rlx.operators.evaluation import numpy_dtype
from rlx.semantics.run.files import save
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value
from rlx.writing import erase, output

_LARGE = 1 << 20
"""Bytes of a file that is mapped into memory, rather than loaded."""

_numbers = count()


def written(value: Value, folder: Path, files: list[Path]) -> Any:
    """The JSON of a value, whose tensors are written into a folder; `files` gets their paths.

    Raises
    ------
    TypeError
        If it is not data: tensors, shapes, numbers and tuples of them are.
    """
    match value:
        case Tensor(data=array):
            path = folder / f"{os.getpid()}.{next(_numbers)}.npy"
            with output(path, within=[folder], durable=False) as file:
                save(file, array)
            files.append(path)
            return {"tensor": str(path), "dtype": value.dtype}
        case ShapeValue(values=sizes):
            return {"shape": list(sizes)}
        case Scalar(value=number, dtype=kind):
            return {"number": number, "dtype": str(kind)}
        case TupleValue(fields=fields):
            return {"tuple": [written(field, folder, files) for field in fields]}
    raise TypeError(f"expected data, found {type(value).__name__}")


def read(made: Any, *, remove: bool = False) -> Value:
    """The value of such a JSON.

    Parameters
    ----------
    remove
        Whether its files are removed; large ones stay on the disk as long as the value lives.
    """
    if "tensor" in made:
        path = Path(made["tensor"])
        mapped = path.stat().st_size >= _LARGE
        array = np.load(path, mmap_mode="c" if mapped else None, allow_pickle=False)
        array = array.view(np.ndarray)
        if array.dtype.kind == "V":
            array = array.view(numpy_dtype(dtype(made["dtype"])))
        if remove:
            erase(path)
        return Tensor(array)
    if "shape" in made:
        return ShapeValue(tuple(made["shape"]))
    if "number" in made:
        return Scalar(made["number"], dtype(made["dtype"]))
    return TupleValue(tuple(read(field, remove=remove) for field in made["tuple"]))
