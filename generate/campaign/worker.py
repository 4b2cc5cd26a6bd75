"""A worker process of a campaign: `python -m rlx.generate.campaign.worker ORACLE AGAINST [MEMORY]`.

Tasks come on standard input, each a line of JSON: a seed, the program's text where it is not
the seed's own, and when the time is up. The answers are lines of JSON on the descriptor that standard output had at the
start: what is under way is said before it is begun, so that a process that dies has named its
program and stage.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Sequence

from rlx.generate.campaign.child import answers, end_with_parent
from rlx.grammar.command_line import CommandParser, natural
from rlx.semantics.live_memory import limited

Say = Callable[..., None]


def main(argv: Sequence[str]) -> None:
    """Serve until the input ends."""
    parser = CommandParser(
        prog="python -m rlx.generate.campaign.worker",
        description="Examine random programs, for `rlx fuzz`.",
    )
    parser.add_argument("oracle", metavar="ORACLE")
    parser.add_argument("against", metavar="AGAINST", choices=("", "tvm"))
    parser.add_argument("memory", metavar="MEMORY", type=natural, nargs="?")
    options = parser.parse_args(argv)
    end_with_parent()
    with limited(options.memory):
        _serve(options.oracle, options.against)


def _serve(oracle_name: str, against: str) -> None:
    say = answers()
    from rlx.generate.campaign.oracles import named
    from rlx.generate.campaign.oracles.case import Case, TimeIsUp, raised
    from rlx.generate.campaign.programs import program
    from rlx.spec.coverage import RuleCounts
    from rlx.spec.registry import observing

    oracle = named(oracle_name)
    say(ready=True)
    for line in sys.stdin:
        task = json.loads(line)
        seed, text, reached = task["seed"], task["text"], set[str]()
        counts = RuleCounts()
        with observing(counts):
            if text is None:
                text, reached = program(seed, oracle_name, against)
            say(text=text)
            deadline = math.inf if task["until"] is None else task["until"]
            case = Case(text, seed, against, lambda stage: say(stage=stage), task["only"], deadline)
            try:
                found = oracle(case)
            except TimeIsUp:
                found = case.findings
            except Exception as error:  # noqa: BLE001 - this tool's own mistake: the campaign goes on
                case.begin(f"{case.stage}, by this tool")
                found = [case.found("crash", oracle_name, raised(error))]
        say(
            done=seed,
            findings=[finding.record() for finding in found],
            operators=sorted(reached),
            rules=sorted(counts.applied),
        )


if __name__ == "__main__":
    main(sys.argv[1:])
