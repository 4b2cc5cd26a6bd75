"""A pattern of an operator takes as many operands as the operator."""

from __future__ import annotations

import pytest

from rlx.operators import lookup
from rlx.operators.parameters import REQUIRED
from rlx.operators.registry import every_name
from rlx.transform.patterns import is_op, wildcard

NAMES = every_name()


@pytest.mark.parametrize("name", NAMES)
def test_too_many_and_too_few_operands_are_refused(name: str) -> None:
    operator = lookup(f"relax.{name}")
    assert operator is not None
    written = [p.name for p in operator.parameters if p.kind != "types"]
    needed = [p.name for p in operator.parameters if p.default is REQUIRED and p.kind != "types"]
    pattern = is_op(f"relax.{name}")
    for count in range(len(written) + 1):
        operands = [wildcard() for _ in range(count)]
        if count >= len(needed):
            pattern(*operands)
    if not any(p.variadic for p in operator.parameters):
        most = len(written)
        plural = "s" * (most != 1)
        message = f"{name} takes .*{most} argument{plural}, the pattern has {most + 1}$"
        with pytest.raises(ValueError, match=message):
            pattern(*[wildcard() for _ in range(most + 1)])
