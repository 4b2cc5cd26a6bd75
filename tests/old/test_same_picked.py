"""What the rules of 2022 say of programs that were picked because each shows another way through the code, or a mistake
in it, how these run and how they are translated, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/old/test_same_picked.py` writes the digests anew,
`python -m tests.mutants.pick tests.old.test_same_picked 3000` picks other programs, and
`python -m tests.mutants.sharpen tests.old.test_same_picked 1500 300 --room old` adds some.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import islice, product
from pathlib import Path
from random import Random

import pytest

from rlx.grammar import ast
from rlx.grammar.parser import parse
from rlx.grammar.printer import print_module
from rlx.grammar.stack import recursion_room
from rlx.old import (
    check_text,
    convert_text,
    find_glb,
    find_lub,
    is_subtype,
    map_shape_vars,
    to_2022,
    to_today,
)
from rlx.old.annotations import shape_of_annotation
from rlx.old.conversion import SYSTEMS
from rlx.old.derivation_state import OlderDerivation
from rlx.old.evaluation import run
from rlx.old.expansion import expanded
from rlx.old.shape_exprs import can_prove_equal
from rlx.old.shape_exprs import text as shape_text
from rlx.old.substitution import UnificationError
from rlx.old.two_views import as_json, rendered, views
from rlx.semantics.outcome import Ended, Returned
from rlx.semantics.run.inputs import inputs
from tests.grammar.parse.test_trees import Dump
from tests.old import test_same_answers
from tests.old.agreement import binding_first, damaged, source_of
from tests.snapshots import assert_picked
from tests.values import brief
from tests.vm.agreement import perturbed

PARTS = 100
ATTRIBUTES = (
    *('R.func_attr({"force_pure": True})', 'R.func_attr({"relax.force_pure": True})'),
    *('R.func_attr({"pure": False})', 'R.func_attr({"pure": True})', 'R.func_attr({"a": 1})'),
)
SOME = 6
"""How many types and shapes of a program are compared with each other."""


@cache
def _written() -> list[str]:
    return [*test_same_answers.written()]


def pool(random: Random) -> str:
    """A program of the generator in the words of either system, or one beside a rule; mostly damaged."""
    if random.randrange(2):
        text = random.choice(_written())
    else:
        text = source_of(random.randrange(1 << 30))
        parsed = parse(text)
        if len(parsed.modules) == 1 and random.randrange(2):
            text = print_module(to_2022(binding_first(parsed.modules[0])).module, "2022")
    for _ in range(random.choice([0, 1, 1, 2])):
        text = damaged(text, random)
    at = text.find(":\n", text.find("def ", random.randrange(len(text) or 1))) + 2
    if at > 1 and random.random() < 0.1:
        indent = text[at : len(text) - len(text[at:].lstrip(" "))]
        text = f"{text[:at]}{indent}{random.choice(ATTRIBUTES)}\n{text[at:]}"
    return text


def answers(text: str) -> str:
    """All that is said of a text."""
    with recursion_room():
        return "\n".join(_answers(text))


def _answers(text: str) -> Iterator[str]:
    report = check_text(text, "p.rlx")
    yield f"{text}\n{report}\n{report.obligations}"
    for each in report.diagnostics:
        yield f"{each} {each.span} {each.help} {each.related} {each.edit}"
    found = views(text)
    yield f"{rendered(found)}\n{json.dumps(as_json(found))}"
    yield str(convert_text(text, "p.rlx", Random(text).choice(SYSTEMS)))
    for module, derived in zip(report.modules, report.derivations, strict=True):
        yield from _derived(derived)
        for translate in (to_today, to_2022):
            made = translate(module)
            yield from (f"{loss.message} {loss.span}" for loss in made.lost)
            yield from Dump(text).lines("translation", made.module, 0)
        for name, function in module.functions.items():
            if isinstance(function, ast.Function):
                checked = _expanded(function)
                yield from Dump(text).lines("expanded", checked, 0)
                other = ast.IRModule({**module.functions, name: checked})
                yield from _ends(module, other, name.name_hint, function, report.ok)


def _derived(derived: OlderDerivation) -> Iterator[str]:
    """Types and shapes, and what the procedures of the document say of some of them."""
    yield from map(str, derived.types.values())
    yield from map(shape_text, derived.shapes.values())
    types = [*islice(dict.fromkeys(derived.types.values()), SOME)]
    for one, other in product(types, types):
        yield f"{is_subtype(one, other)} {find_lub(one, other)} {find_glb(one, other)}"
    shapes = [*islice({shape_text(s): s for s in derived.shapes.values()}.values(), SOME)]
    for a, b in product(shapes, shapes):
        mapping: dict[object, object] = {}
        try:
            fits = map_shape_vars(a, b, mapping, derived.prover)  # type: ignore[arg-type]
            yield f"{fits} {mapping} {can_prove_equal(a, b, derived.prover)}"
        except UnificationError as error:
            yield f"{error.code} {error}"


def _expanded(function: ast.Function) -> ast.Function:
    """The function with its checks in its body."""
    shapes = tuple(shape_of_annotation(p.struct_info_annotation) for p in function.params)
    return expanded(function, shapes, shape_of_annotation(function.ret_struct_info))


def _ends(
    module: ast.IRModule, checked: ast.IRModule, name: str, function: ast.Function, ok: bool
) -> Iterator[str]:
    """How a function ends, with what fits its parameters and with what may not; and with its checks in its body."""
    try:
        fitting = tuple(inputs(function, {}, 3).values)
    except ValueError as error:
        yield str(error)
        return
    if not ok:
        return
    other = perturbed(fitting, Random(0))
    for of, args, fuel in (
        *((module, fitting, 2_000), (module, other, 2_000), (module, fitting, 2)),
        *((checked, fitting, 2_000), (checked, other, 2_000)),
    ):
        printed: list[str] = []
        found = run(of, name, args, fuel=fuel, output=printed.append)
        if isinstance(found, Returned):
            yield brief(found.value)
        elif isinstance(found, Ended):
            yield f"{found} {found.span} {found.rule}"
        yield from printed


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_programs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
