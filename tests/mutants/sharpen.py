"""Pick inputs that notice mutants: `python -m tests.mutants.sharpen MODULE COUNT MUTANTS [SEED] [--room ROOM …]`.

The module is one for `tests.mutants.pick`: it has `pool(random)`, which makes an input, and `answers(text)`, what is said
of it. Of each mutant of the rooms, those of COUNT inputs (and of those that are picked already) that reach its block are
asked until one gets another answer; that one is added to `picked.txt`. The mutants that none notices are printed.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import gc
import hashlib
import importlib
import json
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from . import hook
from .blocks import PROBE, Probes, block_of
from .child import MEMORY, waited
from .draw import ROOMS, ROOT, Drawn, draw
from .patch import Functions, changed
from .pick import LONGEST

SECONDS = 0.5
"""An input that takes longer is not kept: the tests ask all of them."""

BUDGET = 4.0
"""Seconds of answers for a mutant; only one that survives takes them all."""

SURVIVED, NOT_FOUND, NOTICED = 0, 71, 100
"""How a mutant's process ends; any other status means that the mistake was noticed, too."""


class Input(NamedTuple):
    """A text, the digest of what is said of it, the seconds of that, and the blocks that it reaches."""

    text: str
    digest: str
    seconds: float
    blocks: list[str]


def digest(answer: str) -> str:
    """A short stand-in for an answer."""
    return hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()


def asked(module: ModuleType, texts: Iterator[str], reached: set[str]) -> Iterator[Input]:
    """The inputs with their answers; those that no test could keep are left out."""
    seen = set[str]()
    for text in texts:
        if not text or len(text) > LONGEST or text in seen:
            continue
        seen.add(text)
        reached.clear()
        started = time.process_time()
        try:
            answer = digest(module.answers(text))
        except Exception as error:  # noqa: BLE001 - a mistake of ours, to be shown
            print(f"{text[:300]}\n{error!r}", flush=True)
            continue
        seconds = time.process_time() - started
        if seconds <= SECONDS:
            yield Input(text, answer, round(seconds, 4), sorted(reached))


