"""`rlx fuzz`: random programs before an oracle, findings into files."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from rlx.generate.campaign.campaign import campaign, local
from rlx.generate.campaign.draft import draft
from rlx.generate.campaign.entry import Entry, EntryError, read_entries, unused, write_entry
from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.index import write_page
from rlx.generate.campaign.known import explanation
from rlx.generate.campaign.state import ChunkResult, State

NOTHING, FOUND, UNABLE = 0, 1, 2

ORACLES = ("check", "derive", "run", "passes", "roundtrip")

EPILOG = """\
Oracles: check (legal programs are accepted), derive (types agree with the rules), run (values agree with the
rules), passes (every pass keeps legality and meaning), roundtrip (what is printed reads back).
A campaign goes on where an earlier one with the same --out, --seed and oracle stopped. What it finds is new if no finding
below --known or --out explains it: each new cause becomes one file, KIND/STAGE-WHAT.rlx.

exit status: 0 nothing new was found; 1 new findings; 2 wrong usage."""


def main(argv: Sequence[str], prog: str = "rlx fuzz") -> int:
    """Run the command.

    Returns
    -------
    int
        The exit status.
    """
    parser = _parser(prog)
    options = parser.parse_args(argv)
    if options.against == "tvm" and not _importable("tvm"):
        parser.error("--against tvm needs TVM: install the extra `tvm`")
    if options.dask and not _importable("distributed"):
        parser.error("--dask needs Dask: install the extra `cluster`")
    folder = Path(options.out)
    name = f"campaign-{options.oracle}-{options.against or 'alone'}-{options.seed}.json"
    try:
        table = [
            entry for place in {options.known, options.out} for entry in read_entries(Path(place))
        ]
    except EntryError as error:
        parser.error(str(error))
    state = State(folder / name, table)
    try:
        submit, close = _submit(options)
    except (OSError, ValueError) as error:
        parser.error(f"--dask {options.dask}: {error}")
    try:
        new = campaign(
            state, submit, options.seed, options.time, options.jobs, _Progress(options.time)
        )
    except KeyboardInterrupt:
        waiting = len(state.findings.keys() - state.kept)
        sys.stdout.write(f"\n{_summary(state, [])}stopped; ")
        sys.stdout.write(f"{waiting} findings have no file yet: the same command goes on here\n")
        raise
    finally:
        close()
    sys.stderr.write("\n")
    with ThreadPoolExecutor(options.jobs) as pool:
        todo = [f for key, f in state.findings.items() if key not in state.kept]
        smaller = pool.map(lambda finding: _reduced(finding, options), todo)
        for finding, small in zip(todo, smaller, strict=True):
            state.kept.add(finding.key)
            state.save()
            sys.stdout.write(_keep(small, folder, table))
            sys.stdout.flush()
    write_page(folder)
    sys.stdout.write(_summary(state, new))
    return FOUND if state.findings else NOTHING


def _reduced(finding: Finding, options: argparse.Namespace) -> Finding:
    from rlx.generate.campaign.processes import Worker
    from rlx.generate.campaign.reduction import reduce

    if not options.reduce:
        return finding
    worker = Worker(options.oracle, options.against)
    try:
        return reduce(finding, worker)
    finally:
        worker.close()


def _keep(finding: Finding, folder: Path, table: list[Entry]) -> str:
    """Write a finding, unless a known one turns out to be its cause; a line that says so."""
    cause = explanation(finding, table)
    if cause is not None:
        return f"{finding.key}: has the cause of {cause.path}\n"
    entry = unused(draft(finding), folder)
    table.append(entry)
    path = write_entry(entry, folder)
    return f"{path}: {finding.sentence[:200]}\n"


def _submit(
    options: argparse.Namespace,
) -> tuple[Callable[[int], Future[ChunkResult]], Callable[[], None]]:
    if options.dask:
        from rlx.generate.campaign.cluster import connect

        return connect(options.dask, options.oracle, options.against)
    pool, run = local(options.oracle, options.against, options.jobs)
    return lambda first: pool.submit(run, first), lambda: pool.shutdown(cancel_futures=True)


class _Progress:
    """A line that says how far a campaign is."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.begun, self.last = seconds, -1, 0.0

    def __call__(self, state: State, elapsed: float) -> None:
        if self.begun < 0:
            self.begun = state.programs
        if elapsed - self.last < 1.0 and elapsed < self.seconds:
            return
        self.last = elapsed
        rate = (state.programs - self.begun) / max(elapsed, 0.001)
        text = (
            f"{elapsed:.0f} of {self.seconds:.0f} s: {state.programs} programs, {rate:.1f}/s, "
            f"{len(state.rules)} rules, {len(state.operators)} operators, {len(state.findings)} findings"
        )
        end = "\r" if sys.stderr.isatty() else "\n"
        sys.stderr.write(f"{text:<78}{end}")
        sys.stderr.flush()


def _summary(state: State, new: Sequence[Finding]) -> str:
    """How often each cause was met: those that are new, and those that a known finding explains, by its path."""
    lines = [f"{state.programs} programs, {len(state.findings)} findings, {len(new)} of them new"]
    known = sorted(cause.path for cause in state.table if cause.path in state.seen)
    lines += [f"{state.seen[key]:>6}  {key}" for key in (*sorted(state.findings), *known)]
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


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a positive number, found {text!r}")
    return int(text)


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Make random legal programs and put them before an oracle.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--against", choices=("tvm",), default="", help="compare with TVM (default: rlx alone)")
    add("--oracle", choices=ORACLES, default="check", help="what to look for (default: check)")
    add("--time", type=_duration, default=600.0, metavar="10m", help="for how long (default: 10m)")
    add("--jobs", type=_count, default=os.cpu_count() or 1, metavar="N", help="how many processes")
    add("--seed", type=int, default=int(time.time()) // 86_400, metavar="S", help="which programs")
    add("--out", default="fuzz", metavar="DIR", help="where findings go (default: fuzz)")
    add(
        "--known",
        default="findings",
        metavar="DIR",
        help="findings that are known (default: findings)",
    )
    add("--no-reduce", dest="reduce", action="store_false", help="keep programs as they are")
    add("--dask", metavar="ADDRESS", help="use the workers of a Dask scheduler")
    return parser
