"""The questions of the benchmark, by family; `identities.txt` and `falsehoods.txt` hold them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import Record
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.question_parser import parse

_FOLDER = Path(__file__).parent
_SMALL = (0, 1, 2, 3, 4, 5, 7, 8, 12)
_EXHAUSTIVE = 3
_LARGE = (9, 16, 17, 63, 64, 100, 127, 1009, 4097, 65536, 10**6 + 3, 2**31 - 1, 2**40, 10**12)


class FamilyQuestion(Record):
    """One question: ``truth`` says whether it holds wherever it is defined."""

    family: str
    goal: str
    assume: tuple[str, ...]
    truth: bool


KNOWN, HELD_OUT, BITS = "", "held_out_", "bits_"
GIVEN = " given "
"""The separator before the assumptions of questions with bit operations, which have ``|`` themselves."""


def cases(part: str = KNOWN) -> list[FamilyQuestion]:
    """All questions of a part, each once."""
    found: dict[tuple[str, tuple[str, ...]], FamilyQuestion] = {}
    mark = GIVEN if part == BITS else "|"
    for truth, name in ((True, f"{part}identities.txt"), (False, f"{part}falsehoods.txt")):
        for case in read((_FOLDER / name).read_text(encoding="utf-8"), truth, mark):
            found.setdefault((case.goal, case.assume), case)
    return list(found.values())


STYLES = ("tvm", "jax", "pytorch", "xla", "tinygrad")
"""The compilers in whose style there are questions, with their kind of division."""


def style(name: str) -> list[FamilyQuestion]:
    """The questions in the style of a compiler, each once; the headings say which are true."""
    text = (_FOLDER / "styles" / f"{name}.txt").read_text(encoding="utf-8")
    return list({(case.goal, case.assume): case for case in read(text, truth=True)}.values())


def rules() -> list[FamilyQuestion]:
    """The rewrite rules ``left -> right | conditions``, as equations; nothing says which hold."""
    text = (_FOLDER / "rules.txt").read_text(encoding="utf-8")
    return list({(case.goal, case.assume): case for case in read(text, truth=True)}.values())


def read(text: str, truth: bool, mark: str = "|") -> Iterator[FamilyQuestion]:
    """The questions of a file; ``mark`` stands before their assumptions."""
    family, constants = "", dict[str, list[str]]()
    for line in text.splitlines():
        if line.startswith("["):
            family, *given = line.strip("[]").split("; ")
            if family in ("true", "false"):
                truth = family == "true"
                family, *given = given
            pairs = [part.split(" = ") for part in given]
            constants = {name: values.split() for name, values in pairs}
        elif line and not line.startswith("#"):
            for values in product(*constants.values()):
                filled = line.format(**dict(zip(constants, values, strict=True)))
                goal, _, assumed = filled.partition(mark)
                facts = tuple(part.strip() for part in assumed.split(";") if part.strip())
                yield FamilyQuestion(family, goal.strip(), facts, truth)


def holds(case: FamilyQuestion, samples: int = 1500) -> bool:
    """Whether the question holds at all small values and at random large ones, by evaluation."""
    variables: dict[str, tir.Var] = {}
    goal = parse(case.goal, variables)
    facts = [parse(fact, variables) for fact in case.assume]
    for values in _points(len(variables), samples):
        point = dict(zip(variables.values(), values, strict=True))
        try:
            if all(evaluate(fact, point) for fact in facts) and not evaluate(goal, point):
                return False
        except UndefinedError:
            continue
    return True


def _points(count: int, samples: int) -> Iterator[tuple[int, ...]]:
    rng = random.Random(count)
    if count <= _EXHAUSTIVE:
        yield from product(_SMALL, repeat=count)
    for _ in range(samples):
        pool = rng.choice((_SMALL, _LARGE, (*_SMALL, *_LARGE)))
        yield tuple(rng.choice(pool) for _ in range(count))
