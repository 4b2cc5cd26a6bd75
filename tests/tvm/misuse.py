"""Calls of T., R. and I. with one mistake each: whether rlx reports what TVM 0.27 refuses.

``python -m tests.tvm.misuse [WORD …]`` prints the calls about which the two differ, of the
constructs whose name contains a word. A mistake is an argument that is missing, one too many, one
with an unknown name, one given twice, or a literal of another kind. What rlx warns of counts as
reported.
"""

from __future__ import annotations

import ast
import copy
import faulthandler
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from rlx.checker.check import check_text

from .dialect_law import attempt

IMPORTS = "from tvm.script import ir as I, relax as R, tirx as T\n"
PROGRAMS = Path(__file__).with_name("misuse.txt")
LITERALS = {"a number": "3", "a text": '"nonsense"', "a list": "[3, 3]", "None": "None"} | {
    "a dictionary": "{1: 2}",
    "a fraction": "2.5",
}


def programs() -> list[str]:
    return PROGRAMS.read_text("utf-8").split("----\n")


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func)[:2] in ("T.", "R.", "I.")
    ]


def _mistakes(call: ast.Call) -> Iterator[tuple[str, ast.Call]]:
    """The call with each mistake."""

    def changed(args: list[ast.expr], keywords: list[ast.keyword]) -> ast.Call:
        return ast.Call(call.func, args, keywords)

    args, keywords = call.args, call.keywords
    three = ast.Constant(3)
    yield "an unknown name", changed(args, [*keywords, ast.keyword("foo", three)])
    yield "many more", changed([*args, *[three] * 12], keywords)
    yield "one more", changed([*args, three], keywords)
    for at in range(len(args)):
        yield f"without {at}", changed(args[:at] + args[at + 1 :], keywords)
    for at, given in enumerate(keywords):
        rest = keywords[:at] + keywords[at + 1 :]
        yield f"without {given.arg}", changed(args, rest)
        yield (
            f"{given.arg} misspelt",
            changed(args, [*rest, ast.keyword(f"{given.arg}x", given.value)]),
        )
    for word, text in LITERALS.items():
        literal = ast.parse(text, mode="eval").body
        for at in range(len(args)):
            yield f"{at} is {word}", changed([*args[:at], literal, *args[at + 1 :]], keywords)
        for at, given in enumerate(keywords):
            named = ast.keyword(given.arg, literal)
            yield (
                f"{given.arg} is {word}",
                changed(args, [*keywords[:at], named, *keywords[at + 1 :]]),
            )


def mistaken(program: str) -> Iterator[tuple[str, str, str]]:
    """Head, mistake and text, for each mistake in each call of a program."""
    tree = ast.parse(program)
    for at in range(len(_calls(tree))):
        for word, wrong in _mistakes(_calls(tree)[at]):
            other = copy.deepcopy(tree)
            call = _calls(other)[at]
            call.args, call.keywords = wrong.args, wrong.keywords
            yield ast.unparse(call.func), f"{word}: {ast.unparse(call)}", ast.unparse(other) + "\n"


def refused_by_tvm(texts: list[str]) -> Iterator[bool]:
    """Whether TVM does not read each of them; some mistakes end its process, and another goes on
    behind them.
    """
    done = 0
    while done < len(texts):
        answers, said = os.pipe()
        process = os.fork()
        if not process:
            _answer(texts[done:], said)
        os.close(said)
        with open(answers, "rb", buffering=0) as stream:
            while answer := stream.read(1):
                done += 1
                yield answer == b"0"
        os.waitpid(process, 0)
        if done < len(texts):
            done += 1
            yield True


def _answer(texts: list[str], to: int) -> NoReturn:
    """Write 1 for each text that TVM reads, and 0 for each other, and end the process."""
    try:
        faulthandler.disable()
        for text in texts:
            os.write(to, b"0" if attempt(text)[0] is None else b"1")
    finally:
        os._exit(0)


def reported(text: str) -> tuple[bool, bool]:
    """Whether rlx warns of a text or more, and whether it has errors."""
    found = check_text(IMPORTS + text, "a.py").diagnostics
    severities = {each.severity for each in found}
    return bool(severities & {"error", "warning"}), "error" in severities


def main(words: list[str]) -> int:
    cases = [
        case
        for program in programs()
        for case in mistaken(program)
        if not words or any(word in case[0] for word in words)
    ]
    counts: Counter[str] = Counter()
    refusals = refused_by_tvm([text for _, _, text in cases])
    for (head, mistake, text), refused in zip(cases, refusals, strict=True):
        warns, errors = reported(text)
        counts[
            f"TVM {'refuses' if refused else 'reads'}, rlx {'warns' if warns else 'is silent'}"
        ] += 1
        if (refused and not warns) or (errors and not refused):
            print("silent " if refused else "refused", head, mistake)
    print(dict(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
