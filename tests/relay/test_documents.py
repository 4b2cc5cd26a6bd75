"""The programs of Relay's introduction read, convert and run as it says."""

from __future__ import annotations

import numpy as np
import pytest

from rlx import relay
from tests.relay import documents

X = np.array([1.0, 2.0, 4.0], np.float32)


@pytest.mark.parametrize("text", documents.ALL)
def test_they_read_back_and_check(text: str) -> None:
    module = relay.parse(text)
    assert relay.structural_equal(relay.parse(str(module)), module)
    assert relay.check(text).ok


def test_a_shared_node_is_computed_once() -> None:
    from rlx.relay.evaluation import Evaluator
    from rlx.semantics.values import Tensor

    seen: list[str] = []
    module = relay.parse(documents.SHARED)
    found = Evaluator(module, trace=seen.append).run("main", [Tensor(X)])
    assert seen == ["log", "add"]
    np.testing.assert_array_equal(found.numpy(), 2 * np.log(X))


def test_functions_call_each_other() -> None:
    found = relay.run(relay.parse(documents.CALLS), np.int32(5), entry="myfunc")
    assert found.numpy() == (5 * 1 + 2) * 2 + 3


def test_a_function_calls_itself() -> None:
    module = relay.parse(documents.RECURSION)
    assert relay.run(module, np.int32(5), entry="myfunc").numpy() == 16
    # 2 ** 2999 leaves nothing in 32 bits.
    assert relay.run(module, np.int32(3_000), entry="myfunc").numpy() == 0


def test_graph_and_lets_are_two_forms_of_one_program() -> None:
    graph, lets = relay.parse(documents.SHARED), relay.parse(documents.LETS)
    assert not relay.structural_equal(graph, lets)
    assert relay.structural_equal(relay.to_anf(graph), lets)
    assert relay.structural_equal(relay.to_graph(lets), graph)


def test_a_node_of_both_branches_is_computed_in_front_of_the_if() -> None:
    assert str(relay.to_anf(relay.parse(documents.SCOPE))) == (
        '#[version = "0.0.5"]\n'
        "def @main(%x, %c) {\n"
        "  let %v1 = log(%x);\n"
        "  let %v4 = if (%c) {\n"
        "    let %v2 = add(%v1, %v1);\n"
        "    %v2\n"
        "  } else {\n"
        "    let %v3 = multiply(%v1, %v1);\n"
        "    %v3\n"
        "  };\n"
        "  %v4\n"
        "}\n"
    )


def test_a_node_of_one_branch_is_computed_in_it() -> None:
    text = documents.SCOPE.replace("multiply(%1, %1)", "%x")
    assert "else {\n    %x" in str(relay.to_anf(relay.parse(text)))
    assert "{\n    let %v1 = log(%x);\n    let %v2" in str(relay.to_anf(relay.parse(text)))


def test_a_node_of_a_closure_is_computed_in_it_and_a_let_outside() -> None:
    inside = relay.to_anf(relay.parse(documents.CLOSURE))
    assert "fn (%y) {\n    let %v1 = log(%x);" in str(inside)
    text = documents.CLOSURE.replace("%1 = log(%x)", "let %v1 = log(%x)").replace("%1)", "%v1)")
    outside = relay.to_anf(relay.parse(text))
    assert "let %v1 = log(%x);\n  let %v3 = fn (%y)" in str(outside)
    assert relay.structural_equal(relay.to_anf(relay.to_graph(outside)), outside)
