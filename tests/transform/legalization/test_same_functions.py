"""The PrimFunc of a call, and why a call stays, are what they were: `law.py` says that they are right, this that nothing moves.

The calls have shapes of letters, and of numbers: 0 and 1 among them. `RLX_UPDATE_SNAPSHOTS=1 pytest` writes the digests anew.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rlx.generate.calls.pattern import PrimSlot, ShapeSlot, TensorSlot, TupleSlot
from rlx.generate.calls.template import Template
from rlx.grammar import tir
from rlx.grammar.node import replace
from rlx.grammar.tir import IntImm
from rlx.solver.order.substitute import substitute_prim
from rlx.transform.legalization import definitions, legalized
from tests.snapshots import assert_digest
from tests.transform.legalization.law import case, retyped, templates

SNAPSHOT = Path(__file__).parent / "snapshots" / "functions.txt"
CALLS = 2
"""So many calls of an operator over letters; as many again over numbers."""


def with_numbers(template: Template, pick: random.Random) -> Template:
    """A template with a number for each letter."""
    numbers: dict[tir.Var, tir.PrimExpr] = {}

    def number(dims: tuple[tir.PrimExpr, ...]) -> tuple[tir.PrimExpr, ...]:
        for var in (v for dim in dims for v in tir.free_vars(dim)):
            numbers.setdefault(var, IntImm(pick.choice((0, 1, 1, 2, 3, 4))))
        return tuple(substitute_prim(dim, numbers) for dim in dims)

    def slot(given: Any) -> Any:
        match given:
            case TensorSlot(dims=dims) | ShapeSlot(dims=dims):
                return replace(given, dims=number(dims))
            case TupleSlot(fields=fields):
                return replace(given, fields=tuple(map(slot, fields)))
            case PrimSlot(value=value):
                return replace(given, value=number((value,))[0])
        return given

    args = tuple(map(slot, template.args))
    attrs: Mapping[str, Any] = {key: slot(value) for key, value in template.attrs}
    return replace(template, args=args, attrs=tuple(attrs.items()))


def calls(name: str) -> Iterator[Template]:
    """Some calls of an operator, with several element types."""
    pick = random.Random(zlib.crc32(name.encode()))
    found = templates(name, CALLS, pick)
    for template in pick.sample(found, min(len(found), CALLS)):
        for typed in retyped(template, pick, 1):
            yield typed
            yield with_numbers(typed, pick)


def said(name: str, template: Template) -> str:
    """What legalisation makes of a call, or why it does not."""
    try:
        found = legalized(case(name, template).module)
    except ValueError as error:
        return str(error)
    return "\n".join(
        [*(f"{left.operator} stays: {left.reason}" for left in found.left), str(found.module)]
    )


@pytest.mark.parametrize("name", definitions())
def test_functions(name: str) -> None:
    assert_digest(SNAPSHOT, name, "\n\n".join(said(name, each) for each in calls(name)))