def kept(path: Path) -> list[str]:
    """The texts that are picked already."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def in_another_process(work: Callable[[], list[Input]], path: Path) -> list[Input]:
    """What a process finds that loads the code in its own way."""
    number = os.fork()
    if not number:
        status = 1
        try:
            path.write_text(json.dumps(work()), "utf-8")
            status = 0
        finally:
            if sys.exc_info()[0] is not None:
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(status)
    if os.waitpid(number, 0)[1]:
        raise SystemExit("the inputs cannot be made")
    return [Input(*each) for each in json.loads(path.read_text("utf-8"))]


def made(name: str, already: list[str], count: int, seed: str) -> list[Input]:
    """Inputs of the pool, with the blocks that they reach; first those that are kept."""
    reached = set[str]()
    setattr(builtins, PROBE, reached.add)
    hook.install(Probes(None))
    module = importlib.import_module(name)
    texts = (module.pool(random.Random(f"{seed}/{at}")) for at in range(count))
    return [*asked(module, iter([*already, *texts]), reached)]


def steady(name: str, inputs: list[Input]) -> list[Input]:
    """Those that get the same answer in another process, which asks them in another order."""
    module = importlib.import_module(name)
    again = {
        each.text: each for each in asked(module, iter([i.text for i in reversed(inputs)]), set())
    }
    return [
        each._replace(seconds=again[each.text].seconds)
        for each in inputs
        if each.text in again and again[each.text].digest == each.digest
    ]


class Round:
    """The search for inputs that notice mutants."""

    def __init__(
        self, name: str, already: list[str], inputs: list[Input], mutants: list[Drawn]
    ) -> None:
        self.inputs, self.mutants = inputs, mutants
        of_old = set(already)
        self.kept = {at for at, each in enumerate(inputs) if each.text in of_old}
        self.added: list[int] = []
        self.module = importlib.import_module(name)
        for file in {mutant.file for mutant in mutants if not mutant.file.endswith("__main__.py")}:
            parts = Path(file.removeprefix("rlx/")).with_suffix("").parts
            importlib.import_module(".".join(["rlx", *(p for p in parts if p != "__init__")]))
        self.functions = Functions()
        self.reaching: dict[str, list[int]] = {}
        for at, each in enumerate(inputs):
            for block in each.blocks:
                self.reaching.setdefault(block, []).append(at)
        # What is built once, such as the tables of the parser, is built here.
        self.module.answers(min((each.text for each in inputs), key=len))
        gc.freeze()

    def order(self, mutant: Drawn) -> list[int]:
        """The inputs for a mutant: those that are kept first, and of each kind the quick ones.

        What stands in a `lambda` outside of functions has no block: all inputs that reach the file are asked.
        """
        block = block_of(ast.parse((ROOT / mutant.file).read_text("utf-8")), mutant.line)
        if block is None:
            of_file = (
                at
                for name in self.reaching
                if name.startswith(f"{mutant.file}:")
                for at in self.reaching[name]
            )
            found = list(dict.fromkeys(of_file))
        else:
            found = self.reaching.get(f"{mutant.file}:{block}", [])
        chance = random.Random(mutant.diff)
        found = sorted(
            found, key=lambda at: (at not in self.kept, chance.random() * self.inputs[at].seconds)
        )
        left, some = BUDGET, []
        for at in found:
            left -= self.inputs[at].seconds
            if left > 0:
                some.append(at)
        return some

    def start(self, place: int, folder: Path) -> int:
        """A process for a mutant; its number."""
        number = os.fork()
        if number:
            return number
        os.setsid()
        status = NOTICED + 1
        try:
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            out = os.open(os.devnull, os.O_RDWR)
            for target in (0, 1, 2):
                os.dup2(out, target)
            status = self.judge(self.mutants[place], folder / str(place))
        finally:
            os._exit(status)

    def judge(self, mutant: Drawn, path: Path) -> int:
        """Ask with the mistake; write the input that noticed it."""
        old = hook.compiled((ROOT / mutant.file).read_text("utf-8"), Path(mutant.file))
        pairs = changed(old, hook.compiled(mutant.text, Path(mutant.file)))
        if pairs is None or not self.functions.patch(pairs):
            return NOT_FOUND
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        order = self.order(mutant)
        for at in order:
            path.write_text(str(at))
            signal.setitimer(signal.ITIMER_PROF, 2.0 + 20 * self.inputs[at].seconds)
            try:
                if digest(self.module.answers(self.inputs[at].text)) != self.inputs[at].digest:
                    return NOTICED
            except BaseException:  # noqa: BLE001 - that is noticed, too
                return NOTICED
        path.write_text(str(len(order)))
        return SURVIVED

    def run(self, at_once: int, folder: Path) -> None:
        """Judge all, add what notices, print what nothing notices."""
        counts = Counter[str]()
        started = ((at, self.start(at, folder)) for at in range(len(self.mutants)))
        for done, (place, status) in enumerate(waited(started, at_once), 1):
            mutant = self.mutants[place]
            note = folder / str(place)
            at = int(note.read_text()) if note.exists() else 0
            if status == NOT_FOUND:
                counts["outside of functions"] += 1
            elif status == SURVIVED:
                counts["survived" if at else "unreached"] += 1
                print(f"{mutant.file}:{mutant.line} {mutant.operator} survived {at} inputs")
                print(f"    {mutant.diff}", flush=True)
            elif at in self.kept:
                counts["noticed by what is kept"] += 1
            else:
                counts["noticed by another"] += 1
                self.kept.add(at)
                self.added.append(at)
            if done % 100 == 0 or done == len(self.mutants):
                print(f"{done} of {len(self.mutants)}: {dict(counts)}", flush=True)


def main() -> int:
    """Make, ask, change, ask again, write."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.sharpen", description=__doc__)
    parser.add_argument("module")
    parser.add_argument("count", type=int)
    parser.add_argument("mutants", type=int)
    parser.add_argument("seed", nargs="?", default="0")
    parser.add_argument("--room", action="append", help="a room, or a folder in one")
    parser.add_argument("--kept", type=Path, help="the file of the texts; picked.txt beside it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    folder = ROOT / "build" / "sharpen" / str(os.getpid())
    folder.mkdir(parents=True)
    name, seed = given.module, given.seed
    path = given.kept or Path(*name.split(".")).with_name("picked.txt")
    already = kept(path)
    inputs = in_another_process(lambda: made(name, already, given.count, seed), folder / "made")
    inputs = in_another_process(lambda: steady(name, inputs), folder / "steady")
    print(f"{len(inputs)} inputs, {sum(each.seconds for each in inputs):.0f} s", flush=True)
    drawn = draw(int.from_bytes(seed.encode()), tuple(given.room or ROOMS))
    search = Round(name, already, inputs, [*islice(drawn, given.mutants)])
    search.run(given.jobs, folder)
    with path.open("a", encoding="utf-8") as out:
        for at in search.added:
            out.write(f"{json.dumps(inputs[at].text, ensure_ascii=False)}\n")
    print(f"{len(search.added)} inputs more: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
