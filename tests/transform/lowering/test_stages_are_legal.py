"""LAW: what each stage of lowering makes of a legal program is legal, also when it is printed and read.

``python -m tests.transform.lowering.test_stages_are_legal COUNT SEED`` tries as many generated programs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from rlx.checker import check_text
from rlx.generate.campaign.programs import is_legal, program
from rlx.grammar.nodes import ast
from rlx.grammar.read.parser import parse
from rlx.transform.lowering.passes import PassError
from rlx.vm.compilation import STAGES

CAPTURED = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        few = {given}
        pair = (few, y)

        @R.function
        def scaled(z: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            count = R.shape_of({inside})
            return R.add(z, y)

        return scaled(x)
"""
GIVEN = [
    "R.unique(x)",
    "R.nonzero(x)",
    "R.add(x, y)",
    "R.strided_slice(x, [0], [0], [2])",
    "R.unique(R.concat([x, y]))",
]
"""Values with dimensions that no variable names, and with such as have a name."""


def refused(text: str) -> Iterator[str]:
    """The stages whose result is not legal, with the errors."""
    now: ast.IRModule = parse(text).modules[0]
    for stage in STAGES:
        try:
            now = stage()(now)
        except PassError:
            return
        errors = [d for d in check_text(str(now)).diagnostics if d.is_error]
        if errors:
            yield f"{stage.__name__}: {errors[0].code}: {errors[0].message}"


@pytest.mark.parametrize("inside", ["few", "pair[0]"])
@pytest.mark.parametrize("given", GIVEN)
def test_captured_values(given: str, inside: str) -> None:
    text = CAPTURED.format(given=given, inside=inside)
    assert check_text(text).ok
    assert list(refused(text)) == []


@pytest.mark.parametrize("seed", [s for s in range(700, 740) if is_legal(s)])
def test_generated_programs(seed: int) -> None:
    assert list(refused(program(seed)[0])) == []


def main(count: int, seed: int) -> int:
    """Try programs; how many have a stage that is not legal."""
    wrong = 0
    for number in filter(is_legal, range(seed, seed + count)):
        for found in refused(program(number)[0]):
            wrong += 1
            print(f"seed {number}: {found}", flush=True)
            break
    print(f"{count} programs from seed {seed}: {wrong} with a stage that is not legal")
    return wrong


if __name__ == "__main__":
    sys.exit(min(1, main(int(sys.argv[1]), int(sys.argv[2]))))
