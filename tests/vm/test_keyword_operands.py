"""Operands that a call gives by keyword, each in turn and all: the call ends on the virtual machine as on the source.

The gate tries the calls that code generation knows; ``python -m tests.vm.test_keyword_operands`` tries all operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from rlx.checker.check import check_text
from rlx.vm.code_generation import EMITTERS
from tests.hostile.swaps import moved
from tests.tvm.perturb.bases import bases
from tests.tvm.perturb.calls import OneCall, write
from tests.vm.agreement import differences

CONDITIONS = ("c", "condition=c")
OPERANDS = ("", "y", "[y]", "(y,)", "y, x", "[y, x]", "None", "x")
WORDS = ("", 'format="{} and {}"')

ASSERTION = """\
@R.function(pure=False)
def main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32"), y: R.Tensor((), "int32")):
    z = R.assert_op({})
    return z
"""


def assertions() -> Iterator[str]:
    """An assertion in each way that TVM's builder takes its operands."""
    for condition, operands, words in product(CONDITIONS, OPERANDS, WORDS):
        ways = [operands] if condition == "c" and operands else []
        if "," not in operands or operands[0] in "[(":
            ways += [f"format_args={operands}"] if operands else [""]
        for way in ways:
            yield ASSERTION.format(", ".join(part for part in (condition, way, words) if part))


def by_keyword(calls: Iterator[OneCall]) -> Iterator[str]:
    """Each call with one operand by keyword, and with all."""
    for call in calls:
        ways = [way for way in moved(call) if way.label.startswith("by keyword")]
        if len(ways) > 1:
            names = tuple(way.attrs[0] for way in ways)
            ways.append(replace(call, args=(), attrs=(*names, *call.attrs)))
        yield from (write(way).module for way in ways)


@pytest.mark.parametrize("part", range(4))
def test_assertions(part: int) -> None:
    for text in [*assertions()][part::4]:
        report = check_text(text)
        assert report.ok, f"{text}\n{report}"
        assert [*differences(text, 0, stages=False)] == [], text


def test_operators_that_code_generation_knows() -> None:
    tried = 0
    for text in by_keyword(call for call in bases(1) if f"relax.{call.operator}" in EMITTERS):
        if check_text(text).ok:
            tried += 1
            assert [*differences(text, 0, stages=False)] == [], text
    assert tried


def main() -> int:
    """The number of calls, of all operators, that differ."""
    wrong = 0
    for text in by_keyword(bases(1)):
        if check_text(text).ok:
            for difference in differences(text, 0, stages=False):
                wrong += 1
                print(f"{difference}\n{text}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
