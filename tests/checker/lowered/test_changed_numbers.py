"""LAW: a lowered program with one number changed that fails in every run is reported.

``python -m tests.checker.lowered.test_changed_numbers COUNT SEED`` changes that many numbers.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from rlx.checker.check import check_text
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.semantics.machine import load
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Tensor, TupleValue, Value
from rlx.transform.legalization import legalize
from rlx.vm.compilation import STAGES

SIZES = [(2, 3), (3, 5), (4, 2)]
"""The values of n and m in the runs; none is 1, and no run has both equal."""

TEXTS: dict[str, tuple[str, Callable[[int, int], list[Any]]]] = {
    "chain": (
        """
@R.function
def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 6), "float32"), b: R.Tensor((6,), "float32")):
    with R.dataflow():
        a = R.matmul(x, w)
        c = R.add(a, b)
        d = R.nn.relu(c)
        R.output(d)
    return d
""",
        lambda n, m: [(n, 4), (4, 6), (6,)],
    ),
    "turned": (
        """
@R.function
def main(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("m", "n"), "float32")):
    n, m = T.int64(), T.int64()
    with R.dataflow():
        a = R.permute_dims(x)
        b = R.add(a, y)
        c = R.reshape(b, R.shape([n * m]))
        d = R.concat([c, c])
        R.output(b, d)
    return (b, d)
""",
        lambda n, m: [(n, m), (m, n)],
    ),
    "branch": (
        """
@R.function
def main(x: R.Tensor(("n", "m"), "float32"), t: R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("m",), "float32"))):
    n, m = T.int64(), T.int64()
    a = t[0]
    b = t[1]
    c = R.sum(b)
    k = R.greater(c, R.const(0.0, "float32"))
    if k:
        d = R.add(x, b)
    else:
        d = R.multiply(x, x)
    e = R.match_cast(d, R.Tensor((n, m), "float32"))
    f = R.sum(e, axis=[1])
    g = R.add(f, a)
    return g
""",
        lambda n, m: [(n, m), [(n,), (m,)]],
    ),
}
"""Programs, and the shapes of their inputs."""

NUMBERS = re.compile(r"(?<![\w\".])\d+(?![\w\".])")
LINES = re.compile(r'"vm\.builtin\.|R\.(?:vm|memory)\.alloc_')


@cache
def lowered(name: str) -> str:
    """A program behind the stage that makes heaps and checks."""
    module = legalize(parse(TEXTS[name][0]).modules[0])
    for stage in STAGES:
        module = stage()(module)
    return print_module(module)


def value_of(shape: Any) -> Value:
    """A tensor of ones; of a list of shapes, the tuple."""
    if isinstance(shape, list):
        return TupleValue(tuple(map(value_of, shape)))
    return Tensor(np.ones(shape, "float32"))


def fails_always(text: str, name: str) -> bool:
    """Whether a program ends without a value for all sizes."""
    module = parse(text).modules[0]
    for n, m in SIZES:
        args = [value_of(shape) for shape in TEXTS[name][1](n, m)]
        if isinstance(load(module).run("main", args, fuel=100_000), Returned):
            return False
    return True


def changes(text: str) -> Iterator[tuple[str, str]]:
    """The text with each number of the calls that handle memory and shapes changed, and the line."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if not LINES.search(line):
            continue
        bare = re.sub(r"R\.str\(.*\)(?=, \w+_args)", lambda m: "~" * len(m[0]), line)
        for match in NUMBERS.finditer(bare, line.index("= ")):
            for new in {int(match[0]) + 1, int(match[0]) - 1, -4}:
                changed = line[: match.start()] + str(new) + line[match.end() :]
                yield "\n".join([*lines[:at], changed, *lines[at + 1 :]]) + "\n", changed.strip()


def silent(name: str, count: int, choose: random.Random) -> tuple[Counter[str], list[str]]:
    """Changes of a program that fail in every run: how many, and those that nothing is said of."""
    found: Counter[str] = Counter()
    missed: list[str] = []
    every = list(changes(lowered(name)))
    for text, line in choose.sample(every, min(count, len(every))):
        told = any(d.severity != "note" for d in check_text(text).diagnostics)
        if told:
            found["told"] += 1
        elif fails_always(text, name):
            found["silent"] += 1
            missed.append(f"{name}: {line}")
        else:
            found["runs"] += 1
    return found, missed


def test_nothing_is_said_of_the_programs_themselves() -> None:
    for name in TEXTS:
        report = check_text(lowered(name))
        assert [d.code for d in report.diagnostics if d.severity != "note"] == []
        assert not fails_always(lowered(name), name)


def test_what_fails_in_every_run_is_reported() -> None:
    choose = random.Random(29)
    for name in TEXTS:
        found, missed = silent(name, 12, choose)
        assert not missed, "\n".join(missed)
        assert found["told"]


def main(count: int, seed: int) -> int:
    """Change numbers, and print those of which nothing is said."""
    choose, total, wrong = random.Random(seed), Counter[str](), 0
    for name in TEXTS:
        found, missed = silent(name, count, choose)
        total += found
        wrong += len(missed)
        print("\n".join(missed))
    print(dict(total))
    return wrong


if __name__ == "__main__":
    sys.exit(min(1, main(int(sys.argv[1]), int(sys.argv[2]))))
