"""The examples on our machine and on TVM's virtual machine: the same inputs, the same values."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tvm
from tvm import relax

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.semantics.machine import load
from rlx.semantics.outcome import Returned
from rlx.semantics.run.inputs import InputError, inputs
from tests.tvm.target import QUICK

from .test_run_models import difference, entries_of, to_tvm

EXAMPLES = Path(__file__).parents[2] / "examples"
SIZES = (0, 1, 4)

NOT_RUN = {
    "closures": "shape variables in functions that are made while it runs are not lowered",
    "in_place": "it calls a packed function that TVM does not have",
    "match_cast": "the compiler of the virtual machine has no code for nonzero",
}
"""Examples that TVM does not run, and why."""


@cache
def module_of(name: str) -> ast.IRModule:
    return parse((EXAMPLES / f"{name}.rlx").read_text("utf-8")).modules[0]


@cache
def compiled(name: str) -> Any:
    printed = print_module(replace(module_of(name), bare=False))
    module = tvm.script.from_source(printed, check_well_formed=False)
    return relax.VirtualMachine(relax.build(module, target=QUICK), tvm.cpu())


NAMES = sorted(path.stem for path in EXAMPLES.glob("*.rlx"))
CASES = [(name, entry) for name in NAMES for entry, _ in entries_of(module_of(name))]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name,entry", CASES)
def test_examples_give_the_values_of_tvm(name: str, entry: str, size: int) -> None:
    function = dict(entries_of(module_of(name)))[entry]
    given = {v.name: str(size) for v in function.shape_vars}
    try:
        ours, theirs = (inputs(function, given, 0).values for _ in range(2))
    except InputError as error:
        assert "cannot generate a value for Object" in str(error)
        return
    found = load(module_of(name)).run(entry, ours)
    try:
        result = compiled(name)[entry](*map(to_tvm, theirs))
    except tvm.error.InternalError as error:
        assert name in NOT_RUN or not isinstance(found, Returned), error
        return
    assert name not in NOT_RUN
    assert isinstance(found, Returned), found
    assert difference(found.value, result) == ""
