"""Numbers at the limits of their types, and one beyond: they end on the virtual machine as on the source."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from tests.vm.agreement import differences

PROGRAM = """\
@R.function
def main():
    y = {}
    return y
"""
LIMITS = [
    *[
        f"T.{kind}({n})"
        for kind, n in (("int8", 127), ("int8", 128), ("uint8", 255), ("uint8", 256))
    ],
    *[f"T.int32({n})" for n in (-(2**31), 2**31 - 1, 2**31)],
    *[str(n) for n in (-(2**63), 2**63 - 1, 2**63, 2**64 - 1)],
]


@pytest.mark.parametrize("number", LIMITS)
def test_a_number_at_a_limit(number: str) -> None:
    forms = [f"R.prim_value({number})", f"(R.prim_value({number}), R.shape([2]))"]
    if "T." not in number:
        forms += [f"R.shape([{number}])", f"R.shape([2, {number}])"]
    for form in forms:
        text = PROGRAM.format(form)
        if check_text(text).ok:
            assert [*differences(text, 0)] == [], form
