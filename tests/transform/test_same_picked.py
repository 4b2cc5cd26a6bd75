"""What passes, visitors and mutators make of programs that were picked because each shows another way through the code, and which
run-time checks are removed from them, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/transform/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.transform.test_same_picked 2000 300 --room transform/passes --room transform/visitors`
picks more programs.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

import rlx
from rlx.checker.check import check_text
from rlx.checker.normalize import normalize
from rlx.generate.casts.programs import program as of_casts
from rlx.generate.programs import Options, random_module
from rlx.grammar import ast
from rlx.grammar.ast import IRModule
from rlx.grammar.printer import print_module
from rlx.grammar.visit import walk
from rlx.transform.dynamic_checks import analyse, eliminate, plan
from rlx.transform.shapes.shape_functions import shape_function
from rlx.transform.visitors import rewrite_dataflow
from tests.hostile import sources, swaps
from tests.hostile.damage import damaged, tokens
from tests.snapshots import assert_picked
from tests.transform.changes import changed
from tests.transform.legalization.law import TYPES
from tests.transform.passes import PASSES, program
from tests.transform.scripts import failed, place_of
from tests.transform.shapes.test_same_shapes import Outlining, Widened
from tests.transform.test_same_rewriting import Changing, InBlocks, matches, trace, twice

PARTS = 80


@cache
def _kept() -> list[str]:
    """Texts that are made once."""
    return [text for text in sources.written() if check_text(text).ok]


@cache
def _calls() -> list[str]:
    return [text for _, text in swaps.texts(1)]


def pool(random: Random) -> str:
    """A text that is legal: with what passes look for, generated, written, mostly with a damage that leaves it so."""
    match random.randrange(9):
        case 0 | 1:
            text = print_module(program(random.randrange(1 << 30)))
        case 2:
            text = of_casts(random)
        case 7 | 8:
            text = of_calls(random)
        case 3:
            text = random.choice(_calls())
        case 4:
            text = print_module(random_module(random, Options(8)))
        case _:
            text = random.choice(_kept())
    for _ in range(random.choice([0, 0, 1, 1, 2])):
        if random.random() < 0.5:
            text = changed(text, random, TYPES)
        else:
            text = damaged(text, tokens(text) or [(0, len(text))], random)
    if not check_text(text).ok:
        return ""
    return "\n".join(line for line in text.splitlines() if not line.startswith("# from "))


def of_calls(random: Random) -> str:
    """A program whose functions say little of results; their shapes are held by variables, cast, or follow from operands."""
    info = 'R.Tensor(ndim=2, dtype="float32")'
    shape = random.choice(
        [
            "R.shape_of(x)",
            "R.shape_of(expr=x)",
            "t",
            "R.shape_of(y)",
            "R.shape([2, 4])",
            "R.shape([n, k])",
        ]
    )
    values = [
        'y: R.Tensor(s, "float32") = R.call_pure_packed("f", x, sinfo_args=R.Tensor(s, "float32"))',
        'y = R.call_pure_packed("f", x, sinfo_args=R.Tensor(s, dtype="float32"))',
        "y = R.match_cast(x, R.Tensor(s))",
        "y = R.reshape(x, s)",
        f"y: {info} = R.ones(s, dtype='float32')",
        "y = R.add(x, x)",
        "y = R.permute_dims(x)",
        "y = R.matmul(x, R.permute_dims(x))",
        'y = R.match_cast(x, R.Tensor((n, 4), "float32"))',
        "y = R.exp(x=x)",
    ]
    later = random.sample(
        [
            "z = y",
            "z = R.exp(y)",
            "z = R.add(y, x)",
            "z = R.reshape(y, R.shape_of(x))",
            "w = R.shape_of(y)",
            "z = Module.inner(y, t)",
            "z = R.maximum(y, x)",
            "z = R.match_cast(y, R.Tensor((2, 4), 'float32'))",
            "z = R.ewise_fma(y, x, y)",
        ],
        random.choice([1, 1, 2, 3]),
    )
    last = random.choice(["z", "z", "y", "(z, y)"]) if any("z =" in each for each in later) else "y"
    body = "\n".join(f"        {each}" for each in [f"s = {shape}", random.choice(values), *later])
    result = random.choice(["", f" -> {info}", " -> R.Tensor", " -> R.Object"])
    given = random.choice(["a", "b", "R.exp(a)", "R.permute_dims(a)"])
    main = random.choice(
        ["R.Tensor((2, 4), 'float32')", 'R.Tensor(("n", 4), "float32")', info, "R.Tensor"]
    )
    inner = random.choice(["", '(("p", "q"), "float32")', '(ndim=2, dtype="float32")'])
    return f"""
