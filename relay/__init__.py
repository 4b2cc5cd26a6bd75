"""Relay, the language of TVM before Relax: its text format, its meaning, and its translation to
Relax.

>>> from rlx import relay
>>> module = relay.parse("fn (%x: Tensor[(3,), float32]) { %1 = log(%x); add(%1, %1) }")
>>> print(relay.to_anf(module))
#[version = "0.0.5"]
def @main(%x: Tensor[(3,), float32]) {
  let %v1 = log(%x);
  let %v2 = add(%v1, %v1);
  %v2
}
<BLANKLINE>
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.relay.anf import to_anf
    from rlx.relay.checking import check
    from rlx.relay.equal import structural_equal
    from rlx.relay.evaluation import run
    from rlx.relay.graph_form import to_graph
    from rlx.relay.nodes import RelayModule
    from rlx.relay.parser import parse
    from rlx.relay.printer import print_module
    from rlx.relay.translation import to_relax

__all__ = [
    "RelayModule",
    "check",
    "parse",
    "print_module",
    "run",
    "structural_equal",
    "to_anf",
    "to_graph",
    "to_relax",
]


def __getattr__(name: str) -> object:
    return lazy.public_name(__name__, name)
