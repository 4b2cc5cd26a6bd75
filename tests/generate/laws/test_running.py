"""The comparison of results in laws: every part counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.semantics.outcome import Returned
from rlx.semantics.values import Scalar, ShapeValue, StringValue, Tensor, TupleValue, Value

from .running import same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Scalar(1), Scalar(2)),
        (ShapeValue((2, 3)), ShapeValue((2, 4))),
        (StringValue("a"), StringValue("b")),
        (Tensor(np.zeros(2)), Tensor(np.ones(2))),
        (Tensor(np.zeros(2)), Tensor(np.zeros(2, np.float32))),
    ],
)
@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: TupleValue((v,))])
def test_different_values_differ(one: Value, other: Value, wrap: Any) -> None:
    for exact in (True, False):
        assert same(Returned(wrap(one)), Returned(wrap(one)), exact)
        assert not same(Returned(wrap(one)), Returned(wrap(other)), exact)
