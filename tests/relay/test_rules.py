"""Arguments and results of Relay against the types that are declared."""

from __future__ import annotations

import numpy as np
import pytest

from rlx import relay
from rlx.relay.evaluation import RelayClosure
from rlx.semantics.outcome import Ended
from rlx.spec.reader import Example
from tests.relay.examples import executed


def test_a_wrong_result_is_told() -> None:
    text = "// k=2 => int32() [3]\ndef @main(%k: int32) { %k }"
    assert executed(Example("relayrun", True, (), text)) == ["returned int32() [2]"]


@pytest.mark.parametrize(
    ("type_", "argument", "words"),
    [
        ("float32", np.ones(2, np.float32), "the parameter %x: expected float32 of rank 0, found float32 of rank 1"),
        ("int64", np.int32(1), "the parameter %x: expected int64 of rank 0, found int32 of rank 0"),
        ("(float32, float32)", (np.float32(1),), "the parameter %x: expected a tuple of 2 fields"),
        ("(float32,)", np.float32(1), "the parameter %x: expected a tuple of 1 fields"),
        ("(int32, int64)", (np.int32(1), np.int32(1)), "the parameter %x, field 1: expected int64 of"),
        ("fn (int32) -> int32", np.int32(1), "the parameter %x: expected a function"),
        ("float32", (), "the parameter %x: expected a tensor"),
        ("Tensor[(2, ?), int32]", np.ones((3, 1), np.int32), "the parameter %x: dimension 0: expected 2, found 3"),
        ("Tensor[(n, n), int32]", np.ones((3, 1), np.int32), "the parameter %x: dimension 1: expected 3, found 1"),
    ],
)  # fmt: skip
def test_arguments_are_compared(type_: str, argument: object, words: str) -> None:
    found = relay.run(relay.parse(f"fn (%x: {type_}) {{ %x }}"), argument)
    assert isinstance(found, Ended) and type(found).__name__ == "CheckFailed"
    assert found.message.startswith(words)


def test_results_are_compared_and_functions_pass() -> None:
    text = "fn (%x: Tensor[(n, ?), int32]) -> Tensor[(n, 2), int32] { %x }"
    assert relay.run(relay.parse(text), np.ones((5, 2), np.int32)).ok
    found = relay.run(relay.parse(text), np.ones((5, 3), np.int32))
    assert isinstance(found, Ended) and found.code == "RL-check-dimension"
    assert found.message == "the result: dimension 1: expected 2, found 3"
    passed = "def @main(%x: int32) { @twice(@more, %x) }\n" + (
        "def @twice(%f: fn (int32) -> int32, %x: int32) { %f(%f(%x)) }\n"
        "def @more(%x: int32) { add(%x, 1) }\n"
    )
    assert relay.run(relay.parse(passed), np.int32(1)).numpy() == 3
    closure = relay.run(relay.parse("fn (%x: int32) { fn (%y: int32) { %x + %y } }"), np.int32(1))
    assert isinstance(closure.numpy(), RelayClosure)


def test_a_named_dimension_of_a_closure_is_that_of_the_function_around_it() -> None:
    text = """fn (%x: Tensor[(n,), int32], %y: Tensor[(m,), int32]) {
      let %f = fn (%z: Tensor[(n,), int32]) { %z };
      %f(%y)
    }"""
    module = relay.parse(text)
    two, three = np.ones(2, np.int32), np.ones(3, np.int32)
    assert relay.run(module, two, two).ok
    found = relay.run(module, two, three)
    assert isinstance(found, Ended) and found.code == "RL-check-dimension"
