"""Dimensions without a value: a cast that is removed never failed, and where nothing is warned of nothing fails."""

from __future__ import annotations

from itertools import product

import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast
from rlx.semantics.machine import load
from rlx.semantics.outcome import CheckFailed, Outcome
from rlx.semantics.values import ShapeValue
from rlx.transform.dynamic_checks import analyse, eliminate

from .test_runs import same_end

DIMS = (
    "1",
    "n",
    "m // m",
    "n * m // m",
    "0 * (m // n)",
    "T.Select(m == 0, 1, m // m)",
    "T.if_then_else(m == 0, 1, m // m)",
    "n // (n - n)",
)
PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(s: R.Shape(["n", "m"])) -> R.Object:
        n = T.int64()
        m = T.int64()
        x = R.zeros(R.shape([{found}]), "float32")
        y: R.Tensor({annotation}) = R.match_cast(x, R.Tensor(({said},), "float32"))
        return y
"""


def run(module: ast.IRModule, n: int, m: int) -> Outcome:
    """The outcome for two numbers."""
    return load(module).run("main", (ShapeValue((n, m)),))


@pytest.mark.parametrize("found", DIMS)
def test_casts_between_partial_dimensions(found: str) -> None:
    for said in DIMS:
        text = PROGRAM.format(found=found, said=said, annotation='ndim=1, dtype="float32"')
        report = check_text(text)
        errors = [d for d in report.diagnostics if d.is_error]
        if errors:
            continue
        (module,) = report.modules
        (cast,) = [check for check in analyse(module) if check.kind == "cast"]
        without = eliminate(module)
        assert (without is module) == (cast.status != "redundant")
        for n, m in product(range(4), repeat=2):
            before = run(module, n, m)
            assert same_end(before, run(without, n, m)), (found, said, n, m)
            if cast.status == "redundant":
                assert not isinstance(before, CheckFailed)


@pytest.mark.parametrize("found", DIMS)
def test_an_annotation_without_a_warning_is_one_that_a_cast_confirms(found: str) -> None:
    for said in DIMS:
        text = PROGRAM.format(found=found, said=said, annotation='ndim=1, dtype="float32"')
        claimed = text.replace("R.match_cast(x, R.Tensor(", "x  # ").replace(
            'R.Tensor(ndim=1, dtype="float32") =', f'R.Tensor(({said},), "float32") ='
        )
        if check_text(claimed).diagnostics or any(d.is_error for d in check_text(text).diagnostics):
            continue
        (module,) = check_text(text).modules
        for n, m in product(range(4), repeat=2):
            assert not isinstance(run(module, n, m), CheckFailed), (found, said, n, m)


def test_which_casts_are_redundant() -> None:
    said = {}
    for found, wanted in (("m // m", "1"), ("1", "m // m"), ("m // m", "m // m"), ("1", "n")):
        text = PROGRAM.format(found=found, said=wanted, annotation='ndim=1, dtype="float32"')
        (module,) = check_text(text).modules
        (cast,) = [check for check in analyse(module) if check.kind == "cast"]
        said[found, wanted] = cast.status
    assert list(said.values()) == ["redundant", "needed", "redundant", "needed"]
