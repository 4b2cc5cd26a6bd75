"""PrimFuncs damaged at random, and what TVM's parser and its check of well-formed functions say of them.

`python -m tests.tvm.prim_mutants COUNT [SEED]` damages that many functions of operators, of schedules and written by hand, compares
with our checker and prints the differences that the table in `prim_mutants.toml` does not explain.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from rlx.checker.check import check_text

TABLE = Path(__file__).with_name("prim_mutants.toml")
_NAME = re.compile(r"(?<![\w.\"])([A-Za-z_]\w*)(?![\w\"])(?!\s*=[^=])(?!\()")
_KEPT = frozenset(
    [
        *("T", "def", "for", "in", "with", "range", "if", "else", "while", "as", "assert"),
        *("and", "or", "not", "True", "False", "None", "return"),
    ]
)
_SUBSCRIPT = re.compile(r"(?<=\w)\[([^\[\]]+)\]")
_WORD = re.compile(r"T\.([a-z_]+)\(")
_TYPE = re.compile(r"(?<=[\"T.])(float16|float32|float64|int8|int32|int64|bool)(?=[\"(])")
_NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\w.])")
_WORDS = (
    *("exp", "sqrt", "max", "min", "Select", "if_then_else", "grid", "serial", "reads"),
    "likely",
)


def _body(lines: Sequence[str]) -> list[int]:
    """The lines of the body."""
    start = next(k for k, line in enumerate(lines) if line.lstrip().startswith("def "))
    return [k for k in range(start + 1, len(lines)) if lines[k].strip()]


def _at(
    rng: random.Random, lines: list[str], pattern: re.Pattern[str], change: Callable[[str], str]
) -> bool:
    """Change one match of a pattern in the body."""
    found = [
        (k, m)
        for k in _body(lines)
        for m in pattern.finditer(lines[k])
        if not lines[k].lstrip().startswith("#") and m[1] not in _KEPT
    ]
    if not found:
        return False
    k, match = rng.choice(found)
    start, end = match.span(1)
    lines[k] = lines[k][:start] + change(match[1]) + lines[k][end:]
    return True


def _misspelt(rng: random.Random, word: str) -> str:
    at = rng.randrange(len(word))
    return rng.choice((word[:at] + word[at] + word[at:], word + "_", word[:at] + "q" + word[at:]))


def rename(rng: random.Random, lines: list[str]) -> bool:
    """One use of a name becomes another name, or is misspelt."""
    names = sorted({m[1] for k in _body(lines) for m in _NAME.finditer(lines[k])} - _KEPT)
    return _at(
        rng,
        lines,
        _NAME,
        lambda word: rng.choice(names) if rng.random() < 0.4 else _misspelt(rng, word),
    )


def _indices(rng: random.Random, text: str) -> str:
    parts = text.split(", ")
    if len(parts) > 1 and rng.random() < 0.5:
        del parts[rng.randrange(len(parts))]
    else:
        parts.insert(rng.randrange(len(parts) + 1), rng.choice((*parts, "0")))
    return ", ".join(parts)


def index(rng: random.Random, lines: list[str]) -> bool:
    """An index is dropped or added."""
    return _at(rng, lines, _SUBSCRIPT, lambda text: _indices(rng, text))


def intrinsic(rng: random.Random, lines: list[str]) -> bool:
    """A word after `T.` is another, or misspelt."""
    return _at(
        rng,
        lines,
        _WORD,
        lambda word: rng.choice(_WORDS) if rng.random() < 0.4 else _misspelt(rng, word),
    )


def data_type(rng: random.Random, lines: list[str]) -> bool:
    """A data type is another."""
    kinds = ("float16", "float64", "int32", "int64", "bool")
    return _at(rng, lines, _TYPE, lambda kind: rng.choice(kinds))


def number(rng: random.Random, lines: list[str]) -> bool:
    """A number is another."""
    return _at(rng, lines, _NUMBER, lambda text: rng.choice(("0", "1", str(int(text) + 1), "1.5")))


def dedent(rng: random.Random, lines: list[str]) -> bool:
    """A statement moves out of what it stands in."""
    deep = [k for k in _body(lines) if lines[k].startswith("        ")]
    if deep:
        at = rng.choice(deep)
        lines[at] = lines[at][4:]
    return bool(deep)


def drop(rng: random.Random, lines: list[str]) -> bool:
    """A line is left out."""
    simple = [k for k in _body(lines) if not lines[k].rstrip().endswith(":")]
    if len(simple) > 1:
        del lines[rng.choice(simple)]
    return len(simple) > 1


def swap(rng: random.Random, lines: list[str]) -> bool:
    """Two statements that follow each other change places."""
    body = _body(lines)
    width = {k: len(lines[k]) - len(lines[k].lstrip()) for k in body}
    pairs = [
        (a, b)
        for a, b in pairwise(body)
        if width[a] == width[b]
        and not lines[a].rstrip().endswith(":")
        and not lines[b].rstrip().endswith(":")
    ]
    if pairs:
        a, b = rng.choice(pairs)
        lines[a], lines[b] = lines[b], lines[a]
    return bool(pairs)


def argument(rng: random.Random, lines: list[str]) -> bool:
    """A subscripted buffer loses its subscript."""
    found = [(k, m) for k in _body(lines) for m in _SUBSCRIPT.finditer(lines[k])]
    if found:
        k, match = rng.choice(found)
        lines[k] = lines[k][: match.start()] + lines[k][match.end() :]
    return bool(found)


MUTATIONS = (rename, rename, index, intrinsic, data_type, number, dedent, drop, swap, argument)


def mutants(bases: Sequence[str], count: int, seed: int) -> Iterator[tuple[str, str]]:
    """So many damaged texts, each with the name of what was done to it."""
    rng = random.Random(seed)
    while count:
        lines = rng.choice(bases).split("\n")
        before, change = list(lines), rng.choice(MUTATIONS)
        if change(rng, lines) and lines != before:
            count -= 1
            yield change.__name__, "\n".join(lines)


class Tvm:
    """TVM in a process of its own: some texts make it crash."""

    def __init__(self) -> None:
        self.process: Any = None

    def refuses(self, text: str) -> str | None:
        """TVM's error for a text, or None."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.tvm.prim_judge"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        try:
            self.process.stdin.write(json.dumps(text) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.close()
            return "crash"
        answer: str | None = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
        self.process = None


def difference(text: str, tvm: Tvm) -> tuple[str, str] | None:
    """Disagreements of TVM and rlx on a text: `silent` with TVM's words, or `stricter` with our codes."""
    refused = tvm.refuses(text)
    found = check_text(text, "f.rlx").diagnostics
    if refused is not None:
        return None if any(d.severity != "note" for d in found) else ("silent", refused)
    errors = sorted({d.code for d in found if d.is_error})
    words = [d.message for d in found if d.is_error][:1]
    return ("stricter", f"{' '.join(errors)}: {words[0]}") if errors else None


def unexplained(kind: str, words: str) -> bool:
    """Whether no entry of the table says why."""
    entries = tomllib.loads(TABLE.read_text(encoding="utf-8")).get(kind, [])
    return not any(re.search(entry["match"], words) for entry in entries)


def bases() -> list[str]:
    """PrimFuncs that TVM makes of operators."""
    from tests.tvm.test_tir import CASES, legalized

    found: list[str] = []
    for expr, parameters in CASES.items():
        module = legalized(expr, parameters)
        for var, function in module.functions_items():
            if type(function).__name__ == "PrimFunc":
                found.append(function.with_attr("global_symbol", var.name_hint).script())
    return found


def every() -> list[str]:
    """The PrimFuncs of operators, those of schedules, and some written by hand, each kind as often as the others."""
    from tests.tvm.prim_scheduled import by_hand, scheduled

    legalized, made, written = bases(), list(scheduled()), by_hand()
    return [*legalized, *made, *written * (len(made) // len(written))]


def main(argv: Sequence[str]) -> int:
    """Compare many; 1 if something is not explained."""
    count, seed = int(argv[0]), int(argv[1]) if len(argv) > 1 else 0
    tvm, total, open_ones = Tvm(), Counter[str](), Counter[str]()
    for name, text in mutants(every(), count, seed):
        found = difference(text, tvm)
        total[found[0] if found else "agree"] += 1
        if found is not None and unexplained(*found):
            key = f"{found[0]} {found[1][:160]}"
            open_ones[key] += 1
            if open_ones[key] <= 2:
                print(f"---- {name}: {key}\n{text}\n")
    tvm.close()
    print(dict(total))
    for key, times in open_ones.most_common():
        print(times, key)
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
