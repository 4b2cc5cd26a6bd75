"""All that is said of two annotations, picked because each pair shows a mistake which the others do not.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/solver/order/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.solver.order.test_same_picked 6000 300 --room solver/order` picks more of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rlx.grammar import ast, tir
from rlx.grammar.ast import FuncStructInfo, ShapeExpr, StructInfo
from rlx.grammar.node import Node, Record
from rlx.grammar.printer import show
from rlx.grammar.tir import PrimExpr
from rlx.solver import Context, Prover, order
from rlx.solver.order.bind import bound_by, unify
from rlx.solver.order.demands import demands, every
from rlx.solver.order.partial import demand, follows
from rlx.solver.order.subtype import name_dimensions, opaque_result, says_nothing
from rlx.solver.prim_exprs import variables
from rlx.solver.question_parser import parse
from tests.snapshots import assert_picked
from tests.solver.order.random_pairs import Reader
from tests.solver.order.random_pairs import pair as pool

__all__ = ["pool"]

PARTS = 20


class Teller:
    """Writes answers; a variable has a number, since several may have one name."""

    def __init__(self) -> None:
        self.numbers: dict[tir.Var, int] = {}

    def told(self, found: object) -> str:
        """An answer with all its fields."""
        match found:
            case ast.Var():
                return found.name_hint
            case Record() if not isinstance(found, Node):
                names: tuple[str, ...] = found.__match_args__
                fields = [self.told(getattr(found, name)) for name in names]
                return f"{type(found).__name__}({', '.join(fields)})"
            case StructInfo():
                numbers = self._numbers(order.free_shape_vars(found))
                if isinstance(found, FuncStructInfo):
                    own = self._numbers(found.binders)
                    return f"{show(found)} of {own} {numbers} by {found.derive_func}"
                return f"{show(found)} of {numbers}"
            case PrimExpr():
                return f"{show(found)} of {self._numbers(variables([found]))}"
            case Node():
                return show(found)
            case dict():
                return str({self.told(key): self.told(value) for key, value in found.items()})
            case tuple() | list():
                return f"[{', '.join(map(self.told, found))}]"
        return str(found)

    def _numbers(self, used: tuple[tir.Var, ...]) -> list[int]:
        return [self.numbers.setdefault(var, len(self.numbers)) for var in used]

    def said(self, ask: Callable[[], object]) -> str:
        """An answer, or the words of what was raised."""
        try:
            return self.told(ask())
        except (ValueError, TypeError) as error:
            return f"{type(error).__name__}: {error}"

    def compared(self, a: StructInfo, b: StructInfo, prover: Prover) -> Iterator[str]:
        """What is said of two annotations in this order."""
        yield self.said(lambda: order.subtype(a, b, prover))
        found = order.compatibility(a, b, prover)
        yield self.told(found)
        yield self.told((found.message, found.path, found.counterexample, found.assumption))
        yield self.told(found.zero_saves)
        apart = order.disjoint(a, b, prover)
        yield self.told(apart if apart is None else (apart, apart.message))
        yield self.told(order.meet_is_empty(a, b, prover))
        for bound in (order.lub(a, b, prover), order.glb(a, b, prover)):
            yield f"{self.told(bound)} {bound is a} {bound is b}"
        yield self.told(name_dimensions(a, b))
        yield self.said(lambda: unify((a,), (b,), order.free_shape_vars(a)[:2]))
        yield self.said(
            lambda: order.bind((a,), (b,), [*order.free_shape_vars(a), *order.free_vars(a)], prover)
        )
        if isinstance(a, FuncStructInfo):
            args = (b.params or ()) if isinstance(b, FuncStructInfo) else (b,)
            instance = order.instantiate(a, args, prover)
            yield self.told(instance)
            yield self.told([conflict.impossible for conflict in instance.binding.conflicts])
        for x, y in zip(_dims(a), _dims(b), strict=False):
            yield self.told((demand(x, y), follows(x, y, prover)))

    def alone(self, info: StructInfo, asked: dict[str, Any], reader: Reader) -> Iterator[str]:
        """What is said of one annotation."""
        names: dict[str, Any] = {**reader.names, **reader.held}
        scope = [names[name] for name in asked["scope"]]
        erased = order.erase(
            info,
            [var for var in scope if isinstance(var, ast.Var)],
            [var for var in scope if isinstance(var, tir.Var)],
        )
        yield f"{self.told(erased)} {erased is info}"
        images = {names[name]: _image(image, reader) for name, image in asked["images"].items()}
        replaced = order.substitute(info, images)
        yield f"{self.told(replaced)} {replaced is info}"
        yield from (self.said(partial(order.substitute_prim, dim, images)) for dim in _dims(info))
        yield self.told(order.to_type(info))
        yield self.told([order.free_shape_vars(info), order.free_vars(info)])
        yield self.told([*every(demands(info))])
        if isinstance(info, FuncStructInfo):
            renamed = order.rename_apart(info)
            yield self.told(
                [
                    renamed,
                    *(new is old for new, old in zip(renamed.binders, info.binders, strict=True)),
                ]
            )
            yield self.told([says_nothing(info), opaque_result(info)])
            yield self.told(bound_by(info.binders, info.params or (), info.ret))


def answers(text: str) -> str:
    """All that is said of a pair."""
    asked = json.loads(text)
    reader = Reader()
    context = Context()
    for fact in asked.get("facts", ()):
        context.assume(parse(fact, reader.names))
    prover = Prover(context)
    a, b = (reader.read(asked[which]) for which in ("given", "wanted"))
    teller = Teller()
    lines = [*teller.compared(a, b, prover), *teller.compared(b, a, prover)]
    for info in (a, b):
        lines += teller.alone(info, asked, reader)
    return "\n".join(lines)


def _dims(info: StructInfo) -> tuple[PrimExpr, ...]:
    shape = getattr(info, "shape", None)
    return shape.values if isinstance(shape, ShapeExpr) else ()


def _image(image: Any, reader: Reader) -> Any:
    if isinstance(image, list):
        return ShapeExpr(reader.dims(image, reader.names))
    return reader.held[image] if image in reader.held else parse(image, reader.names)


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_pairs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
