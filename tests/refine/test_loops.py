"""The reading of PrimFuncs as terms: examples, and the law on a sample."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from rlx.refine.loops import Unread, read_loops
from rlx.transform.legalization import legalized
from tests.markdown import Example, assert_example, examples
from tests.semantics.tir.programs import prim_func
from tests.transform.legalization import law

from .loops import generated, of_module
from .prim_func_law import disagreement

FILE = Path(__file__).parent / "prim_funcs.md"
EXAMPLES = examples(FILE)


@pytest.mark.parametrize("example", EXAMPLES, ids=[each.name for each in EXAMPLES])
def test_example(example: Example) -> None:
    """A PrimFunc is read, and its terms give what runs leave; or it is not read for a reason."""
    function = prim_func(example.given[0])
    try:
        holes = read_loops(function)
    except Unread as error:
        assert error.span is not None
        assert_example(FILE, example.name, error.reason)
        return
    needs = [f"needs that {need.condition}: {need.why}" for need in holes.needs]
    assert_example(FILE, example.name, "\n".join(["read", *needs]))
    for seed in range(4):
        assert disagreement(function, (0, 1, 2, 3, 5, 17, 33), seed, holes) is None


@pytest.mark.parametrize(
    "name", ["matmul", "nn.max_pool2d", "nn.layer_norm", "reshape", "cumsum", "argmax"]
)
def test_operators(name: str) -> None:
    """The terms of a definition's PrimFunc give what its runs leave."""
    template = law.templates(name, 1, random.Random(1))[0]
    for _, function in of_module(name, legalized(law.case(name, template).module).module):
        holes = read_loops(function)
        assert not [need for need in holes.needs if need.why != "a divisor is not 0"]
        for seed in range(2):
            assert disagreement(function, (0, 1, 2, 3), seed, holes) is None


def test_random() -> None:
    """The terms of random PrimFuncs give what their runs leave."""
    count = 0
    for number, (name, function) in enumerate(generated("")):
        if number == 40:
            break
        try:
            found = disagreement(function, (0, 1, 3, 5), number)
        except Unread:
            continue
        assert found is None, name
        count += 1
    assert count >= 30
