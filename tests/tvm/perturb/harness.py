"""Enumerates the perturbed calls and asks about them in processes of their own, because TVM may die of one."""

from __future__ import annotations

import json
import mmap
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import cache

from rlx.operators import lookup

from .bases import bases
from .calls import OneCall, ReadCall, write
from .changes import calls, changes
from .judge import Verdict, judge_killed
from .table import differences

MEMORY = 6 << 30
SECONDS = 30


@cache
def systematic(limit: int) -> tuple[OneCall, ...]:
    """Every call that differs in one place from one of so many legal calls of each operator."""
    found: dict[tuple[object, ...], OneCall] = {}
    for base in bases(limit):
        operator = lookup(f"relax.{base.operator}")
        names = () if operator is None else tuple(p.name for p in operator.parameters)
        for call in calls(base, names):
            found.setdefault((call.operator, call.args, call.attrs), call)
    return tuple(found.values())


def combined(seed: int, count: int, limit: int) -> Iterator[OneCall]:
    """Calls that differ in two or three places, drawn at random."""
    rng = random.Random(seed)
    legal = list(bases(limit))
    for _ in range(count):
        call = rng.choice(legal)
        for _ in range(rng.choice((2, 2, 3))):
            places = list(call.places())
            if not places:
                break
            at, old = rng.choice(places)
            options = list(changes(old))
            call = call.with_argument(at, *rng.choice(options))
        yield replace(call, label=call.label.strip())


def drawn(kind: str, seed: int, count: int, limit: int, only: str) -> list[OneCall]:
    """The calls of a run, the same in every process; of kind ``table``, those that the table names."""
    if kind == "table":
        texts = [difference.witness for difference in differences()]
        return [
            ReadCall(text.partition("|- R.")[2].partition("(")[0], (), text=text) for text in texts
        ]
    if kind == "random":
        found: Sequence[OneCall] = list(combined(seed, count, limit))
    else:
        found = systematic(limit)
        if count:
            found = random.Random(seed).sample(found, min(count, len(found)))
    return [call for call in found if not only or call.operator in only.split(",")]


def run(kind: str, seed: int, count: int, limit: int, only: str = "") -> Iterator[Verdict]:
    """Judge the calls of a run; one that kills the process, or takes too long, is a verdict."""
    options = [kind, str(seed), str(count), str(limit), only or "-"]
    command = [sys.executable, "-m", "tests.tvm.perturb.harness", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield Verdict(**json.loads(line))
    assert process.returncode == 0, "the judging process failed"


def _ended(call: OneCall, number: int) -> Verdict:
    """The verdict on a call that ended the process: TVM reads through null pointers, and our code cannot."""
    if number in (signal.SIGSEGV, signal.SIGABRT):
        return judge_killed(call, number)
    return Verdict("died", call.operator, call.label, write(call).expr, str(number), "")


def serve(arguments: Sequence[str]) -> None:
    """Judge the calls of a run, one line for each on standard output.

    A child does the work; where it dies, the next one goes on behind the call that killed it.
    """
    from .judge import judge
    from .peer import Peer

    kind, seed, count, limit, only = arguments
    asked = drawn(kind, int(seed), int(count), int(limit), "" if only == "-" else only)
    done = mmap.mmap(-1, 8)
    peer = Peer()
    start = 0
    while start < len(asked):
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            for number in range(start, len(asked)):
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                line = json.dumps(asdict(judge(peer, asked[number])))
                done[:] = (number + 1).to_bytes(8, "little")
                print(line, flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        start = int.from_bytes(done[:], "little")
        if status:
            verdict = _ended(asked[start], os.WTERMSIG(status))
            print(json.dumps(asdict(verdict)), flush=True)
            start += 1
            done[:] = start.to_bytes(8, "little")


if __name__ == "__main__":
    serve(sys.argv[1:])
