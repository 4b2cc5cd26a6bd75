"""Values of all kinds between us and the peer: each goes there and back, and each difference is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.generate.campaign.oracles import ORACLES
from rlx.generate.campaign.oracles.case import Case
from rlx.generate.campaign.oracles.run import backend_findings, from_peer, to_peer
from rlx.semantics.outcome import Fault, Outcome, Returned, Stuck
from rlx.semantics.values import Scalar, ShapeValue, StringValue, Tensor, TupleValue, Value
from tests.generate.campaign.test_oracles import ILLEGAL, LEGAL_SEED, PROGRAM, Array, Peer, put

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
    """What a value holds, with its kind."""
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


def said(native: Outcome, steps: Outcome) -> list[tuple[str, str, str]]:
    case = Case(PROGRAM, LEGAL_SEED, "", lambda _: None)
    return [(f.kind, f.cause, f.sentence) for f in backend_findings(case, native, steps)]


def test_our_two_ways_to_run_are_compared() -> None:
    stuck = Stuck("E-call", "E-call-kind", "no rule applies")
    fault = Fault("E-call", "E-tir-bounds", "an index")
    assert said(Returned(ONE), Returned(ONE)) == said(fault, fault) == []
    [(kind, cause, sentence)] = said(Returned(ONE), Returned(TWO))
    assert (kind, cause) == ("wrong-code", "backends disagree") and "1" in sentence
    [(kind, cause, sentence)] = said(fault, Returned(ONE))
    assert (kind, cause) == (
        "wrong-code",
        "backends disagree",
    ) and "reference: returned" in sentence
    for pair in ((stuck, Returned(ONE)), (Returned(ONE), stuck)):
        [(kind, _, sentence)] = said(*pair)
        assert kind == "wrong-code" and "no rule applies" in sentence


OTHERS = """\
@R.function
def main(x: R.Tensor(("n",), "float32"), s: R.Shape(["n", 2]), k: R.Prim("int64"), t: R.Tuple(R.Tensor(("n",), "int8"), R.Shape(["n"]))):
    n = T.int64()
    return (x, s, k, t, n)
"""


class Echo:
    """Returns its arguments and a size, as the program does, with a change of one field."""

    def __init__(self, field: int, change: Any) -> None:
        self.field, self.change = field, change

    def __getitem__(self, entry: str) -> Any:
        def run(x: Any, s: Any, k: Any, t: Any) -> Any:
            fields = [x, s, k, t, len(x.numpy())]
            if self.field >= 0:
                fields[self.field] = self.change(fields[self.field])
            return tuple(fields)

        return run


def test_each_field_is_compared() -> None:
    changes: list[Any] = [
        lambda x: Array(x.numpy() + 1),
        lambda s: type(s)((s[0], 3)),
        lambda k: k + 1,
        lambda t: (Array(t[0].numpy() ^ 1), t[1]),
        lambda n: n + 1,
    ]
    assert put("run", Peer(compiled=lambda module, without=(): Echo(-1, None)), OTHERS) == []
    for field, change in enumerate(changes):
        peer = Peer(compiled=lambda module, without=(), at=field, how=change: Echo(at, how))
        [(kind, stage, _, sentence)] = put("run", peer, OTHERS)
        assert (kind, stage) == ("wrong-code", "TVM's virtual machine"), field
        assert "the rules and TVM give different values" in sentence


def test_a_tensor_of_negative_length_is_a_difference() -> None:
    class Broken(Array):
        def numpy(self) -> Any:
            raise ValueError("negative dimensions are not allowed")

    peer = Peer(compiled=lambda module, without=(): Echo(0, lambda x: Broken(x.data)))
    [(kind, _, _, sentence)] = put("run", peer, OTHERS)
    assert kind == "wrong-code" and "expected a tensor from TVM: negative dimensions" in sentence


def test_what_is_illegal_is_not_run() -> None:
    assert put("run", Peer(), ILLEGAL) == []
    case = Case(ILLEGAL, LEGAL_SEED, "", lambda _: None)
    assert ORACLES["run"](case) == []
