"""Long programs are ordinary input, in whatever form."""

from __future__ import annotations

from rlx import relay
from rlx.relay.names_in_scope import MOST_CYCLES
from rlx.relay.nodes import RelayCall
from rlx.relay.parser import read


def chain(count: int, let: bool = False) -> str:
    """A program of so many nodes, each of which uses the one before twice."""
    sign = "let %v" if let else "%"
    name = "%v" if let else "%"
    lines = [f"  {sign}{k} = add({name}{k - 1}, {name}{k - 1});\n" for k in range(1, count)]
    first = f"  {sign}0 = log(%x);\n"
    return f"fn (%x: Tensor[(2,), float32]) {{\n{first}{''.join(lines)}  {name}{count - 1}\n}}"


def test_nested_lets_convert() -> None:
    lets = relay.parse(chain(4_000, let=True))
    assert relay.structural_equal(relay.parse(str(lets)), lets)
    graph = relay.to_graph(lets)
    assert "let" not in str(graph)
    assert relay.structural_equal(relay.to_anf(graph), lets)


def test_thirty_thousand_nodes() -> None:
    text = chain(30_000)
    module = relay.parse(text)
    node, depth = module["main"].body, 1
    while isinstance(node, RelayCall) and node.args[0] is node.args[-1]:
        node, depth = node.args[0], depth + 1
    assert depth == 30_001  # the last one is the parameter


def test_a_run_and_a_translation_are_no_deeper_for_long_programs() -> None:
    import numpy as np

    module = relay.parse(chain(3_000))
    assert relay.run(module, np.ones(2, np.float32)).ok
    (function,) = relay.to_relax(module).functions.values()
    assert len(function.body.blocks[0].bindings) == 3_000  # type: ignore[union-attr]


def test_a_long_cycle_is_reported() -> None:
    lines = [f"  %{k} = add(%{k + 1}, %{k + 1});\n" for k in range(2_000)]
    found = read(f"fn (%x) {{\n{''.join(lines)}  %2000 = log(%0);\n  %0\n}}").diagnostics
    assert found[0].message == "the nodes form a cycle: %1 depends on %0, and %0 depends on %1"
    assert len(found) == 100
    assert sum("form a cycle" in d.message for d in found) == MOST_CYCLES
