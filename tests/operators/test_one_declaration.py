"""An operator is one declaration: every part of the toolkit finds there what it needs, in a file that none of them names."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rlx
from rlx.generate.calls.template import Family
from rlx.generate.programs.operators import family
from rlx.operators import external, lookup, reference, registry
from rlx.operators.registry import declared

DECLARATION = '''
"""One operator of one's own."""

import numpy as np

import rlx
from rlx.grammar.nodes.ast import StructInfo
from rlx.operators.parameters import Tensor
from rlx.operators.rule_helpers import axis
from rlx.operators.operator_call import OperatorCall


def _rolled(x: np.ndarray, shift: int, axis: int) -> np.ndarray:
    return np.roll(x, shift, axis)


@rlx.operator("own.roll", calls="x(a, b), shift=1 | 2, axis=0 | -1", compute=_rolled)
def roll(site: OperatorCall, x: Tensor, shift: int, axis_: int = -1) -> StructInfo:
    """The elements moved along an axis, those at the end to its beginning."""
    ndim = site.rank(x)
    if ndim is not None:
        axis(site, axis_, ndim)
    return x
'''
PROGRAM = """
@R.function
def main(x: R.Tensor((4,), "int64")) -> R.Tensor((4,), "int64"):
    gv = R.own.roll(x, shift=1{more})
    return gv
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[None]:
    """The operator is declared, for this test."""
    source = tmp_path / "own_operators.py"
    source.write_text(DECLARATION)
    external.load([str(source)], [])
    yield
    del declared["relax.own.roll"]
    registry.forget("relax.own.roll")


@pytest.mark.usefixtures("own")
def test_one_file_declares_an_operator() -> None:
    report = rlx.check(PROGRAM.format(more=""))
    assert not report.diagnostics, str(report)
    (found,) = rlx.check(PROGRAM.format(more=", axis=3")).diagnostics
    assert found.code == "OBL-axis-range"
    (misspelt,) = rlx.check(PROGRAM.format(more=", axes=0")).diagnostics
    assert misspelt.code == "D14-argument" and misspelt.help == "did you mean 'axis'?"
    outcome = rlx.run(PROGRAM.format(more=""), inputs=[np.arange(4)])
    assert outcome.numpy().tolist() == [3, 0, 1, 2]
    described = reference.described("own.roll")
    assert described is not None
    assert described[0] == "R.own.roll(x, shift, axis=-1)"
    assert described[-1] == "A call of it has no effects. NumPy computes it."


@pytest.mark.usefixtures("own")
def test_calls_of_it_are_generated() -> None:
    operator = lookup("relax.own.roll")
    assert operator is not None
    made = Family(operator)
    template = made.choose(0, (0, 1, 1))
    assert template.operator.op_name == "relax.own.roll"
    assert dict(template.attrs).keys() == {"shift", "axis"}


def test_a_lookup_imports_the_file_that_has_the_operators_name() -> None:
    """Every operator is found when it is asked for first, in a Python of its own, and few other files are imported."""
    code = """
import sys
from rlx.operators import lookup
for name in sys.argv[1:]:
    assert lookup(f"relax.{name}") is not None, name
print(*(m for m in sys.modules if m.startswith("rlx.operators.")))
"""
    for names in registry.families().values():
        done = subprocess.run(
            [sys.executable, "-c", code, *names], check=True, capture_output=True, text=True
        )
        home = {registry.declared[f"relax.{name}"].rule.__module__ for name in names}
        assert home <= {*done.stdout.split()}
    others = {f"rlx.operators.{family}" for family in registry.families()} - {*done.stdout.split()}
    assert len(others) > 10


def test_an_unknown_operator_is_not_found() -> None:
    assert lookup("relax.nn.rellu") is None
    assert lookup("relax.nn") is None


def test_built_in_declarations_are_found_the_same_way() -> None:
    operator = lookup("relax.concat")
    assert operator is not None and operator.calls and operator.compute is not None
    assert family("concat").operator is operator
