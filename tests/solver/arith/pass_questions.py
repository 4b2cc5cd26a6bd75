"""Questions in the style of TVM, JAX, Triton and tinygrad, of which Python says which are true.

Usage: ``python -m tests.solver.arith.pass_questions`` asks all questions of `pass_questions.txt`, over all integers and
within int64, and prints what is open, and each proof that is unchecked. The exit status is 1 if an answer is wrong.
"""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from rlx.solver import Verdict, prove
from rlx.solver.proofs.checker import check

FILE = Path(__file__).with_suffix(".txt")
_SMALL = (0, 1, 2, 3, 4, 5, 7, 8, 12)
_WIDTHS = (2, 3, 4, 5, 7, 10, 20, 40, 62, 63)
_SAMPLES = 4000
_WORD = range(-(2**63), 2**63)


class PassQuestion(NamedTuple):
    """A goal, its facts, and the variables that may be negative."""

    goal: str
    facts: list[str]
    signed: list[str]


class UndefinedValueError(Exception):
    """A divisor is 0, or a number is shifted by more bits than it has."""


class TooWideError(Exception):
    """A value does not fit into int64."""


def questions() -> list[PassQuestion]:
    """The questions of the file."""
    found = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            goal, _, rest = line.partition(";;")
            facts, _, signed = rest.partition("~")
            each = [fact.strip() for fact in facts.split(" ; ") if fact.strip()]
            found.append(PassQuestion(goal.strip(), each, signed.split()))
    return found


def _truncdiv(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _shift(shift: Any, a: int, k: int) -> int:
    if k not in range(64):
        raise UndefinedValueError
    return int(shift(a, k))


_OPERATIONS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: lambda a, k: _shift(operator.lshift, a, k),
    ast.RShift: lambda a, k: _shift(operator.rshift, a, k),
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_CALLS: dict[str, Any] = {
    "min": min,
    "max": max,
    "floordiv": operator.floordiv,
    "floormod": operator.mod,
    "truncdiv": _truncdiv,
    "truncmod": lambda a, b: a - b * _truncdiv(a, b),
    "select": lambda c, a, b: a if c else b,
    **{f"int{n}": lambda x, n=n: (x + 2 ** (n - 1)) % 2**n - 2 ** (n - 1) for n in (8, 16, 32)},
    **{f"uint{n}": lambda x, n=n: x % 2**n for n in (8, 16, 32)},
}


def value(node: ast.expr, point: dict[str, int], int64: bool) -> Any:
    """The value of an expression; with ``int64`` each value in it must fit.

    Raises
    ------
    UndefinedValueError, TooWideError
        If there is none.
    """
    match node:
        case ast.Name(id=name):
            return point[name]
        case ast.Constant(value=number):
            return number
        case ast.BoolOp(op=kind, values=parts):
            for part in parts:
                found = value(part, point, int64)
                if bool(found) is isinstance(kind, ast.Or):
                    break
            return found
        case ast.BinOp(left=a, op=kind, right=b) | ast.Compare(left=a, ops=[kind], comparators=[b]):
            operation, operands = _OPERATIONS[type(kind)], [a, b]
        case ast.UnaryOp(op=kind, operand=a):
            operation, operands = _OPERATIONS[type(kind)], [a]
        case ast.Call(func=ast.Name(id=name), args=operands):
            operation = _CALLS[name]
        case _:
            raise ValueError(ast.dump(node))
    try:
        found = operation(*(value(each, point, int64) for each in operands))
    except ZeroDivisionError as error:
        raise UndefinedValueError from error
    if int64 and found not in _WORD:
        raise TooWideError
    return found


@cache
def parsed(text: str) -> ast.expr:
    """The tree of a condition."""
    return ast.parse(text, mode="eval").body


def refutes(question: PassQuestion, point: dict[str, int], int64: bool) -> bool:
    """Whether values satisfy the facts and make the goal false, or too wide for int64."""
    try:
        if not all(value(parsed(fact), point, False) for fact in question.facts):
            return False
        holds = value(parsed(question.goal), point, False)
        return not (holds and value(parsed(question.goal), point, int64))
    except UndefinedValueError:
        return False
    except TooWideError:
        return True


def points(question: PassQuestion) -> Iterator[dict[str, int]]:
    """All small values of few variables, and random ones."""
    rng = Random(question.goal)
    trees = map(parsed, (question.goal, *question.facts))
    used = {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names = sorted(used - _CALLS.keys())
    signs = {name: (1, -1) if name in question.signed else (1,) for name in names}
    if len(names) <= 2:
        both = ([sign * each for sign in signs[n] for each in _SMALL] for n in names)
        yield from (dict(zip(names, each, strict=True)) for each in product(*both))
    for _ in range(_SAMPLES):
        width = rng.choice(_WIDTHS)
        yield {n: rng.choice(signs[n]) * rng.getrandbits(rng.randint(1, width)) for n in names}


def wrong(question: PassQuestion, int64: bool) -> tuple[Verdict, bool]:
    """The answer, and whether Python contradicts it."""
    verdict = prove(question.goal, question.facts, dict.fromkeys(question.signed), int64=int64)
    if verdict.refuted:
        return verdict, not refutes(question, dict(verdict.counterexample or {}), int64)
    false = verdict.proved and any(refutes(question, each, int64) for each in points(question))
    return verdict, false


def main() -> int:
    """Ask, and print what is open or wrong."""
    bad = 0
    for int64 in (False, True):
        counts = {"proved": 0, "unchecked": 0, "refuted": 0, "unknown": 0}
        for question in questions():
            verdict, false = wrong(question, int64)
            bad += false
            kind = verdict.status
            if verdict.proved:
                certificate = verdict.certificate  # type: ignore[attr-defined]
                kind = "unchecked" if isinstance(certificate["proof"], str) else kind
                if kind == "proved":
                    check(certificate)
            counts[kind] += 1
            if false or kind in ("unchecked", "unknown"):
                print(
                    f"{'WRONG ' * false}{kind}, int64={int64}: {question.goal} | {question.facts}"
                )
        print(f"int64={int64}: {counts}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
