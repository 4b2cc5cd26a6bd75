"""Tuples that double: 2**64 paths lead to one tensor, and everything that takes or gives such a value ends."""

from __future__ import annotations

import numpy as np
import pytest

import rlx
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Tensor, TupleValue, Value

LAST = 63
DOUBLED = ["v0 = (x, x)", *(f"v{i} = (v{i - 1}, v{i - 1})" for i in range(1, LAST + 1))]

USES = {
    "returned": "y = v63",
    "cast": "y = R.match_cast(v63, R.Tuple(R.Tuple(R.Object, R.Object), R.Object))",
    "printed": 'y = R.print(v63, format="{}")',
    "moved to a device": 'y = R.to_vdevice(v63, "llvm:0")',
    "of an operator": "y = R.grad.no_grad(v63)",
    "given to a function": "y = M.f(v63)",
    "given to a packed function": 'y = R.call_packed("same", v63, sinfo_args=[R.Object()])',
    "made by a packed function": 'y = R.call_packed("doubled", x, sinfo_args=[R.Object()])',
}

MODULE = """
@I.ir_module
class M:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0)]})

    @R.function
    def f(z: R.Object) -> R.Object:
        return z

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
"""


def doubled(array: object) -> object:
    """A nested tuple of Python that doubles, too."""
    made = array
    for _ in range(LAST + 1):
        made = (made, made)
    return made


@pytest.mark.parametrize("backend", ["steps", "native"])
@pytest.mark.parametrize("use", USES)
def test_a_use_ends(use: str, backend: str) -> None:
    text = MODULE + "".join(f"        {line}\n" for line in [*DOUBLED, USES[use], "return y"])
    array = np.array([1, 2], "float32")
    functions = {"same": lambda value: value, "doubled": doubled}
    outcome = rlx.run(
        text, inputs=[array], backend=backend, packed=functions, output=lambda _: None
    )
    assert isinstance(outcome, Returned), outcome
    value: Value = outcome.value
    depth = 0
    while isinstance(value, TupleValue) and value.fields:
        value, depth = value.fields[-1], depth + 1
    if use != "printed":
        assert depth == LAST + 1 and isinstance(value, Tensor)
        assert value.data.tolist() == [1, 2]
