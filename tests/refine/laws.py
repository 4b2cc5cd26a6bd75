"""``python -m tests.refine.laws COUNT SEED [FOLDER]``: what is proved, a run never contradicts.

Random programs without dead code are compared with themselves in other words (renamed, in another order, in normal form, with
their operators as loops), and with mutants of these in which one operand, operator, number, axis, bound, guard or the order
of two statements is different; so are the pairs of a folder (``tests/refine/passes.py`` makes them), with mutants of AFTER.
The machine is the judge.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

from rlx.checker.check import check_text
from rlx.generate.programs import random_module
from rlx.generate.programs.plan import DEFAULT
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.grammar.print.printer import print_module
from rlx.refine import InterfaceError, compare, question
from rlx.refine.runs import Searched, differing
from rlx.transform import DeadCodeElimination, legalize

FEATURES = frozenset({"symbolic", "match_cast", "tuples", "dataflow", "if", "call_tir", "scalars"})
OPTIONS = replace(DEFAULT, size=5, features=FEATURES)
LIGHT = (
    *("add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "equal", "where"),
    *("exp", "negative", "abs", "nn.relu", "clip", "astype", "sum", "max", "min", "mean", "cumsum"),
    *("reshape", "permute_dims", "concat", "split", "strided_slice", "flip", "repeat", "tile"),
    *("take", "expand_dims", "squeeze", "flatten", "broadcast_to", "stack", "tril", "matmul"),
    *("nn.pad", "nn.softmax", "arange", "zeros", "full", "one_hot", "gather_elements", "argmax"),
)
"""Operators whose loops have few iterations; one program of four has others, too."""
KIN = (
    ("add", "subtract", "multiply", "maximum", "minimum"),
    ("sum", "max", "min", "mean", "prod"),
    ("exp", "tanh", "sigmoid", "abs", "negative", "sqrt"),
    ("equal", "less", "greater", "not_equal", "less_equal"),
)
"""Operators that take the same arguments."""
MUTANTS = 12
"""Mutants of each program in one form."""
AS_THEY_STAND = "the programs are the same"
"""What is said of a pair that is equal up to names: nothing was proved then."""
MANY = 60
"""The combinations of sizes at which what is proved of a mutant is run."""


def program(seed: int) -> str:
    """A random program that returns all that it computes."""
    options = replace(OPTIONS, operators=LIGHT) if seed % 4 else OPTIONS
    text = print_module(random_module(random.Random(seed), options))
    head, main, body = text.rpartition("    def main(")
    made = re.findall(r"^        (\w+)(?:: .*)? = ", body, re.MULTILINE)
    made += re.findall(r"^            R\.output\((.*)\)", body, re.MULTILINE)
    body = re.sub(r"\) -> .*:\n", "):\n", body, count=1)
    body = re.sub(
        r"^        return .*", f"        return ({', '.join(made)},)", body, flags=re.MULTILINE
    )
    live = module(head + main + body) or module(text)
    return text if live is None else print_module(DeadCodeElimination()(live))


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


def numbers_changed(text: str) -> Iterator[str]:
    """A text with one of its numbers larger or smaller by 1."""
    for found in re.finditer(r"(?<![\w.])\d+(?![\w.])", text):
        for other in {int(found[0]) + 1, max(int(found[0]) - 1, 0)} - {int(found[0])}:
            yield f"{text[: found.start()]}{other}{text[found.end() :]}"


def operands_changed(text: str) -> Iterator[str]:
    """A text in which two names that stand beside each other are exchanged, or one is both."""
    for found in re.finditer(r"(?<=[(\[])(\w+), (\w+)(?=[,)\]])", text):
        one, other = found.groups()
        if one != other:
            for made in (f"{other}, {one}", f"{one}, {one}"):
                yield f"{text[: found.start()]}{made}{text[found.end() :]}"


def loop_changes(line: str) -> Iterator[str]:
    """A line of a PrimFunc with one number, operation, comparison or pair of indices changed."""
    if "=" not in line and " in " not in line and not line.lstrip().startswith("if "):
        return
    if line.lstrip().startswith(("T.reads", "T.writes", "def ", "#", "@", "T.func_attr")):
        return
    yield from numbers_changed(line)
    yield from operands_changed(line)
    for old, news in LOOPS:
        for found in re.finditer(re.escape(old), line):
            for new in news:
                yield f"{line[: found.start()]}{new}{line[found.end() :]}"


def call_changes(line: str) -> Iterator[str]:
    """A binding of a call with one number, operand or operator changed."""
    head, equals, call = line.partition(" = R.")
    if not equals:
        return
    for made in (*numbers_changed(call), *operands_changed(call)):
        yield f"{head} = R.{made}"
    for kin in KIN:
        for name in kin:
            if call.startswith(f"{name}("):
                for other in kin:
                    if other != name:
                        yield f"{head} = R.{other}{call[len(name) :]}"


def mutants(text: str, rng: random.Random, most: int) -> Iterator[str]:
    """Programs that differ in one place."""
    lines = text.splitlines()
    changes: list[tuple[int, list[str]]] = []
    inside = False
    for number, line in enumerate(lines):
        if line.lstrip().startswith("@"):
            inside = "prim_func" in line
        for changed in (loop_changes if inside else call_changes)(line):
            changes.append((number, [changed]))
        following = lines[number + 1] if inside and number + 1 < len(lines) else ""
        if "] = " in line and "] = " in following and indent(line) == indent(following):
            changes.append((number, [following, line]))
    rng.shuffle(changes)
    for number, made in changes[:most]:
        yield "\n".join([*lines[:number], *made, *lines[number + len(made) :]]) + "\n"


def indent(line: str) -> int:
    """The indentation of a line."""
    return len(line) - len(line.lstrip())


def module(text: str) -> ast.IRModule | None:
    """The module of a text in normal form; None if it has errors."""
    found = check_text(text)
    return found.modules[0] if found.ok else None


def in_other_words(text: str) -> Iterator[tuple[str, str]]:
    """The same program: renamed, in another order, and with its operators as loops."""
    yield "renamed", re.sub(r"\b(gv|lv|p)(\d+)\b", r"\1_\2x", text)
    lines = text.splitlines()
    for k, (line, following) in enumerate(pairwise(lines)):
        name, other = (re.match(r"\s+(\w+)(?:: .*)? = R\.", each) for each in (line, following))
        apart = name and other and not re.search(rf"\b{name[1]}\b", following)
        last = [indent(following)] != [
            indent(each) for each in lines[k + 2 : k + 3]
        ]  # a branch ends with its value
        if (
            apart
            and not last
            and indent(line) == indent(following)
            and "match_cast" not in line + following
        ):
            yield "reordered", "\n".join([*lines[:k], following, line, *lines[k + 2 :]]) + "\n"
            break
    before = module(text)
    assert before is not None
    lowered = print_module(legalize(before))
    if lowered != text:
        yield "as loops", lowered


@contextmanager
def proofs_alone() -> Iterator[None]:
    """Answers are those of proofs: no run refutes before one is tried, or says that one is wrong."""
    with patch.object(question, "differing", lambda *args, **options: Searched(None)):
        yield


def of_mutants(
    before: ast.IRModule, after: str, rng: random.Random, most: int, answers: Counter[str]
) -> Iterator[str]:
    """The answers for mutants of AFTER that runs contradict."""
    for mutant in mutants(after, rng, most):
        changed = module(mutant)
        if changed is None:
            answers["mutant has errors"] += 1
            continue
        try:
            with proofs_alone():
                found = compare(before, changed, floats="real")
        except InterfaceError:
            answers["mutant with another interface"] += 1
            continue
        answers[f"mutant {'proved' if found.proved else 'not proved'}"] += 1
        for entry in found.entries if found.proved else ():
            real = found.level == "real"
            searched = differing(
                before, changed, entry, assume=found.promised, runs=MANY, real=real
            )
            example = searched.example
            if example is None:
                continue
            if real and re.search(r"\b(nan|inf)\b", str(example.before)):
                answers["mutant equal as real numbers, where a float is none"] += 1
                continue
            yield f"proved ({found.level}), but {example}\n{before}\n{mutant}"


def of_programs(seeds: Sequence[int], answers: Counter[str], most: int = MUTANTS) -> Iterator[str]:
    """Random programs and mutants of them, answered against what their runs show."""
    for k in seeds:
        text = program(k)
        before = module(text)
        if before is None:
            continue
        forms = {"itself": text}
        for words, other in in_other_words(text):
            same = module(other)
            if same is None:
                yield f"seed {k}: the program {words} has errors\n{other}"
                continue
            again = compare(before, same, floats="real")
            by = " (equal as they stand)" if AS_THEY_STAND in again.explanation else ""
            answers[f"{words} {again.status}{by}"] += 1
            if again.refuted or (not again.proved and words != "as loops"):
                yield f"seed {k}: a program does not refine itself {words}: {again}\n{text}\n{other}"
            if words == "as loops" and again.proved:
                forms[words] = other
        for form in forms.values():
            for found in of_mutants(before, form, random.Random(k), most, answers):
                yield f"seed {k}: {found}"


def of_pairs(folder: Path, seeds: Sequence[int], answers: Counter[str]) -> Iterator[str]:
    """Pairs of a folder whose AFTER is changed in one place, answered against their runs."""
    paths = sorted(folder.glob("*.before.rlx"))
    random.Random(seeds[0]).shuffle(paths)
    for path in paths[: len(seeds)]:
        before = module(path.read_text("utf-8"))
        after = path.with_name(path.name.replace(".before.", ".after.")).read_text("utf-8")
        if before is not None:
            for words in of_mutants(before, after, random.Random(seeds[0]), MUTANTS, answers):
                yield f"{path.name}: {words}"


def main(count: int = 100, seed: int = 0, folder: str = "") -> int:
    """Print the contradictions, and how many pairs there were."""
    answers: Counter[str] = Counter()
    wrong = 0
    seeds = range(seed, seed + count)
    for words in of_pairs(Path(folder), seeds, answers) if folder else of_programs(seeds, answers):
        wrong += 1
        print(words, flush=True)
    print(dict(sorted(answers.items())), f"{wrong} contradictions")
    return wrong > 0


if __name__ == "__main__":
    first, second, third = (*sys.argv[1:4], *("", "", "")[len(sys.argv) - 1 :])
    sys.exit(main(int(first or 100), int(second or 0), third))
