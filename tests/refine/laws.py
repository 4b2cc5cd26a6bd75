"""``python -m tests.refine.laws COUNT SEED [FOLDER]``: what is proved, a run never contradicts.

Random programs are compared with themselves in other words (renamed, printed and read again, after our own passes), and with
mutants of which one operand, operator, number or axis is different; pairs of a folder (``tests/refine/passes.py`` makes them)
with such mutants of AFTER. The machine is the judge.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rlx.checker.check import check_text
from rlx.generate.programs import random_module
from rlx.generate.programs.plan import DEFAULT
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.grammar.print.printer import print_module
from rlx.refine import InterfaceError, compare
from rlx.refine.question import CONTRADICTED
from rlx.refine.runs import differing

FEATURES = frozenset({"symbolic", "match_cast", "tuples", "dataflow", "if", "call_tir", "scalars"})
OPTIONS = replace(DEFAULT, size=6, features=FEATURES)
KIN = (
    ("add", "subtract", "multiply", "maximum", "minimum"),
    ("sum", "max", "min", "mean", "prod"),
    ("exp", "tanh", "sigmoid", "abs", "negative", "sqrt"),
    ("equal", "less", "greater", "not_equal", "less_equal"),
)
"""Operators that take the same arguments."""


def program(seed: int) -> str:
    """A random program."""
    return print_module(random_module(random.Random(seed), OPTIONS))


LOOPS = (
    (" + ", (" - ",)),
    (" - ", (" + ",)),
    (" * ", (" + ",)),
    (" < ", (" <= ",)),
    (" <= ", (" < ",)),
    (" // ", (" % ",)),
    (" % ", (" // ",)),
    ("T.max(", ("T.min(",)),
    ("T.min(", ("T.max(",)),
)
"""Parts of PrimFuncs, and what stands in a mutant instead."""


def loop_changes(line: str) -> Iterator[str]:
    """A line of a PrimFunc with one number, operation, comparison or pair of indices changed."""
    if "=" not in line and " in " not in line and not line.lstrip().startswith("if "):
        return
    if line.lstrip().startswith(("T.reads", "T.writes", "def ", "#", "@", "T.func_attr")):
        return
    for found in re.finditer(r"(?<![\w.])\d+(?![\w.])", line):
        for other in {int(found[0]) + 1, max(int(found[0]) - 1, 0)} - {int(found[0])}:
            yield f"{line[: found.start()]}{other}{line[found.end() :]}"
    for old, news in LOOPS:
        for found in re.finditer(re.escape(old), line):
            for new in news:
                yield f"{line[: found.start()]}{new}{line[found.end() :]}"
    for found in re.finditer(r"\[(\w+), (\w+)", line):
        if found[1] != found[2]:
            yield f"{line[: found.start()]}[{found[2]}, {found[1]}{line[found.end() :]}"


def mutants(text: str, rng: random.Random, most: int) -> Iterator[str]:
    """Programs that differ in one place."""
    lines = text.splitlines()
    changes = []
    inside = False
    for number, line in enumerate(lines):
        if line.lstrip().startswith("@"):
            inside = "prim_func" in line
        head, equals, call = line.partition(" = R.")
        if inside:
            changes += [(number, changed) for changed in loop_changes(line)]
            continue
        if not equals:
            continue
        for found in re.finditer(r"\b\d+\b", call):
            for other in {int(found[0]) + 1, max(int(found[0]) - 1, 0)} - {int(found[0])}:
                made = f"{call[: found.start()]}{other}{call[found.end() :]}"
                changes.append((number, f"{head} = R.{made}"))
        for kin in KIN:
            for name in kin:
                if call.startswith(f"{name}("):
                    changes += [
                        (number, f"{head} = R.{other}{call[len(name) :]}")
                        for other in kin
                        if other != name
                    ]
        swapped = re.sub(r"\((\w+), (\w+)\)", r"(\2, \1)", call, count=1)
        if swapped != call:
            changes.append((number, f"{head} = R.{swapped}"))
    rng.shuffle(changes)
    for number, line in changes[:most]:
        yield "\n".join([*lines[:number], line, *lines[number + 1 :]]) + "\n"


def module(text: str) -> ast.IRModule | None:
    """The module of a text in normal form; None if it has errors."""
    found = check_text(text)
    return found.modules[0] if found.ok else None


def of_mutants(
    before: ast.IRModule, after: str, rng: random.Random, most: int, answers: Counter[str]
) -> Iterator[str]:
    """What is answered for mutants of AFTER, where runs show something else."""
    for mutant in mutants(after, rng, most):
        changed = module(mutant)
        if changed is None:
            continue
        try:
            found = compare(before, changed, floats="real")
        except InterfaceError:
            answers["mutant rejected"] += 1
            continue
        answers[f"mutant {found.status}"] += 1
        if CONTRADICTED in found.explanation:
            yield f"a proof was contradicted: {found}\n{before}\n{mutant}"
        for entry in found.entries if found.proved else ():
            example = differing(before, changed, entry)
            if example is not None:
                yield f"proved ({found.level}), but {example}\n{before}\n{mutant}"


def of_programs(count: int, seed: int, answers: Counter[str]) -> Iterator[str]:
    """Random programs and mutants of them, answered against what their runs show."""
    for k in range(seed, seed + count):
        text = program(k)
        before = module(text)
        if before is None:
            continue
        again = compare(before, check_text(text).modules[0])
        answers[f"itself {again.status}"] += 1
        if not again.proved or again.level != "bitwise":
            yield f"seed {k}: a program does not refine itself: {again}\n{text}"
        for words in of_mutants(before, text, random.Random(k), 4, answers):
            yield f"seed {k}: {words}"


def of_pairs(folder: Path, count: int, seed: int, answers: Counter[str]) -> Iterator[str]:
    """Pairs of a folder whose AFTER is changed in one place, answered against their runs."""
    paths = sorted(folder.glob("*.before.rlx"))
    random.Random(seed).shuffle(paths)
    for path in paths[:count]:
        before = module(path.read_text("utf-8"))
        after = path.with_name(path.name.replace(".before.", ".after.")).read_text("utf-8")
        if before is not None:
            for words in of_mutants(before, after, random.Random(seed), 4, answers):
                yield f"{path.name}: {words}"


def main(count: int = 100, seed: int = 0, folder: str = "") -> int:
    """Print the contradictions, and how many pairs there were."""
    answers: Counter[str] = Counter()
    wrong = 0
    found = (
        of_pairs(Path(folder), count, seed, answers)
        if folder
        else of_programs(count, seed, answers)
    )
    for words in found:
        wrong += 1
        print(words)
    print(dict(sorted(answers.items())), f"{wrong} contradictions")
    return wrong > 0


if __name__ == "__main__":
    first, second, third = (*sys.argv[1:4], *("", "", "")[len(sys.argv) - 1 :])
    sys.exit(main(int(first or 100), int(second or 0), third))
