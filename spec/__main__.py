"""`python -m rlx.spec`: lists the rules with their judgements, and the mistakes in them."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from rlx.spec.blocks import README, problems, readme
from rlx.spec.coverage import Coverage, gate, table
from rlx.spec.reader import Rule, rules
from rlx.spec.registry import implementations, register_all
from rlx.writing import write


def main(argv: Sequence[str]) -> int:
    """Print the requested lists; 1 if the gate is shut or a registration does not fit."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.write:
        write(README, readme())
        return 0
    if options.coverage or options.gate:
        try:
            coverage = Coverage.read()
        except FileNotFoundError:
            parser.error("run the tests with `-p rlx.spec.plugin` first")
        if options.coverage:
            print(table(coverage))
        return _shut(gate(coverage))
    register_all()
    fits = [_listed(rule) for rule in rules().values()]
    strange = implementations.keys() - rules().keys()
    for name in strange:
        print(f"{name:<22}no heading")
    return _shut(problems()) or int(bool(strange) or not all(fits))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m rlx.spec",
        description="List the rules, and what is wrong with them.",
        allow_abbrev=False,
    )
    add = parser.add_mutually_exclusive_group().add_argument
    add("--write", action="store_true", help="write the tables of spec/README.md")
    add("--coverage", action="store_true", help="show the rules that a run of the tests covered")
    add("--gate", action="store_true", help="show only those that it did not cover")
    return parser


def _listed(rule: Rule) -> bool:
    """Print a rule; whether one function is registered for it."""
    known = implementations.get(rule.identifier, [])
    match known:
        case []:
            state = "missing"
        case [only]:
            state = only.function.__module__
        case _:
            state = "twice"
    judgement = repr(rule.block.judgement) if rule.block else "-"
    premises = ", ".join(rule.premises)
    print(f"{rule.identifier:<22}{judgement:<24}{state:<42} {premises}")
    return len(known) == 1


def _shut(problems: Sequence[str]) -> int:
    """Print the problems; 1 if there are any."""
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:  # a reader that has gone away (`| head`) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
