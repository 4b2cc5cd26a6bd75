"""A pattern of an operator takes as many operands as the operator."""

from __future__ import annotations

import pytest

from rlx.operators import lookup
from rlx.operators.parameters import REQUIRED
from rlx.operators.registry import every_name
from rlx.transform.builder.given import ARGUMENTS
from rlx.transform.patterns import is_op, wildcard

NAMES = every_name()


@pytest.mark.parametrize("name", NAMES)
def test_too_many_and_too_few_operands_are_refused(name: str) -> None:
    operator = lookup(f"relax.{name}")
    assert operator is not None
    operands = [p for p in operator.parameters if p.kind in ARGUMENTS]
    needed = [p for p in operands if p.default is REQUIRED and not p.variadic]
    pattern = is_op(f"relax.{name}")
    for count in range(len(needed), len(operands) + 1):
        pattern(*[wildcard() for _ in range(count)])
    if needed:
        with pytest.raises(ValueError, match=f"the pattern has {len(needed) - 1}"):
            pattern(*[wildcard() for _ in needed[1:]])
        pattern(*[wildcard() for _ in needed[1:]], varg_default_wildcard=True)
    if not any(p.variadic for p in operands):
        with pytest.raises(ValueError, match=f"the pattern has {len(operands) + 1}"):
            pattern(*[wildcard() for _ in range(len(operands) + 1)])
