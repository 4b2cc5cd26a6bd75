"""What PrimFuncs call outside, and the constants that types have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlx.grammar.dtype import DataType
from rlx.semantics.tir.memory import numpy_type
from rlx.semantics.tir.values import Number, limits, unsupported
from rlx.spec.registry import rule


@rule("E-tir-call", "676f3424")
def outside(known: Mapping[str, Callable[..., Any]], name: str, args: Sequence[Any]) -> Any:
    """Call a function from outside, if the caller registered it."""
    function = known.get(name)
    if function is None:
        unsupported("E-tir-call-unregistered", f"no function {name!r} was registered")
    return function(*args)


def extreme(word: str, dtype: DataType) -> Number:
    """`T.min_value`, `T.max_value`, `T.infinity` of a type."""
    if word == "infinity":
        return math.inf
    if not dtype.is_float:
        return limits(dtype)[word == "max_value"]
    import ml_dtypes

    largest = float(ml_dtypes.finfo(numpy_type(dtype)).max)  # type: ignore[no-untyped-call]
    return largest if word == "max_value" else -largest
