"""Each premise of the machine fails where its bad program says, by steps and at once."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.semantics.run.literals import literal
from rlx.spec import rules
from rlx.spec.reader import Example
from rlx.vm import Executable, RunError, VirtualMachine
from tests.spec.examples import PACKED

CODES = [
    "V-fuel-left",
    "V-name-text",
    "V-call-function-arity",
    "V-invoke-closure-function",
    "V-make-closure-function",
    "V-heap-tensor",
    "V-heap-place",
    "V-store-shape-count",
    "E-extern-registered",
    "E-if-condition",
    "E-return-written",
    "E-alloc-shape",
    "E-alloc-tensor-fits",
]


def programs(code: str) -> list[Example]:
    """The bad programs that say a code."""
    return [
        example
        for rule in rules().values()
        if rule.file == "virtual_machine.md"
        for example in rule.examples
        if example.codes == (code,)
    ]


@pytest.mark.parametrize("code", CODES)
def test_both_ways_end_with_the_code(code: str) -> None:
    assert programs(code)
    for example in programs(code):
        head, _, text = example.text.partition("\n")
        said = head.removeprefix("#").split(";")[0].partition("=")
        args = [_value(said[2])] if said[0].strip() == "x" else []
        machine = VirtualMachine(Executable.from_text(text), PACKED, fuel=100)
        with pytest.raises(RunError) as at_once:
            machine["main"](*args)
        with pytest.raises(RunError) as by_steps:
            list(machine.steps("main", *args, fuel=100))
        assert (at_once.value.code, by_steps.value.code) == (code, code)
        assert code == "V-fuel-left" or at_once.value.place == by_steps.value.place


def _value(text: str) -> object:
    found = literal(text.strip())
    return np.array(found, np.float32) if isinstance(found, list) else found
