"""Element types of Relax as NumPy has them; only running a program loads NumPy."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from rlx.grammar.dtype import DataType

if TYPE_CHECKING:
    import numpy as np


@cache
def numpy_type(kind: DataType) -> np.dtype[Any] | None:
    """The type of arrays that hold elements of a type; narrow floats and integers are those of
    ml_dtypes.

    None where no array has such elements: vectors, handles, Void.
    """
    import ml_dtypes
    import numpy as np

    name = str(kind)
    if kind.lanes != 1 or kind.code == "handle":
        return None
    found = np.bool_ if name == "bool" else getattr(ml_dtypes, name, getattr(np, name, None))
    return None if found is None else np.dtype(found)
