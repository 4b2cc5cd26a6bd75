"""`rlx fuzz`: random programs before an oracle, findings into files."""

from __future__ import annotations

import argparse
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from textwrap import shorten

from rlx.commands.os_errors import words_of
from rlx.commands.outputs import add_format, print_record
from rlx.generate.campaign.campaign import LocalWorkers, campaign
from rlx.generate.campaign.draft import draft
from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.finding_file import (
    EntryError,
    FindingFile,
    read_entries,
    read_legible,
    unused,
    write_entry,
)
from rlx.generate.campaign.index import write_page_of
from rlx.generate.campaign.known_causes import explanation
from rlx.generate.campaign.oracles.own import OwnOracleError, function_of
from rlx.generate.campaign.processes import PATIENCE, Worker
from rlx.generate.campaign.shrinking import SECONDS, reduce
from rlx.generate.campaign.state import CampaignState, ChunkResult
from rlx.grammar.command_line import CommandParser, integer, positive
from rlx.grammar.stack import roomy
from rlx.grammar.streams import (
    CARRIAGE_RETURN,
    complain,
    complain_line,
    own,
    say,
    say_line,
    visible,
)
from rlx.semantics.run.options import add_memory
from rlx.writing import make_folder, write

NOTHING, FOUND = 0, 1

KNOWN = "findings"
"""The default folder of known findings; there need not be one."""

OUT = Path(".rlx", "fuzz")
"""The default folder of findings; git ignores it."""


class _Oracles(tuple[str, ...]):
    """The names that `--oracle` takes, and any other with a colon."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and ":" in name)


ORACLES = _Oracles(("check", "derive", "run", "passes", "roundtrip", "refine"))

EPILOG = """\
Oracles: check (legal programs are accepted), derive (types agree with the rules), run (values agree with the
rules), passes (every pass preserves legality and meaning), roundtrip (a printed program reads back), refine (no pass is
refuted for any size, and sums of whole numbers are exact).
my_module:function, or my_file.py:function, is your own oracle. It is called with one rlx.IRModule at a time. It rejects
a program if it raises an exception, or returns a string or False.
A campaign continues an earlier one with the same --out, --seed and oracle. A finding is new if no file below --known or
--out explains it. Each new cause becomes one file, KIND/STAGE-WHAT.rlx.

