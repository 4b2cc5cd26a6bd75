"""Constants that stand in the metadata section."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rlx
from rlx import relay
from rlx.grammar.nodes.ast import Literal
from rlx.grammar.nodes.dtype import dtype
from rlx.relay.nodes import (
    RelayCall,
    RelayConstant,
    RelayFunction,
    RelayGlobalVar,
    RelayModule,
    RelayOp,
)
from rlx.semantics.machine import load
from tests.relay.test_parser import errors


def module_with(*constants: Literal) -> RelayModule:
    """A module that joins constants."""
    first, *rest = map(RelayConstant, constants)
    body: RelayCall | RelayConstant = first
    for each in rest:
        body = RelayCall(RelayOp("add"), (body, each))
    return RelayModule({RelayGlobalVar("main"): RelayFunction((), body)})


FLOATS = Literal(((1.0, 2.0), (3.0, 4.5)), dtype("float32"), (2, 2))
ROW = Literal(None, dtype("float32"), (2,), None, np.array([10, 20], np.float32).tobytes())


def test_constants_are_written_and_read() -> None:
    text = str(module_with(FLOATS, ROW))
    assert "add(meta[relay.Constant][0], meta[relay.Constant][1])" in text
    assert json.loads(text.partition("#[metadata]")[2])["b64ndarrays"][0]
    module = relay.parse(text)
    assert str(module) == text
    np.testing.assert_array_equal(relay.run(module).numpy(), [[11, 22], [13, 24.5]])
    made = relay.to_relax(module)
    np.testing.assert_array_equal(load(made).run("main", []).numpy(), [[11, 22], [13, 24.5]])
    assert relay.check(text).ok and rlx.check(made).ok


@pytest.mark.parametrize("kind", ["bool", "int8", "int64", "uint8", "float16", "float64"])
def test_element_types(kind: str) -> None:
    values = np.array([0, 1, 1]).astype(kind)
    data = Literal(None, dtype(kind), (3,), None, values.tobytes())
    found = relay.run(relay.parse(str(module_with(data)))).numpy()
    assert found.dtype == values.dtype and (found == values).all()


def test_a_constant_that_two_calls_use_is_written_once() -> None:
    text = str(module_with(FLOATS, FLOATS, ROW))
    assert len(json.loads(text.partition("#[metadata]")[2])["b64ndarrays"]) == 2


def test_a_text_without_its_metadata() -> None:
    text = "def @main() { meta[relay.Constant][3] }"
    module = relay.parse(text)
    assert "meta[relay.Constant][3]" in str(module)
    outcome = relay.run(module)
    assert str(outcome).startswith(
        "unsupported[E-constant-data]: the program text omits the constant's"
    )


@pytest.mark.parametrize(
    ("use", "section", "said"),
    [
        ("[relay.Constant][2]", None, "1:PARSE: constant 2 is out of range: the metadata have 1"),
        ("[relay.Constant][0]", "{", "1:PARSE: the metadata section is not JSON"),
        ("[Other][0]", None, "1:PARSE: meta[Other][0] is not an expression: expected meta[relay.Constant][…]"),
        ("[relay.Constant][1f]", None, "1:PARSE: expected the number of an entry"),
        ("relay", None, "1:PARSE: 'meta' stands alone: expected a call or a variable"),
    ],
)  # fmt: skip
def test_references_that_mean_nothing(use: str, section: str | None, said: str) -> None:
    full = str(module_with(ROW)).partition("#[metadata]")[2]
    text = f"def @main() {{ meta{use if use[0] == '[' else ''} }}\n#[metadata]\n{section or full}"
    assert errors(text)[0].startswith(said)


def test_data_that_cannot_be_read() -> None:
    text = str(module_with(ROW))
    graph = json.loads(text.partition("#[metadata]")[2])
    graph["b64ndarrays"] = ["AAAA"]
    broken = f"def @main() {{ meta[relay.Constant][0] }}\n#[metadata]\n{json.dumps(graph)}"
    assert errors(broken) == ["1:PARSE: the data of meta[relay.Constant][0] cannot be read"]
