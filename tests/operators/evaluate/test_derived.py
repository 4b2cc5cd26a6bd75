"""The law between the two halves of a declaration: a value is one of the struct info that is derived."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.operators import lookup
from rlx.operators.evaluation import OperatorFault
from tests.operators.evaluate.concrete import Concrete, concrete, fits
from tests.operators.evaluate.test_values import EXPECTED_ALONE

ALL = concrete(lambda _: True)

BITS = frozenset(
    ["bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"]
)
ORDERED = frozenset(["negative", "sign"])


def without_value(call: Concrete) -> str:
    """The fault that a legal call ends with, since derivation does not ask for what evaluation needs."""
    kinds = {array.dtype.kind for array in call.values.values()}
    if (call.case[0] in BITS and "f" in kinds) or (call.case[0] in ORDERED and "b" in kinds):
        return "E-operator-dtype"
    if (
        call.case[0] == "squeeze"
        and call.case[2].get("axis")
        and 2 in next(iter(call.values.values())).shape
    ):
        return "E-squeeze-one"
    return ""


def _label(call: Concrete) -> str:
    return call.case[0]


@pytest.mark.parametrize("call", ALL, ids=_label)
def test_the_value_is_of_the_type_that_is_derived(call: Concrete) -> None:
    expected = without_value(call)
    if expected:
        with pytest.raises(OperatorFault) as found:
            call.evaluate()
        assert found.value.code == expected
        return
    value = call.evaluate()
    assert fits(value, call.derive(), dict(call.point)) == ""


def test_only_views_share_memory_with_an_argument_and_no_argument_changes() -> None:
    for call in ALL:
        if without_value(call):
            continue
        declared = lookup(f"relax.{call.case[0]}")
        view = declared is not None and declared.shares == "surely"
        before = {var: array.copy() for var, array in call.values.items()}
        value = call.evaluate()
        results = value if isinstance(value, tuple) else (value,)
        for var, array in call.values.items():
            assert np.array_equal(array, before[var], equal_nan=array.dtype.kind == "f"), call.case
            for result in results:
                if isinstance(result, np.ndarray) and result.size:
                    assert view or not np.shares_memory(result, array), call.case


def test_every_operator_that_computes_is_here() -> None:
    from rlx.operators.registry import families

    names = {name for family in families().values() for name in family}
    computing = {
        name for name in names if (found := lookup(f"relax.{name}")) and found.compute is not None
    }
    alone = {*EXPECTED_ALONE, "nn.attention_bias", "layout_transform"}  # the last: test_index_maps
    assert computing - {call.case[0] for call in ALL} <= alone
