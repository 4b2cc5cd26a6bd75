"""`python -m rlx.spec`: the rules with their hashes, and what is wrong with them.

`html OUT` writes the specification as pages into a folder, `--write` makes the tables of
`spec/README.md`; `--coverage` and `--gate` show a test run's coverage.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rlx.spec.blocks import README, problems, readme
from rlx.spec.coverage import Coverage, gate, table
from rlx.spec.reader import rules
from rlx.spec.registry import implementations, register_all


def main(argv: Sequence[str]) -> int:
    """Print what was asked for; 1 if the gate is shut or a registration does not fit."""
    if argv and argv[0] in ("--coverage", "--gate"):
        coverage = Coverage.read()
        if argv[0] == "--coverage":
            print(table(coverage))
        missing = gate(coverage)
        for problem in missing:
            print(problem, file=sys.stderr)
        return 1 if missing else 0
    if argv and argv[0] == "html":
        return _html(argv[1:])
    if argv and argv[0] == "--write":
        README.write_text(readme(), encoding="utf-8")
        return 0
    register_all()
    wrong = 0
    for name, rule in rules().items():
        known = implementations.get(name, [])
        state = (
            "missing" if not known else "twice" if len(known) > 1 else known[0].function.__module__
        )
        if known and known[0].clause != rule.clause:
            state += f" (registered for {known[0].clause})"
        wrong += len(known) != 1 or known[0].clause != rule.clause
        judgement = repr(rule.block.judgement) if rule.block else "-"
        print(f"{name:<22}{rule.clause}  {judgement:<24}{state:<42} {', '.join(rule.premises)}")
    for name in implementations.keys() - rules().keys():
        wrong += 1
        print(f"{name:<22}no heading")
    for problem in problems():
        wrong += 1
        print(problem, file=sys.stderr)
    return 1 if wrong else 0


def _html(argv: Sequence[str]) -> int:
    """Write the pages; 2 if no folder is given, or what makes them is not installed."""
    if len(argv) != 1 or argv[0].startswith("-"):
        print("usage: python -m rlx.spec html OUT", file=sys.stderr)
        return 2
    try:
        from rlx.spec.html import build
    except ModuleNotFoundError as error:
        print(f"{error}: the pages need the extra `docs`, as in rlx[docs]", file=sys.stderr)
        return 2
    folder = Path(argv[0])
    written = build(folder)
    print(f"{len(written)} files in {folder}; begin at {folder / 'index.html'}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:  # a reader that has gone away (`| head`) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
