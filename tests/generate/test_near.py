"""Near misses: the checker names the premise that was broken, and nothing else."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from rlx.checker.check import check_module, check_text
from rlx.checker.normal_form import normal_form
from rlx.generate.near import CODES, near_miss
from rlx.generate.near.kernels import BREAKS, KERNEL, TEXT_BREAKS
from rlx.generate.near.modules import FORMS
from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.node import Node, fields

SPEC = Path(__file__).parents[2] / "spec"
FILES = ("well_formedness", "normal_form", "derivation", "operators", "prim_funcs")


@pytest.mark.parametrize("code", CODES)
def test_the_checker_names_it(code: str) -> None:
    for seed in range(2):
        module = near_miss(code, random.Random(seed))
        found = normal_form(module) if code in FORMS else _diagnostics(module)
        assert {d.code for d in found} == {code}, seed


@pytest.mark.parametrize("code", CODES)
def test_integers_have_values_of_their_types(code: str) -> None:
    pending: list[Any] = [near_miss(code, random.Random(0))]
    while pending:
        node = pending.pop()
        if isinstance(node, tir.IntImm):
            kind = node.dtype
            least = -(1 << (kind.bits - 1)) if kind.code == "int" else 0
            most = 1 if kind.code == "bool" else least + (1 << kind.bits) - 1
            assert least <= node.value <= most, node
        elif isinstance(node, IRModule):
            pending += node.functions.values()
        elif isinstance(node, Node):
            pending += [value for _, value in fields(node)]
        elif isinstance(node, dict):
            pending += node.values()
        elif isinstance(node, tuple | list):
            pending += node


def _diagnostics(module: IRModule) -> tuple[Diagnostic, ...]:
    return check_module(module, Source("near miss", "")).diagnostics


@pytest.mark.parametrize(
    ("code", "broken"), [(c, b) for c, each in (BREAKS | TEXT_BREAKS).items() for b in each]
)
def test_one_place_breaks_the_primfunc(code: str, broken: tuple[str, str]) -> None:
    assert KERNEL.count(broken[0]) == 1
    found = check_text(KERNEL.replace(*broken), "kernel.rlx").diagnostics
    assert [d.code for d in found] == [code]


def test_the_primfunc_to_break_is_legal() -> None:
    assert check_text(KERNEL, "kernel.rlx").diagnostics == ()


def test_a_near_miss_breaks_a_premise_that_there_is() -> None:
    """A premise may have none: the bad program beside its rule in `spec/` shows it, too."""
    texts = [(SPEC / f"{name}.md").read_text(encoding="utf-8") for name in FILES]
    premises = {
        code for text in texts for code in re.findall(r"^- `([\w-]+)`:", text, re.MULTILINE)
    }
    assert {*CODES, *TEXT_BREAKS} <= premises


def test_what_nothing_breaks() -> None:
    with pytest.raises(KeyError):
        near_miss("WF99-nothing", random.Random(0))
