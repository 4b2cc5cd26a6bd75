"""NumPy types of Relax's element types; NumPy is only loaded to run programs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from rlx.grammar.nodes.dtype import DataType

if TYPE_CHECKING:
    import numpy as np


@cache
def numpy_type(kind: DataType) -> np.dtype[Any] | None:
    """The type of arrays with elements of a type; narrow floats and integers use ml_dtypes.

    None if arrays cannot have such elements: vectors, handles, Void.
    """
    import ml_dtypes
    import numpy as np

    name = str(kind)
    if kind.lanes != 1 or kind.code == "handle":
        return None
    found = np.bool_ if name == "bool" else getattr(ml_dtypes, name, getattr(np, name, None))
    return None if found is None else np.dtype(found)
