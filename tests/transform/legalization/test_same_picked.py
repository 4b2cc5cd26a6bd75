"""What legalisation makes of programs that were picked because each shows another way through the code stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/transform/legalization/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.transform.legalization.test_same_picked 3000 300 --room transform/legalization`
picks more programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from inspect import getmodule, getsource
from pathlib import Path
from random import Random

import pytest

from rlx.checker.check import IllFormedError, check_text
from rlx.generate.calls.template import Template
from rlx.generate.programs import Options, random_module
from rlx.grammar import ast
from rlx.grammar.ast import IRModule
from rlx.grammar.printer import print_module
from rlx.grammar.visit import walk
from rlx.transform.legalization import definitions, legalized
from tests.hostile import sources, swaps
from tests.snapshots import assert_picked
from tests.transform.changes import changed
from tests.transform.legalization.law import TYPES, case, retyped, templates
from tests.transform.legalization.odd_calls import odd_call
from tests.transform.legalization.test_same_functions import with_numbers

PARTS = 60


@cache
def _kept() -> list[str]:
    """Texts that are made once."""
    return [text for text in sources.written() if check_text(text).ok]


@cache
def _calls() -> list[str]:
    return [text for _, text in swaps.texts(2)]


@cache
def _templates(name: str) -> list[Template]:
    return templates(name, 24, Random(name))


@cache
def _weights() -> tuple[list[str], list[float]]:
    """The operators that have a definition, and how often each is drawn: by the length of its file."""
    homes = {name: getmodule(found) for name, found in definitions().items()}
    shared = Counter(homes.values())
    lengths = [len(getsource(home)) / shared[home] for home in homes.values() if home]
    return [*homes], [min(length, 2000) for length in lengths]


def of_operator(random: Random) -> str:
    """A call of an operator that has a definition, over letters or numbers, with any element types."""
    (name,) = random.choices(*_weights())
    found = _templates(name)
    if not found:
        return ""
    template = random.choice(retyped(random.choice(found), random, 2))
    if random.random() < 0.6:
        template = with_numbers(template, random)
    return print_module(case(name, template).module)


def of_several(random: Random) -> str:
    """Calls of one operator on operands of several types, in functions whose names the PrimFuncs may want."""
    name = random.choice(["exp", "nn.relu", "add", "negative", "sum", "sort", "argsort", "cumsum"])
    infos = [
        '(n, 4), "float32"',
        '(4,), "float32"',
        '(n,), "int8"',
        '(3, n), "float16"',
        '(), "int32"',
    ]
    params = [f"x{k}: R.Tensor({info})" for k, info in enumerate(random.sample(infos, 3))]
    lines = [f"x{random.randrange(3)}" for _ in range(random.choice([2, 3, 4, 6]))]
    calls = [
        f"        a{k} = R.{name}({x}{f', {x}' if name == 'add' else ''})"
        for k, x in enumerate(lines)
    ]
    short = name.rpartition(".")[2]
    other = random.choice([short, f"{short}1", "other"])
    body = "\n".join(calls)
    result = f"        return ({', '.join(f'a{k}' for k in range(len(lines)))},)"
    head = f'n = TypeVar("n")\n@I.ir_module\nclass Module:\n    @R.function\n    def {other}'
    return f"{head}({', '.join(params)}):\n{body}\n{result}\n"


def pool(random: Random) -> str:
    """A text: mostly one call of an operator, with other numbers, types and layouts than usual."""
    match random.randrange(20):
        case 0:
            text = random.choice(_kept())
        case 1:
            text = print_module(random_module(random, Options(5)))
        case 2 | 3:
            text = random.choice(_calls())
        case 4:
            text = of_several(random)
        case 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12:
            text = odd_call(random)
        case _:
            text = of_operator(random)
    for _ in range(random.choice([0, 0, 1, 1, 2, 3])):
        text = changed(text, random, TYPES)
    if not check_text(text).ok:
        return ""
    return text.partition("\n\n")[2] if text.startswith("# from") else text


def answers(text: str) -> str:
    """The modules, with the places of their calls, and what stays of them and why."""
    return "\n".join(line for module in check_text(text).modules for line in _answers(module))


def _answers(module: IRModule) -> Iterator[str]:
    try:
        found = legalized(module)
    except IllFormedError as error:
        yield str(error)
        return
    yield from (f"{left.operator} stays in {left.function}: {left.reason}" for left in found.left)
    yield str(found.module)
    for function in found.module.functions.values():
        if isinstance(function, ast.Function):
            yield from (f"{e.span}" for e in walk(function) if isinstance(e, ast.Call))


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_programs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
