"""``python -m tests.semantics.native.places [COUNT] [--seed N]``: damaged kernels, in steps and natively: value, fault and place.

Random PrimFuncs are printed, one number of the text is changed, and both run what is read back: they end alike, and where they
stop, with one code, at one place of the text, for one reason. Two differences are allowed (E-native): a cast that fails in a loop is
noticed behind it, so another mistake may come first; and fuel for a nest of loops is taken at its start.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rlx.grammar.nodes import ast, tir
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.semantics import native
from rlx.semantics.faults import Stop, UnsupportedStop
from rlx.semantics.tir import evaluate

from .sanitised.batch import Answer, Case
from .sanitised.compare import difference
from .sanitised.sources import generated, nests, programs

_NUMBER = re.compile(r"(?<![\w.\"])(\d+)(?![\w.\"])")
_LATE = frozenset(["E-tir-cast-range", "E-tir-fuel"])
"""Faults that native code may notice later or earlier than the evaluator."""
FUEL = 8_000


def damaged(func: tir.PrimFunc, rng: random.Random) -> tir.PrimFunc | None:
    """The function read from its text, in which one number of the body is another; None where it cannot be read."""
    text = print_module(ast.IRModule({ast.GlobalVar("f"): func}), "0.27")
    body = text.index("):\n") if "):\n" in text else 0
    found = [match for match in _NUMBER.finditer(text) if match.start() > body]
    if found and rng.random() < 0.7:
        match = rng.choice(found)
        other = str(rng.choice((0, 1, int(match[1]) + 1, max(0, int(match[1]) - 1), 40)))
        text = text[: match.start()] + other + text[match.end() :]
    result = parse(text)
    if any(d.is_error for d in result.diagnostics) or not result.modules:
        return None
    [read] = result.modules[0].functions.values()
    assert isinstance(read, tir.PrimFunc)
    return read


def ending(run: Callable[[list[Any]], object], case: Case) -> tuple[Stop | None, Answer]:
    """The end of a run, and the content of its arrays then."""
    args = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in case.args]
    stopped = None
    with np.errstate(all="ignore"):
        try:
            run(args)
        except Stop as stop:
            stopped = stop
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    return stopped, Answer("returned" if stopped is None else stopped.code, arrays)


def compare(case: Case) -> tuple[str, str | None]:
    """The ends of both runs, and the places where they do not agree.

    Raises
    ------
    UnsupportedStop
        If one of them has no meaning or no code for something.
    """
    kernel = native.compile(case.func)
    wanted, expected = ending(lambda args: evaluate(case.func, args, fuel=FUEL), case)
    if isinstance(wanted, UnsupportedStop):
        raise wanted
    if expected.ending == "E-tir-unwritten":  # native code does not notice
        return expected.ending, None
    found, answer = ending(lambda args: kernel(args, FUEL), case)
    if wanted is None or found is None:
        if found is not None and found.code == "E-tir-fuel":
            return "fuel", None
        return expected.ending, difference(case, answer, expected)
    if _LATE & {wanted.code, found.code}:
        return f"{wanted.code} or {found.code}", None
    one, two = ((stop.code, stop.span, stop.message) for stop in (wanted, found))
    return wanted.code, None if one == two else f"in steps {one}, natively {two}"


def cases(seed: int) -> Iterator[Case]:
    """Damaged functions of all kinds with arguments; endless."""
    rng = random.Random(seed)
    sources = [nests(seed), programs(seed), generated(seed)]
    while True:
        case = next(rng.choice(sources))
        func = damaged(case.func, rng)
        if func is not None and len(func.params) == len(case.func.params):
            yield Case(func, case.args, case.label)


def main() -> int:
    """Compare as many as the command line says; 1 if some do not agree."""
    parser = argparse.ArgumentParser(prog="python -m tests.semantics.native.places")
    parser.add_argument("count", type=int, nargs="?", default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    endings: Counter[str] = Counter()
    failures = 0
    for case in cases(options.seed):
        try:
            how, wrong = compare(case)
        except UnsupportedStop:
            continue
        endings[how] += 1
        if wrong is not None:
            failures += 1
            text = print_module(ast.IRModule({ast.GlobalVar("f"): case.func}), "0.27")
            print(f"{case.label}: {wrong}\n{text}\n", flush=True)
        if endings.total() >= options.count:
            break
    print(", ".join(f"{how} {count}" for how, count in endings.most_common()))
    print(f"failures: {failures}")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
