"""Programs to which TVM's compiled code gives another value than the rules: each says at its head which, and who is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.semantics.machine import load
from rlx.semantics.outcome import Returned
from rlx.semantics.run.inputs import inputs
from tests.tvm.target import QUICK

from .test_run_models import difference, to_tvm

PROGRAMS = sorted((Path(__file__).parent / "known_divergences").glob("*.rlx"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_tvm_returns_something_else(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("# ") and "(rule " in text.partition("\n\n")[0]
    module = parse(text).modules[0]
    (function,) = module.functions.values()
    assert isinstance(function, ast.Function)
    given = inputs(function, {v.name: "0" for v in function.shape_vars}, 0).values
    ours = load(module).run("main", given)
    assert isinstance(ours, Returned), ours
    printed = print_module(replace(module, bare=False))
    tvm_module = tvm.script.from_source(printed, check_well_formed=False)
    machine = relax.VirtualMachine(relax.build(tvm_module, target=QUICK), tvm.cpu())
    theirs: Any = machine["main"](*map(to_tvm, given))
    assert difference(ours.value, theirs) != ""


def test_what_the_rules_say_of_them() -> None:
    """The values that the heads of the programs speak of."""
    by_name = {p.stem: parse(p.read_text("utf-8")).modules[0] for p in PROGRAMS}
    x = inputs(next(iter(by_name["nan_not_equal"].functions.values())), {}, 0).values  # type: ignore[arg-type]
    found = load(by_name["nan_not_equal"]).run("main", x)
    assert isinstance(found, Returned) and np.all(found.value.data)  # type: ignore[attr-defined]
