"""Legal calls with their arguments in other places: every command answers, and an error points into the call.

``python -m tests.hostile.swaps COUNT SEED`` tries so many.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rlx.checker.check import check_text
from rlx.operators.registry import lookup
from tests.tvm.perturb.bases import bases
from tests.tvm.perturb.calls import Argument, OneCall, write

from .every_command import asked, complaint


def moved(call: OneCall) -> Iterator[OneCall]:
    """The call with two arguments exchanged, one given the other way, or one given twice."""
    everything = [*call.args, *(value for _, value in call.attrs)]
    for i in range(len(everything)):
        for j in range(i):
            swapped = list(everything)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            yield _with(call, swapped, f"swap {j} {i}")
    for i, value in enumerate(call.args):
        rest = (*call.args[:i], *call.args[i + 1 :])
        keyword = (_parameter(call.operator, i), value)
        yield replace(call, args=rest, attrs=(keyword, *call.attrs), label=f"by keyword {i}")
        yield replace(call, attrs=(*call.attrs, keyword), label=f"by both ways {i}")
        yield replace(call, args=(*call.args[:i], value, *call.args[i:]), label=f"twice {i}")
    for i, (name, value) in enumerate(call.attrs):
        rest_attrs = (*call.attrs[:i], *call.attrs[i + 1 :])
        yield replace(call, args=(*call.args, value), attrs=rest_attrs, label=f"positional {name}")
        yield replace(call, args=(value, *call.args), attrs=rest_attrs, label=f"first {name}")
        yield replace(call, attrs=(*call.attrs, (name, value)), label=f"twice {name}")


def _with(call: OneCall, values: list[Argument], label: str) -> OneCall:
    count = len(call.args)
    names = [name for name, _ in call.attrs]
    attrs = tuple(zip(names, values[count:], strict=True))
    return replace(call, args=tuple(values[:count]), attrs=attrs, label=label)


def _parameter(operator: str, at: int) -> str:
    """The name of an operator's parameter, or one that it does not have."""
    declared = lookup(f"relax.{operator}")
    names = [p.name for p in declared.parameters] if declared is not None else []
    return names[at] if at < len(names) else f"argument_{at}"


def misplaced(text: str) -> list[str]:
    """The errors in a function of one call that point anywhere else."""
    start = text.index("    y = ") + len("    y = ")
    end = text.index("\n    return y")
    return [
        str(found)
        for found in check_text(text).diagnostics
        if found.is_error and (found.span is None or found.span[0] < start or found.span[1] > end)
    ]


def texts(limit: int) -> list[tuple[str, str]]:
    """The change and the text, for so many legal calls of each operator."""
    made = [(f"{c.operator} {c.label}", write(c).module) for b in bases(limit) for c in moved(b)]
    return made


def wrong(text: str, folder: Path) -> list[str]:
    """The problems with the answers to one text."""
    return [*complaints(text, folder), *misplaced(text)]


def complaints(text: str, folder: Path) -> list[str]:
    """The problems with the answers of the commands that check, write, run and compile."""
    path = folder / "input.rlx"
    path.write_text(text, "utf-8")
    lines = [
        [*words, str(path)]
        for words in (["check"], ["fmt", "--diff"], ["run"], ["step"], ["lower"])
    ]
    return [told for words in lines if (told := complaint(words, asked(words)))]


def main(argv: list[str]) -> int:
    count, seed = int(argv[0]), int(argv[1])
    rng = random.Random(seed)
    made = texts(2)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for label, text in rng.sample(made, min(count, len(made))):
            for problem in wrong(text, Path(folder)):
                bad += 1
                print(f"{label}: {problem}\n{text}")
    print(f"{min(count, len(made))} of {len(made)} calls, {bad} wrong answers")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
