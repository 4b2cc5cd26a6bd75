"""Values of all kinds go to the peer and back; `test_values_of_peers.py` compares them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.generate.campaign.oracles import ORACLES
from rlx.generate.campaign.oracles.case import Case
from rlx.generate.campaign.oracles.run import from_peer, to_peer
from rlx.semantics.values import Scalar, ShapeValue, StringValue, Tensor, TupleValue, Value
from tests.generate.campaign.test_oracles import ILLEGAL, LEGAL_SEED, Array, Peer, put

ONE, TWO = Tensor(np.ones(2, np.float32)), Tensor(np.full(2, 2, np.float32))
VALUES: list[Value] = [
    ONE,
    TWO,
    Scalar(3),
    Scalar(True),
    Scalar(0.5),
    ShapeValue((2, 3)),
    TupleValue(()),
    TupleValue((ONE, ShapeValue((4,)))),
    TupleValue((TupleValue((TWO,)), Scalar(7))),
]
PEER = Peer()


def plain(value: Any) -> Any:
    """The content of a value, with its kind."""
    match value:
        case Tensor(data=array):
            return "tensor", array.tolist(), str(array.dtype)
        case TupleValue(fields=fields):
            return "tuple", *map(plain, fields)
        case Scalar(value=number):
            return "number", type(number), number
        case ShapeValue(values=sizes):
            return "shape", *sizes
    return "other", value


@pytest.mark.parametrize("value", VALUES)
def test_values_go_to_the_peer_and_back(value: Value) -> None:
    found = from_peer(PEER, to_peer(PEER, value))
    assert plain(found) == plain(value)


def test_what_is_no_data_stays_here() -> None:
    with pytest.raises(TypeError, match="expected data, found StringValue"):
        to_peer(PEER, StringValue("a"))
    assert from_peer(PEER, object()) is None
    assert from_peer(PEER, (Array(np.ones(1)), object())) is None


def test_what_is_illegal_is_not_run() -> None:
    assert put("run", Peer(), ILLEGAL) == []
    case = Case(ILLEGAL, LEGAL_SEED, "", lambda _: None)
    assert ORACLES["run"](case) == []
