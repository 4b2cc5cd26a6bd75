"""Element types of Relax as NumPy has them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from rlx.grammar.dtype import DataType
from rlx.semantics.faults import Unsupported
from rlx.spec.registry import rule


@cache
@rule("E-element", "98e7fd3b")
def numpy_type(kind: DataType) -> Any:
    """The NumPy type of elements; narrow ones are those of ml_dtypes.

    Raises
    ------
    Unsupported
        ``E-element-type``: NumPy has no such type (vectors, handles, Void).
    """
    name = str(kind)
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    except (AttributeError, TypeError):
        raise Unsupported("E-element-type", f"tensors of {name} cannot be computed with") from None
