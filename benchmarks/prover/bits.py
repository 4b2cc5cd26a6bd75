"""Questions with bit operations, judged by an oracle that shares nothing with the prover.

Usage: ``python -m benchmarks.prover.bits [FILE …]`` asks the questions of `bits_identities.txt` and
`bits_falsehoods.txt`, or those of other files of their format, whose truth the oracle then decides. Python evaluates each
question: at all small values, and at random ones of up to 63 bits. The exit status is 1 if an answer is wrong.
"""

from __future__ import annotations

import ast
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import CodeType
from typing import Any

from benchmarks.prover.families import BITS, GIVEN, FamilyQuestion, cases, read
from rlx.solver import prove

_WORD = re.compile(r"\b(?!0x)[a-z_]\w*\b")
_SMALL = (0, 1, 2, 3, 5, 8, 15, 16)
_BITS = 63


def _wrapped(bits: int, signed: bool, value: int) -> int:
    low = 1 << (bits - 1) if signed else 0
    return (value + low) % (1 << bits) - low


def _truncdiv(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _shift(left: bool, value: int, amount: int) -> int:
    if amount not in range(64):
        raise ValueError("a number is shifted by more bits than it has")
    return value << amount if left else value >> amount


class _Shifts(ast.NodeTransformer):
    """Calls :func:`_shift`, so that no huge number is made."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, (ast.LShift, ast.RShift)):
            left = ast.Constant(isinstance(node.op, ast.LShift))
            return ast.Call(ast.Name("_shift", ast.Load()), [left, node.left, node.right], [])
        return node


_CALLS: dict[str, Any] = {
    "_shift": _shift,
    "min": min,
    "max": max,
    "truncdiv": _truncdiv,
    "select": lambda c, a, b: a if c else b,
    **{f"int{n}": lambda x, n=n: _wrapped(n, True, x) for n in (8, 16, 32)},
    **{f"uint{n}": lambda x, n=n: _wrapped(n, False, x) for n in (8, 16, 32)},
}
_WORDS = {*_CALLS, "and", "or", "not"}


def refutation(goal: str, assume: Sequence[str]) -> Callable[[Mapping[str, int]], bool]:
    """A function that says whether values satisfy the assumptions and make the goal false."""
    compiled, *facts = map(_compiled, (goal, *assume))

    def refutes(point: Mapping[str, int]) -> bool:
        known = {"__builtins__": {}, **_CALLS, **point}
        try:
            return all(eval(fact, known) for fact in facts) and not eval(compiled, known)
        except (ZeroDivisionError, ValueError):
            return False

    return refutes


def oracle(case: FamilyQuestion, samples: int = 4000) -> bool:
    """Whether a question holds at all points that are tried."""
    names = sorted({*_WORD.findall(" ".join((case.goal, *case.assume)))} - _WORDS)
    return not any(
        map(refutation(case.goal, case.assume), _points(names, samples, random.Random(case.goal)))
    )


def _compiled(text: str) -> CodeType:
    tree = ast.fix_missing_locations(_Shifts().visit(ast.parse(_unsigned(text), mode="eval")))
    return compile(tree, "question", "eval")


def _unsigned(text: str) -> str:
    """The complement of an unsigned number has its width."""
    return re.sub(r"~uint(\d+)\(", r"((1 << \1) - 1) - uint\1(", text)


def _points(names: list[str], samples: int, rng: random.Random) -> Iterator[dict[str, int]]:
    exponents = {name for name in names if name == "k"}
    if len(names) <= 3:
        for values in product(_SMALL, repeat=len(names)):
            yield dict(zip(names, values, strict=True))
    for _ in range(samples):
        wide = rng.choice((3, 4, 5, 8, 16, 33, _BITS))
        point = {name: rng.getrandbits(rng.randint(1, wide)) for name in names}
        for name in exponents:
            point[name] = rng.randrange(_BITS)
        if names and rng.random() < 0.1:
            point[rng.choice(names)] = 1 << rng.randrange(_BITS)
        yield point


def main() -> int:
    """Ask, and print what is open or wrong."""
    files = sys.argv[1:]
    questions = [
        FamilyQuestion(each.family, each.goal, each.assume, oracle(each))
        for file in files
        for each in read(Path(file).read_text(encoding="utf-8"), True, GIVEN)
    ]
    counts: Counter[tuple[bool, str]] = Counter()
    means: Counter[str] = Counter()
    times: list[float] = []
    for case in questions or cases(BITS):
        started = time.process_time()
        verdict = prove(case.goal, case.assume)
        times.append(time.process_time() - started)
        counts[case.truth, verdict.status] += 1
        means[getattr(verdict, "means", "unknown").partition(":")[0]] += verdict.status == "proved"
        if verdict.status != ("proved" if case.truth else "refuted"):
            print(f"{case.truth} but {verdict}: {case.goal} | {'; '.join(case.assume)}")
    times.sort()
    for (truth, status), count in sorted(counts.items()):
        print(f"{'true' if truth else 'false':6} {status:8} {count:5}")
    print(", ".join(f"{count} by {name}" for name, count in means.items() if count))
    print(f"median {times[len(times) // 2] * 1e3:.2f} ms, slowest {times[-1]:.2f} s")
    return int(counts[True, "refuted"] + counts[False, "proved"] > 0)


if __name__ == "__main__":
    sys.exit(main())
