"""The law of awkward operands: a call that nothing is said against has a value of its type, or ends with a fault."""

from __future__ import annotations

import pytest

from tests.operators.evaluate.awkward import broken, draw_call, shown

BATCHES, EACH = 8, 250


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.filterwarnings("error")
def test_a_legal_call_has_a_value_of_its_type_or_a_fault(batch: int) -> None:
    wrong = {}
    for seed in range(batch * EACH, (batch + 1) * EACH):
        call = draw_call(seed)
        if call is not None and (found := broken(call)):
            wrong[f"{seed}: {shown(call)}"] = found
    assert wrong == {}
