"""No operator changes its operands, and its result does not depend on how they lie in memory."""

from __future__ import annotations

import copy
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest

from rlx.operators import lookup
from rlx.operators.evaluation import OperatorFault
from tests.operators.evaluate.awkward import NAMES, arrays, draw_call
from tests.operators.evaluate.concrete import Concrete

SEEDS = 5


def spread(x: Any) -> Any:
    """Elements with gaps between them."""
    wide = np.zeros([2 * size + 1 for size in x.shape], x.dtype)
    view = wide[tuple(slice(1, 2 * size, 2) for size in x.shape)]
    view[...] = x
    return view


def backwards(x: Any) -> Any:
    """Elements from the last to the first."""
    turned = (slice(None, None, -1),) * x.ndim
    return np.ascontiguousarray(x[turned])[turned]


LAYOUTS = (np.asfortranarray, spread, backwards)


def laid(value: Any, layout: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(laid(part, layout) for part in value)
    return layout(value) if isinstance(value, np.ndarray) and value.ndim else value


def result(call: Concrete) -> str | list[Any]:
    try:
        return [np.array(array) for array in arrays(call.evaluate())]
    except OperatorFault as fault:
        return fault.code


def made_by(call: Concrete) -> list[Any]:
    """The arrays that a call gives, themselves."""
    try:
        return [array for array in arrays(call.evaluate()) if array.ndim]
    except OperatorFault:
        return []


def alike(one: Any, other: Any) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.kind in "biu":
        return np.array_equal(one, other)
    by = 1e-2 if one.itemsize < 4 else 1e-4
    a, b = one.astype(np.float64), other.astype(np.float64)
    return np.allclose(a, b, rtol=by, atol=1e-5, equal_nan=True)


def is_extreme(value: Any) -> bool:
    """Whether a sum of elements depends on their order: with others, it would leave its type."""
    return any(
        x.dtype.kind not in "biu" and (np.abs(x.astype(np.float64)) > 1e30).any()
        for x in arrays(value)
    )


@pytest.mark.parametrize("name", NAMES)
def test_operands_are_only_read_wherever_they_lie(name: str) -> None:
    declared = lookup(f"relax.{name}")
    view = declared is not None and declared.shares == "surely"
    for seed in range(SEEDS):
        call = draw_call(seed, frozenset([name]))
        if call is None:
            continue
        given = {var: copy.deepcopy(value) for var, value in call.values.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = result(call)
            for made, read in product(made_by(call), arrays(tuple(call.values.values()))):
                assert view or not np.shares_memory(made, read)
            for one, other in zip(given.values(), call.values.values(), strict=True):
                for x, y in zip(arrays(one), arrays(other), strict=True):
                    assert x.tobytes() == y.tobytes()
            if "avg_pool" in name and any(map(is_extreme, given.values())):
                continue
            for layout in LAYOUTS:
                call.values = {var: laid(value, layout) for var, value in given.items()}
                found = result(call)
                if isinstance(wanted, str) or isinstance(found, str):
                    assert wanted == found
                else:
                    assert all(map(alike, wanted, found))
