"""A kill returns the empty tuple, on the machine on the source and on the virtual machine."""

from __future__ import annotations

import pytest

from rlx.checker import check_text
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import dtype
from rlx.transform.lowering.passes import PassError
from rlx.vm.code_generation import constant_tensor
from tests.vm.agreement import differences

USES = [
    "return y",
    "z = (y, 1)\n    return z",
    "z = R.vm.kill_object(y)\n    return z",
    "z = y\n    return z",
    "return R.prim_value(3)",
    "_ = R.print(y, format='{}')\n    return y",
]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("killed", ["x", "v"])
def test_a_kill_gives_the_empty_tuple(use: str, killed: str) -> None:
    text = f"""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    v = R.add(x, x)
    y = R.vm.kill_object({killed})
    {use}
"""
    assert check_text(text).ok
    assert list(differences(text, 0)) == []


def test_a_constant_without_elements_of_numpy_is_refused() -> None:
    literal = ast.Literal(1, dtype(""), ())
    with pytest.raises(PassError, match="elements of type void are not supported"):
        constant_tensor(literal)
