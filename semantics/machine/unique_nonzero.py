"""The functions of TVM's run time on the values of a tensor: `relax.run.unique`,
`relax.run.nonzero`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlx.operators.evaluation import OperatorFault
from rlx.operators.indexing import nonzero_value, unique_value
from rlx.semantics.faults import FaultStop
from rlx.semantics.values import Scalar, Tensor, TupleValue, Value
from rlx.spec.registry import rule


@rule("E-builtin-unique", "part of a step")
def _unique(x: Tensor, *rest: Value) -> Value:
    """The distinct elements, ascending or in order of appearance, and on demand three more
    tensors.
    """
    ordered, index, inverse, counts, axis, *_ = [*map(_number, rest), None]
    try:
        values, *extra = unique_value(x.data, ordered or 0, True, True, True, axis)
    except OperatorFault as fault:
        raise FaultStop(fault.code, fault.message) from None
    found = [
        values,
        *(a for a, asked in zip(extra, (index, inverse, counts), strict=True) if asked),
    ]
    tensors = tuple(Tensor(np.ascontiguousarray(each), x.device) for each in found)
    return tensors[0] if len(tensors) == 1 else TupleValue(tensors)


def _number(value: Value) -> int | None:
    return int(value.value) if isinstance(value, Scalar) else None


def _nonzero(x: Tensor) -> Value:
    return Tensor(nonzero_value(x.data), x.device)


SETS: Mapping[str, Callable[..., Any]] = {
    "relax.run.unique": _unique,
    "relax.run.nonzero": _nonzero,
}
"""The functions by their full names; both read the elements of their arguments."""
