"""What becomes of random programs whose signatures say little is what it was: `test_across_functions.py` says that it is right.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/transform/shapes/test_same_shapes.py` writes the digests anew.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import rlx
from rlx.grammar import ast
from rlx.grammar.ast import IRModule, StructInfo
from rlx.grammar.node import replace
from rlx.transform.shapes.deduce import deduce_shapes
from rlx.transform.shapes.outline import outline
from rlx.transform.shapes.propagate import propagate_shapes
from tests.snapshots import assert_digest
from tests.transform.passes import program

SNAPSHOT = Path(__file__).parent / "snapshots" / "shapes.txt"
PARTS = 10
pytestmark = pytest.mark.filterwarnings("ignore::rlx.BuildWarning")


class Widened(rlx.ExprMutator):
    """Annotations of variables and results say less."""

    def __init__(self, seed: int, chance: float) -> None:
        self.pick, self.chance = random.Random(seed), chance

    def visit_struct_info(self, info: StructInfo) -> StructInfo:
        made = super().visit_struct_info(info)
        if isinstance(made, ast.TensorStructInfo) and self.pick.random() < self.chance:
            ndim = made.ndim if self.pick.random() < 0.5 else -1
            return replace(made, shape=None, ndim=ndim)
        return made


class Outlining(rlx.ExprMutator):
    """Some calls stand in functions of their own."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def visit_call(self, call: ast.Call) -> ast.Expr:
        made = super().visit_call(call)
        if not isinstance(made, ast.Call) or not isinstance(made.op, ast.Op):
            return made
        if not made.args or self.pick.random() < 0.5:
            return made
        whole = made
        args = [self.builder.emit(arg) if isinstance(arg, ast.Call) else arg for arg in whole.args]
        known = self.pick.choice([None, self.builder.struct_info(self.builder.emit(whole))])
        return outline(
            self.builder, "part", args, lambda *given: replace(whole, args=given), known=known
        )


def said(build: Callable[[], Any]) -> str:
    try:
        return str(build())
    except (rlx.BuildError, rlx.IllFormedError, rlx.SubjectError) as error:
        text = str(error)
        return (text.partition("error[")[2] or text).partition("\n")[0]  # no places in this file


@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_made_is_what_was_made(part: int) -> None:
    lines: list[str] = []
    for seed in range(700 + part, 740, PARTS):
        whole: IRModule = program(seed)
        for chance in (0.0, 0.4, 1.0):
            weak = whole
            if chance:
                try:
                    weak = Widened(seed, chance)(whole)
                except rlx.BuildError:
                    continue
            ways: list[Callable[[], Any]] = [
                partial(propagate_shapes, weak),
                partial(deduce_shapes, weak),
                partial(deduce_shapes, weak, broadcast=True),
                partial(Outlining(seed), weak),
            ]
            lines += [said(way) for way in ways]
    assert_digest(SNAPSHOT, f"part {part}", "\n\n".join(lines))
