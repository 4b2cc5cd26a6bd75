"""`rlx generate`: random legal programs."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from rlx.commands.outputs import add_format, print_record
from rlx.generate.programs.plan import FEATURES, NEEDS, Options
from rlx.grammar.command_line import CommandParser, integer, positive
from rlx.grammar.dialects import DEFAULT, DIALECTS, SPAN
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.stack import roomy
from rlx.grammar.streams import say_line, write_program
from rlx.writing import make_folder, write

EPILOG = f"""\
Each program has its own seed: the first has --seed, the next has the number after it. The same seed always gives the
same program, alone or among others.

features: {" ".join(sorted(FEATURES)[:9])}
          {" ".join(sorted(FEATURES)[9:])}

exit status: 0 all is well; 2 wrong usage, or a file that cannot be written."""


@roomy
def main(argv: Sequence[str], prog: str = "rlx generate") -> int:
    """Run the command, and return the exit status."""
    parser = _parser(prog)
    given = parser.parse_args(argv)
    operators = tuple(_operator(name, parser) for name in given.operators or ())
    # A feature that builds on another goes with it.
    without = set(given.without)
    without |= {feature for feature, needed in NEEDS.items() if needed in without}
    features = frozenset(FEATURES if given.features is None else given.features) - without
    if given.near:
        features -= {"nested"}  # calls in calls have no place of their own for the mistake
    options = Options(given.size, features, operators)
    texts = ((module.name, _text(module, given)) for module in _modules(given, options))
    as_data = given.format == "json"
    programs: list[dict[str, str | None]] = []
    folder = None if given.out is None else make_folder(given.out)
    if folder is None and not as_data:
        for place, (_, text) in enumerate(texts):
            write_program(f"\n{text}" if place else text)
            sys.stdout.flush()  # so that a reader has each one when it is made
        return 0
    for name, text in texts:
        path = None if folder is None else folder / f"{name.lower()}.rlx"
        if folder is not None and path is not None:
            write(path, text, within=[folder])
            if not as_data:
                say_line(f"{path}")
        programs.append({"name": name, "path": None if path is None else str(path), "text": text})
    if as_data:
        print_record(seed=given.seed, programs=programs)
    return 0


def _modules(given: argparse.Namespace, options: Options) -> Iterator[IRModule]:
    """The programs, each under a name of its own."""
    from rlx.generate.near import near_miss
    from rlx.generate.programs import random_module
    from rlx.grammar.nodes.node import replace

    for seed in range(given.seed, given.seed + given.count):
        rng = random.Random(seed)
        if given.near:
            module = near_miss(given.near, rng, options)
        else:
            module = random_module(rng, options)
        yield replace(module, name=f"Program{seed}".replace("-", "M"))


def _text(module: IRModule, given: argparse.Namespace) -> str:
    from rlx.grammar.print.printer import print_module

    return print_module(module, given.dialect)


def _operator(name: str, parser: argparse.ArgumentParser) -> str:
    from rlx.generate.strategies import operator_name

    try:
        return operator_name(name.removeprefix("R."))
    except ValueError as error:
        parser.error(f"argument --operators: {error}")


def _features(text: str) -> list[str]:
    return [_one_of(name.strip(), FEATURES, "feature") for name in text.split(",") if name.strip()]


def _code(text: str) -> str:
    from rlx.generate.near import CODES

    return _one_of(text, CODES, "code of a mistake that rlx can generate")


def _one_of(name: str, known: Sequence[str] | frozenset[str], what: str) -> str:
    if name in known:
        return name
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(sorted(known))}"
    raise argparse.ArgumentTypeError(f"expected a {what}, found {name!r}{hint}")


_LARGEST = 100_000
"""Bindings of a program."""


def _size(text: str) -> int:
    size = positive(text)
    if size > _LARGEST:
        raise argparse.ArgumentTypeError(f"expected at most {_LARGEST}, found {size}")
    return size


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = CommandParser(
        prog=prog,
        description="Print random programs that are legal by construction.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add(
        "-n",
        "--count",
        type=positive,
        default=1,
        metavar="N",
        help="the number of programs (default: 1)",
    )
    add(
        "--seed",
        type=integer,
        default=0,
        metavar="S",
        help="the seed of the first program (default: 0)",
    )
    add(
        "--size",
        type=_size,
        default=10,
        metavar="N",
        help="the approximate number of bindings of each program (default: 10)",
    )
    add(
        "--dialect",
        default=DEFAULT,
        choices=list(DIALECTS),
        metavar="VERSION",
        help=f"the version of TVM whose syntax to print: {SPAN} (default: {DEFAULT})",
    )
    add(
        "--features",
        type=_features,
        metavar="NAMES",
        help="the features that may occur, separated by commas",
    )
    add(
        "--without",
        type=_features,
        default=(),
        metavar="NAMES",
        help="the features that must not occur",
    )
    add(
        "--operators",
        type=_names,
        metavar="NAMES",
        help="the operators to use, such as nn.relu,add",
    )
    add(
        "--near",
        type=_code,
        metavar="CODE",
        help="generate programs with exactly this mistake, such as WF02-undefined",
    )
    add("-o", "--out", metavar="DIR", help="write each program to a file in this folder")
    add_format(parser)
    return parser
