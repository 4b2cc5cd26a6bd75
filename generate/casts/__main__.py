"""The long run: ``python -m rlx.generate.casts --programs 100000 --seed 1``."""

from __future__ import annotations

import sys
from random import Random

from rlx.generate.casts.law import examine
from rlx.generate.casts.programs import program
from rlx.grammar.command_line import CommandParser, integer, natural


def main(arguments: list[str] | None = None) -> int:
    """Examine programs until one breaks the law; the exit code says whether one did."""
    parser = CommandParser(prog="python -m rlx.generate.casts")
    parser.add_argument("--programs", type=natural, default=1000, help="how many legal programs")
    parser.add_argument("--seed", type=integer, default=0, help="seed for the programs and inputs")
    options = parser.parse_args(arguments)
    choose = Random(options.seed)
    legal = made = runs = casts = removed = 0
    broken = 0
    while legal < options.programs:
        made += 1
        text = program(choose)
        verdict = examine(text, choose)
        legal += verdict.legal
        runs, casts = runs + verdict.runs, casts + verdict.casts
        removed += verdict.removed
        if verdict.broken:
            broken += 1
            print(f"{verdict.broken}\n{text}", file=sys.stderr)
    print(
        f"{made} programs, {legal} legal, {removed} redundant checks, {runs} runs, "
        f"{casts} casts reached: {broken} unsound"
    )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
