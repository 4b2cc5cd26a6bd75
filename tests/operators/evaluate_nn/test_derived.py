"""The law between the two halves of a declaration, for the options of the operators of networks."""

from __future__ import annotations

import pytest

from tests.operators.cases import Case
from tests.operators.evaluate.concrete import POINTS, Concrete, fits
from tests.operators.evaluate_nn.cases import NETWORKS


@pytest.mark.parametrize("case", NETWORKS, ids=lambda c: c[0])
def test_the_value_is_of_the_type_that_is_derived(case: Case) -> None:
    call = Concrete(case, POINTS[0])
    assert fits(call.evaluate(), call.derive(), dict(call.point)) == ""