exit status: 0 nothing new was found; 1 new findings; 2 wrong usage."""


@roomy
def main(argv: Sequence[str], prog: str = "rlx fuzz") -> int:
    """Run the command, and return the exit status."""
    started = time.monotonic()
    parser = _parser(prog)
    options = parser.parse_args(argv)
    _refuse_what_is_missing(parser, options)
    folder = _folder(options.out, parser)
    oracle = re.sub(r"[^\w.-]+", "-", options.oracle)
    name = f"campaign-{oracle}-{options.against or 'alone'}-{options.seed}.json"
    try:
        known = Path(options.known or KNOWN)
        table = [] if known == folder else read_entries(known)
    except EntryError as error:
        parser.error(str(error))
    earlier, problems = read_legible(folder)
    table += earlier
    state = CampaignState(folder / name, table)
    if state.damage:
        problems.append(f"{state.damage}; the campaign begins anew")
    for problem in problems:
        complain_line(f"{prog}: {problem}")
    try:
        submit, finish, close = _submit(options, started + options.time)
    except (OSError, ValueError) as error:
        parser.error(f"--dask {options.dask}: {error}")
    try:
        left = max(0.0, started + options.time - time.monotonic())
        new = campaign(state, submit, options.seed, left, options.jobs, _Progress(left), finish)
    except KeyboardInterrupt:
        waiting = len(state.findings.keys() - state.kept)
        say(f"\n{_summary(state, [])}stopped; ")
        say_line(f"{waiting} findings have no file yet; run the same command to continue")
        raise
    finally:
        close()
    complain_line("")
    if not state.programs:
        complain_line(f"{prog}: no program was examined: a process took too long to start")
    _keep_all(state, options, folder, table, started + options.time)
    write_page_of(read_legible(folder)[0], folder)
    new = [finding for finding in new if finding.key in state.findings]
    if options.format == "json":
        _print_record(state, new, options, folder)
    else:
        say(_summary(state, new))
    return FOUND if state.findings else NOTHING


def _print_record(
    state: CampaignState, new: Sequence[Finding], options: argparse.Namespace, folder: Path
) -> None:
    """Print the result of the campaign as JSON."""
    paths = {entry.path for entry in state.table}
    print_record(
        oracle=options.oracle,
        seed=options.seed,
        programs=state.programs,
        folder=str(folder),
        findings=[
            {
                "key": finding.key,
                "kind": finding.kind,
                "sentence": finding.sentence,
                "rule": finding.rule,
                "seed": finding.seed,
                "times": state.seen[finding.key],
                "new": finding in new,
                "program": finding.text,
            }
            for finding in state.findings.values()
        ],
        known=[
            {"path": path, "times": state.seen[path]} for path in sorted(paths & state.seen.keys())
        ],
    )


def _refuse_what_is_missing(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if options.known is not None and not Path(options.known).is_dir():
        parser.error(f"--known {options.known}: no such directory")
    if options.against == "tvm" and not _importable("tvm"):
        parser.error("--against tvm needs TVM: install the extra `tvm`")
    if options.dask and not _importable("distributed"):
        parser.error("--dask needs Dask: install the extra `cluster`")
    if options.dask and not options.dask_unencrypted:
        from rlx.generate.campaign.cluster import ClearTextError, refuse_clear_text

        try:
            refuse_clear_text(options.dask)
        except ClearTextError as error:
            parser.error(f"--dask {options.dask}: {error}")
    if ":" in options.oracle:
        try:
            function_of(options.oracle)
        except OwnOracleError as error:
            parser.error(f"--oracle {options.oracle}: {error}")


def _keep_all(
    state: CampaignState,
    options: argparse.Namespace,
    folder: Path,
    table: list[FindingFile],
    deadline: float,
) -> None:
    """Reduce the findings that have no file yet, as long as there is time, and write one for
    each.
    """
    todo = [f for key, f in state.findings.items() if key not in state.kept]
    workers: list[Worker] = []
    rounds = -(-len(todo) // options.jobs)

    def smaller_one(finding: Finding) -> tuple[Finding, bool]:
        left = deadline - time.monotonic()
        share = min(SECONDS, left / max(1, rounds))
        if not options.reduce or share < 1.0:
            return finding, False
        patience = min(PATIENCE, share)
        worker = Worker(options.oracle, options.against, patience=patience, memory=options.memory)
        workers.append(worker)
        try:
            return reduce(finding, worker, share)
        finally:
            worker.close()

    def stop() -> None:
        for worker in workers:
            worker.stop()

    tell = say if options.format == "human" else complain
    in_time = threading.Timer(max(0.0, deadline - time.monotonic()), stop)
    in_time.start()
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            _write_all(state, folder, table, todo, pool.map(smaller_one, todo), tell)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            stop()
            raise
        finally:
            in_time.cancel()


def _write_all(
    state: CampaignState,
    folder: Path,
    table: list[FindingFile],
    todo: Sequence[Finding],
    smaller: Iterable[tuple[Finding, bool]],
    tell: Callable[[str], None],
) -> None:
    """Write the findings, each when it is as small as it gets."""
    for finding, (small, minimal) in zip(todo, smaller, strict=True):
        cause = explanation(small, table, minimal=minimal)
        if cause is None:
            state.kept.add(finding.key)
            entry = unused(draft(small), folder)
            table.append(entry)
            path = write_entry(entry, folder)
            said = f"{visible(str(path))}: {shorten(small.sentence, 200, placeholder=' …')}\n"
        else:
            state.settle(finding, cause)
            said = visible(f"{small.key}: same cause as {cause.path}") + "\n"
        state.save()
        tell(said)
        sys.stdout.flush()


def _folder(given: str | None, parser: argparse.ArgumentParser) -> Path:
    """The folder for findings; a default folder is kept out of version control, and is no link."""
    if given is not None:
        return make_folder(given)
    own, *_ = OUT.parts
    try:
        folder = make_folder(OUT, within=["."])
        ignore = Path(own, ".gitignore")
        if not ignore.exists():
            write(ignore, "*\n", within=["."])
    except OSError as error:
        parser.error(f"{words_of(error)}; name the folder with --out")
    return folder


def _submit(
    options: argparse.Namespace, deadline: float
) -> tuple[Callable[[int], Future[ChunkResult]], Callable[[], None], Callable[[], None]]:
    if options.dask:
        from rlx.generate.campaign.cluster import connect

        submit, close = connect(options.dask, options.oracle, options.against, options.memory)
        return submit, lambda: None, close
    one = options.oracle, options.against, options.jobs, options.memory
    workers = LocalWorkers(*one, deadline)
    return workers.submit, workers.finish, workers.close


class _Progress:
    """A line that says how far a campaign is."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.begun, self.last = seconds, -1, 0.0

    def __call__(self, state: CampaignState, elapsed: float) -> None:
        if self.begun < 0:
            self.begun = state.programs
        if elapsed - self.last < 1.0 and elapsed < self.seconds:
            return
        self.last = elapsed
        rate = (state.programs - self.begun) / max(elapsed, 0.001)
        text = (
            f"{elapsed:.0f} of {self.seconds:.0f} s: {state.programs} programs, {rate:.1f}/s,"
            f" {len(state.rules)} rules, {len(state.operators)} operators, {len(state.findings)}"
            " findings"
        )
        end = own(CARRIAGE_RETURN) if sys.stderr.isatty() else "\n"
        complain(f"{text:<78}{end}")
        sys.stderr.flush()