@I.ir_module
class Module:
    @R.function
    def main(a: {main}, b: {info}, s: R.Shape(["n", "k"])):
        n, k = T.int64(), T.int64()
        c = Module.wide({given}, s)
        d = Module.wide(b, R.shape([2, 4]))
        {random.choice(["e = R.add(c, c)", "e = Module.inner(c, s)", "e = (c, d)", "e = R.print(c, format='')"])}
        return {random.choice(["c", "(c, d)", "d"])}
    @R.function(private=True)
    def wide(x: {info}, t: R.Shape(ndim=2)){result}:
        n, k = T.int64(), T.int64()
{body}
        return {last}
    @R.function(private=True)
    def inner(x: R.Tensor{inner}, t: R.Shape(ndim=2)):
        y = {random.choice(["R.nn.relu(x)", "R.reshape(x, t)", "R.sum(x, axis=[0], keepdims=True)", "x"])}
        return y
"""


def answers(text: str) -> str:
    """All that becomes of a program."""
    seed = zlib.crc32(text.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rlx.BuildWarning)
        modules = check_text(text).modules
        return "\n".join(line for module in modules for line in _answers(module, seed))


def _answers(module: IRModule, seed: int) -> Iterator[str]:
    yield from (
        f"{name}: {_said(partial(apply, module), module)}" for name, apply in PASSES.items()
    )
    yield from (trace(module), trace(normalize(module)))
    for chance in (0.4, 1.0):
        weak = _made(partial(Widened(seed, chance), module))
        if isinstance(weak, IRModule):
            for name in ("propagate_shapes", "deduce_shapes"):
                yield f"{name} of less: {_said(partial(PASSES[name], weak), weak)}"
    for way in (
        Changing(seed),
        Outlining(seed),
        InBlocks(),
        partial(rewrite_dataflow, rewrite=twice),
    ):
        yield _said(partial(way, module), module)
    yield from (str(check) for trust in (False, True) for check in analyse(module, trusting=trust))
    for replaces in (False, True):
        yield _said(partial(eliminate, module, replace_variables=replaces), module)
    found = plan(normalize(module))
    yield f"{len(found.casts)} {sorted(map(len, found.entries.values()))} {len(found.returns)}"
    yield str(sorted(str(cast.value) for cast in found.casts))
    for gv, function in module.functions.items():
        if isinstance(function, ast.Function):
            made = shape_function(function)
            yield f"{gv} {made and (str(made.function), made.positions, str(made.result))}"
    yield from matches(module, seed)


def _made(build: Any) -> Any:
    try:
        return build()
    except (rlx.BuildError, rlx.IllFormedError, TypeError, ValueError) as error:
        return failed(error)


def _said(build: Any, before: IRModule) -> str:
    """What becomes of a program, with the places of its parts, or what is said of the change."""
    made = _made(build)
    if not isinstance(made, IRModule):
        lines = str(made).partition("error[")
        return (lines[2] or lines[0]).partition("\n")[0]  # no places in this file
    if made is before:
        return "the same"
    functions = [f for f in made.functions.values() if isinstance(f, ast.Function)]
    return f"{made}\n{[f'{type(e).__name__} {_span(e)}' for f in functions for e in walk(f)]}"


def _span(expr: ast.Expr) -> object:
    """A place in the text; what a mutator made stands in this file, at lines that move."""
    span = place_of(expr)
    return None if hasattr(span, "source") else span


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_programs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
