"""Every token of a program counts: changes that leave no trace.

``nice python -m tests.grammar.parse.every_token [COUNT] [SEED]`` tries many and prints those found.
"""

from __future__ import annotations

import argparse
import ast
import io
import random
import re
import sys
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rlx.checker.check import check_text
from rlx.generate.programs import Options, random_module
from rlx.grammar.print.formatting import format_text
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from tests.grammar.parse.python_definitions import definitions

EXAMPLES = Path(__file__).parents[3] / "examples"
_LAYOUT = (
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
)


class Change(NamedTuple):
    """A text in which one token is another, or none."""

    kind: str
    token: str
    line: int
    text: str


def examples() -> Iterator[tuple[str, str]]:
    """The programs of the folder ``examples``, old dialects included."""
    for path in sorted(EXAMPLES.rglob("*.rlx")):
        if "broken" not in path.parts and "relay" not in path.parts:
            yield str(path.relative_to(EXAMPLES)), path.read_text("utf-8")


def generated(count: int) -> Iterator[tuple[str, str]]:
    """Random programs."""
    for seed in range(count):
        version = ["0.16", "0.24", "0.27"][seed % 3]
        yield (
            f"generated-{seed}.rlx",
            print_module(random_module(random.Random(seed), Options(8)), version),
        )


def of_tvm() -> Iterator[tuple[str, str]]:
    """The outer definitions in the Python files of TVM, each as a text of its own."""
    import tvm

    folder = Path(tvm.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text("utf-8")
        if "prim_func" not in text and "R.function" not in text and "ir_module" not in text:
            continue
        lines = text.split("\n")
        found = {definition.line for definition in definitions(text)}
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.lineno in found:
                start = min(decorator.lineno for decorator in node.decorator_list)
                name = f"{path.relative_to(folder)}:{node.name}"
                yield name, "\n".join([*lines[start - 1 : node.end_lineno], ""])


def changes(text: str, draw: random.Random) -> Iterator[Change]:
    """Each token of a text deleted, doubled, exchanged with the next, or replaced."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in _LAYOUT
    ]
    spans = [(starts[t.start[0] - 1] + t.start[1], starts[t.end[0] - 1] + t.end[1]) for t in tokens]
    names = sorted({t.string for t in tokens if t.type == tokenize.NAME})
    for at, (token, (start, end)) in enumerate(zip(tokens, spans, strict=True)):
        behind, stop = text[end:], end
        new = {"delete": "", "double": f"{token.string} {token.string}"}
        if at + 1 < len(tokens):
            begin, stop = spans[at + 1]
            new["exchange"] = f"{tokens[at + 1].string}{text[end:begin]}{token.string}"
        if token.type == tokenize.NAME:
            new |= {"rename": f"{token.string}_z", "another name": draw.choice(names)}
        elif token.type == tokenize.NUMBER:
            new["number"] = draw.choice(["7", "-1", "1.5", f"1{token.string}"])
        elif token.type == tokenize.STRING:
            quote = token.string[-1]
            new["string"] = f"{quote}z{token.string.strip(quote)}{quote}"
        elif token.type == tokenize.OP:
            new["operator"] = draw.choice([*"+-*/%=:.,@<>()[]", "//", "==", "->"])
        for kind, word in new.items():
            rest = text[stop:] if kind == "exchange" else behind
            yield Change(kind, token.string, token.start[0], text[:start] + word + rest)


def python(text: str) -> str | None:
    """The program as Python's parser reads it; None if it does not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.dump(ast.parse(text))
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None


def traces(text: str, path: str) -> tuple[object, ...]:
    """Everything that a user sees of a text: its tree, its form in fmt, and what is reported."""
    said = [(d.code, d.severity, d.message) for d in check_text(text, path).diagnostics]
    if any(severity == "error" for _, severity, _ in said):
        return (said,)
    tree = [print_module(module) for module in parse(text, path).modules]
    return (said, tree, format_text(text, path).text)


DECLARATION = re.compile(r"\s*\w+(, \w+)* = (\w+$|(T\.\w+|TypeVar)\()")
"""`cls = Module`, `n, m = T.int64(), T.int64()`"""


def means_the_same(before: str, after: str) -> bool:
    """Whether a changed line is another spelling, not another program.

    A sequence of one and its only item are the same shape, arguments or types; ``"float32"`` is the
    element type of a buffer without one, and ``True`` the purity of a type of functions; a sign
    ``+`` does nothing.
    """
    for line in (before, after):
        if line.startswith(("from ", "import ")):
            return True  # a Relax text has no imports: they are its header, like a comment
    if DECLARATION.match(before) and DECLARATION.match(after):
        return True  # of a name that nothing uses, or that a signature declares
    return _plain(before) == _plain(after)


def _plain(line: str) -> str:
    """A line without what means nothing."""
    line = re.sub(r"(, (\"float32\"|True|_)(?=,? *[\])]))", "", line.replace("relax.", "R."))
    return re.sub(r"[\s(),]", "", re.sub(r"(?<=[-+*/=(,])\s*\+", "", line))


class Silent(NamedTuple):
    """A change that leaves no trace."""

    program: str
    change: Change


def silent(name: str, text: str, chosen: Sequence[Change], path: str = "a.rlx") -> Iterator[Silent]:
    """The changes of a program that change it to Python, and nothing that a user sees."""
    before, tree, lines = traces(text, path), python(text), text.split("\n")
    assert len(before) > 1, f"{name} has errors"
    for change in chosen:
        changed = change.text.split("\n")[change.line - 1]
        if means_the_same(lines[change.line - 1], changed) or python(change.text) == tree:
            continue
        if traces(change.text, path) == before:
            yield Silent(name, change)


def main() -> int:
    """Try many changes, and print those that leave no trace; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", nargs="?", type=int, default=50)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--of", choices=["examples", "generated", "tvm"], default="examples")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    programs = {"examples": examples(), "tvm": of_tvm(), "generated": generated(30)}
    number = lost = 0
    for name, text in programs[options.of]:
        every = list(changes(text, draw))
        chosen = draw.sample(every, min(options.count, len(every)))
        number += len(chosen)
        for _, change in silent(name, text, chosen):
            lost += 1
            line = change.text.split("\n")[change.line - 1]
            print(f"{name}:{change.line}: {change.kind} {change.token!r}: {line}", flush=True)
    print(f"{number} changes, {lost} without a trace", file=sys.stderr)
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