def _summary(state: CampaignState, new: Sequence[Finding]) -> str:
    """The number of times that each cause was met: new ones, and those that a known finding
    explains, by its path.
    """
    lines = [f"{state.programs} programs, {len(state.findings)} findings, {len(new)} of them new"]
    known = sorted(cause.path for cause in state.table if cause.path in state.seen)
    lines += [f"{state.seen[key]:>6}  {visible(key)}" for key in (*sorted(state.findings), *known)]
    return "\n".join(lines) + "\n"


def _importable(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


_UNITS = {"s": 1, "m": 60, "h": 3600, "": 1}


def _duration(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"expected a duration (90s, 10m, 2h), found {text!r}")
    return float(found[1]) * _UNITS[found[2]]


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = CommandParser(
        prog=prog,
        description="Generate random legal programs and check each one with an oracle.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add("--against", choices=("tvm",), default="", help="compare with TVM (default: use rlx alone)")
    add(
        "--oracle",
        choices=ORACLES,
        default="check",
        metavar="ORACLE",
        help=(
            "what to look for: check, derive, run, passes, roundtrip, refine, or my_module:function"
            " (default: check)"
        ),
    )
    add(
        "--time",
        type=_duration,
        default=600.0,
        metavar="10m",
        help="how long to search, and reduce what was found (default: 10m)",
    )
    add(
        "--jobs",
        type=positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="the number of processes (default: one for each core)",
    )
    add(
        "--seed",
        type=integer,
        default=int(time.time()) // 86_400,
        metavar="S",
        help="the seed of the first program (default: today's date)",
    )
    add(
        "--out",
        metavar="DIR",
        help=f"write findings to this folder (default: {OUT}, which git ignores)",
    )
    add(
        "--known",
        metavar="DIR",
        help=f"the folder of known findings (default: {KNOWN})",
    )
    add(
        "--no-reduce",
        dest="reduce",
        action="store_false",
        help="do not reduce the programs of findings",
    )
    add_memory(parser, " in one process")
    add_format(parser)
    add("--dask", metavar="ADDRESS", help="use the workers of a Dask scheduler")
    add(
        "--dask-unencrypted",
        action="store_true",
        help="allow a scheduler on another machine without encryption (not tls://)",
    )
    return parser
